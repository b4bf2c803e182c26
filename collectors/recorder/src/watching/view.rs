//! The ring as others see it.

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{fence, AtomicU64};

use memmap2::{MmapOptions, MmapRaw};
use trackway_trace::{Clock, NodeCounts, NODE_HEAD_LENGTH};

use crate::abi::{self, Buffer, Counts, RingHeader};
use crate::clock::{self, RecordingClock};

/// Words of a node's head.
const HEAD_WORDS: usize = NODE_HEAD_LENGTH / size_of::<u64>();
/// The words of the head that change while a thread counts.
const CHANGING: std::ops::Range<usize> = offset_of!(Counts, entries) / 8..offset_of!(Counts, name) / 8;
/// How often a head is read if it changes meanwhile. Otherwise an entry that ends might count both as open and as left.
const READINGS: usize = 4;

/// Why a ring can't be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("cannot map the ring: {0}")]
    Map(#[from] io::Error),
    #[error("this is no ring of a recorder")]
    NoRing,
    #[error("the recorder is of another version of Trackway (ABI {0}, where this one has {abi}); use its own", abi = abi::ABI)]
    OtherAbi(u32),
    #[error("the ring's header is damaged")]
    Damaged,
}

/// A ring that is read while others write to it.
pub struct RingView {
    memory: MmapRaw,
    buffer_count: u32,
    buffer_size: usize,
    buffer_table_offset: usize,
    data_offset: usize,
}

/// A thread in a region, as it is counting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunningNode {
    pub stream: u32,
    pub pid: u32,
    /// The parent's pid if the process was forked, else 0.
    pub parent_pid: u32,
    /// When the thread took the node, as its chunk will say; nanoseconds of CLOCK_MONOTONIC.
    pub first_ns: u64,
    /// When it was read.
    pub seen_ns: u64,
    /// The counts, as far as they were asked for.
    pub counts: NodeCounts,
}

/// What tells a buffer from itself after it has changed hands.
#[derive(PartialEq, Eq)]
struct Tenant {
    pid: u32,
    image: u32,
    stream: u32,
    sequence: u64,
    first_ticks: u64,
}

impl RingView {
    /// Maps a ring. Nothing is ever written to it.
    pub fn map(ring: &impl AsRawFd) -> Result<Self, ViewError> {
        let memory = MmapOptions::new().map_raw_read_only(ring)?;
        if memory.len() < size_of::<RingHeader>() {
            return Err(ViewError::NoRing);
        }
        // SAFETY: the mapping is page-aligned and large enough; these fields nobody changes but by mistake, and they
        // are read once.
        let header = unsafe { &*memory.as_ptr().cast::<RingHeader>() };
        if header.magic != abi::RING_MAGIC {
            return Err(ViewError::NoRing);
        }
        if header.abi != abi::ABI {
            return Err(ViewError::OtherAbi(header.abi));
        }
        let (count, size) = (header.buffer_count, header.buffer_size as usize);
        let (table, data) = (header.buffer_table_offset as usize, header.data_offset as usize);
        let fits = |offset: usize, each: usize| {
            let length = (count as usize).checked_mul(each);
            let end = length.and_then(|length| length.checked_add(offset));
            offset.is_multiple_of(64) && end.is_some_and(|end| end <= memory.len())
        };
        if size < NODE_HEAD_LENGTH
            || !size.is_multiple_of(64)
            || !fits(table, size_of::<Buffer>())
            || !fits(data, size)
        {
            return Err(ViewError::Damaged);
        }
        Ok(Self {
            buffer_count: count,
            buffer_size: size,
            buffer_table_offset: table,
            data_offset: data,
            memory,
        })
    }

    /// Whether the program counts all entries of regions.
    pub fn counts_all(&self) -> bool {
        self.header().count_every <= 1 && self.header().count_cost == 0
    }

    fn header(&self) -> &RingHeader {
        // SAFETY: `map` saw to it that it lies within the mapping; what changes of it is atomic.
        unsafe { &*self.memory.as_ptr().cast() }
    }

    /// Goes over all nodes of running threads. Of those of an image so many counters are read as `counters` says.
    pub fn read(&self, clock: &Clock, counters: impl Fn(u32) -> usize, mut see: impl FnMut(&RunningNode)) {
        let mut node = RunningNode::default();
        for (index, buffer) in self.buffers().iter().enumerate() {
            if let Some(before) = tenant(buffer) {
                self.read_node(index, buffer, clock, &counters, &mut node);
                fence(Acquire);
                // Otherwise the buffer was handed over meanwhile, and what was read may be another thread's.
                if tenant(buffer).is_some_and(|after| after == before) && node.counts.image == before.image {
                    see(&node);
                }
            }
        }
    }

    fn read_node(
        &self,
        index: usize,
        buffer: &Buffer,
        clock: &Clock,
        counters: impl Fn(u32) -> usize,
        node: &mut RunningNode,
    ) {
        node.stream = buffer.stream.load(Relaxed);
        node.pid = buffer.pid.load(Relaxed);
        node.parent_pid = buffer.parent_pid.load(Relaxed);
        node.first_ns = match buffer.flags.load(Relaxed) & abi::FLAG_MONOTONIC {
            0 => clock.ns(buffer.first_ticks.load(Relaxed)),
            _ => buffer.first_ticks.load(Relaxed),
        };
        let words = self.words(index);
        let head = read_head(words);
        node.seen_ns = clock.ns(clock::ticks());
        let mut values = std::mem::take(&mut node.counts.counters);
        node.counts = NodeCounts::from_bytes(&head);
        let wanted = words.iter().skip(HEAD_WORDS).take(counters(node.counts.image));
        values.clear();
        values.extend(wanted.map(|counter| counter.load(Relaxed)));
        node.counts.counters = values;
    }

    /// The buffers that were ever taken.
    fn buffers(&self) -> &[Buffer] {
        let used = self.header().full.buffers_used.load(Acquire);
        let used = used.min(self.buffer_count);
        // SAFETY: `map` saw to it that the table lies within the mapping, aligned; it consists of atomics.
        unsafe {
            let table = self.memory.as_ptr().add(self.buffer_table_offset).cast();
            std::slice::from_raw_parts(table, used as usize)
        }
    }

    fn words(&self, index: usize) -> &[AtomicU64] {
        let offset = self.data_offset + index * self.buffer_size;
        // SAFETY: `map` saw to it that all buffers lie within the mapping, aligned.
        unsafe {
            let words = self.memory.as_ptr().add(offset).cast();
            std::slice::from_raw_parts(words, self.buffer_size / size_of::<u64>())
        }
    }
}

/// None if there is no node of a thread in it.
fn tenant(buffer: &Buffer) -> Option<Tenant> {
    let state = buffer.state.load(Acquire);
    let is_node = matches!(state, abi::OWNED | abi::CLAIMED | abi::FULL);
    let pid = buffer.pid.load(Acquire);
    (is_node && pid != 0 && buffer.kind.load(Relaxed) == abi::KIND_COUNTS).then(|| Tenant {
        pid,
        image: buffer.image.load(Relaxed),
        stream: buffer.stream.load(Relaxed),
        sequence: buffer.sequence.load(Relaxed),
        first_ticks: buffer.first_ticks.load(Relaxed),
    })
}

/// The head as it was at one moment, unless it changes all the time.
fn read_head(words: &[AtomicU64]) -> [u8; NODE_HEAD_LENGTH] {
    let read = || -> [u64; HEAD_WORDS] { std::array::from_fn(|word| words[word].load(Acquire)) };
    let mut head = read();
    for _ in 1..READINGS {
        let again = read();
        let is_same = head[CHANGING] == again[CHANGING];
        head = again;
        if is_same {
            break;
        }
    }
    let mut bytes = [0; NODE_HEAD_LENGTH];
    for (bytes, word) in bytes.chunks_exact_mut(size_of::<u64>()).zip(head) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The present moment by the clock of a recording, nanoseconds.
pub fn now_ns(clock: &Clock) -> u64 {
    clock.ns(clock::ticks())
}

/// The clock of programs that are recorded here, for where no trace describes it. Takes a millisecond.
pub fn measure_clock() -> Clock {
    let clock: RecordingClock = clock::Calibration::begin().finish();
    clock.description().clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Output, RecordOptions};
    use crate::ring::Ring;

    fn ring() -> Ring {
        Ring::create(&RecordOptions::new("p", Output::Discard)).unwrap()
    }

    /// Puts a node into a buffer as a thread does.
    fn take(ring: &Ring, index: usize, kind: u32, counts: &NodeCounts) {
        let describe = |buffer: &Buffer| {
            buffer.state.store(abi::OWNED, Relaxed);
            buffer.kind.store(kind, Relaxed);
            buffer.stream.store(7, Relaxed);
            buffer.image.store(counts.image, Relaxed);
            buffer.flags.store(abi::FLAG_MONOTONIC, Relaxed);
            buffer.first_ticks.store(5, Relaxed);
            buffer.pid.store(40, Relaxed);
        };
        ring.put(index, describe, &counts.to_bytes());
    }

    fn seen(ring: &Ring) -> Vec<RunningNode> {
        let view = RingView::map(&ring.descriptor()).unwrap();
        let mut nodes = Vec::new();
        view.read(&Clock::default(), |_| 2, |node| nodes.push(node.clone()));
        nodes
    }

    fn counts() -> NodeCounts {
        NodeCounts {
            node: 1,
            image: 3,
            entries: 10,
            name: "solve".into(),
            counters: vec![4, 5, 6],
            ..NodeCounts::default()
        }
    }

    #[test]
    fn nodes_are_seen_and_other_buffers_are_not() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        take(&ring, 0, abi::KIND_RECORDS, &counts());
        take(&ring, 1, abi::KIND_COUNTS, &counts());
        let nodes = seen(&ring);
        let [node] = &nodes[..] else {
            panic!("{nodes:?}");
        };
        assert_eq!((node.stream, node.pid, node.first_ns), (7, 40, 5));
        let expected = NodeCounts {
            counters: vec![4, 5],
            ..counts()
        };
        assert_eq!(node.counts, expected);
    }

    #[test]
    fn what_changes_hands_is_not_seen() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        take(&ring, 0, abi::KIND_COUNTS, &counts());
        ring.put(0, |buffer| buffer.image.store(4, Relaxed), &[]); // not described yet
        assert!(seen(&ring).is_empty());
        ring.put(0, |buffer| buffer.image.store(3, Relaxed), &[]);
        assert_eq!(seen(&ring).len(), 1);
        ring.put(0, |buffer| buffer.state.store(abi::TAKEN, Relaxed), &[]);
        assert!(seen(&ring).is_empty());
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let _turn = crate::watching::take_turn();
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        assert!(matches!(RingView::map(&file), Err(ViewError::NoRing)));
        let ring = ring();
        ring.scribble(1, u64::from(abi::ABI) + 1);
        assert!(matches!(
            RingView::map(&ring.descriptor()),
            Err(ViewError::OtherAbi(_))
        ));
    }
}
