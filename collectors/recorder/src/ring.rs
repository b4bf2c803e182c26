//! The shared memory that the recorder lends to the program.
//!
//! Nothing in it is trusted: the program may write anything to it at any time, by mistake or on purpose. So
//! - no code outside of this folder sees a reference to shared memory. A word is an atomic that is read once, into
//!   the recorder's own memory ([`BufferWords`], [`SlotWords`], moved bytes), where it is checked and used;
//! - sizes, offsets and limits come from the [`Layout`], never from the header, which is for the program;
//! - what the recorder has decided (which buffers it has taken, that recording has stopped) it keeps in its own memory,
//!   and only tells the ring;
//! - no word holds a pointer, and indices from the ring are compared with the layout's counts before their use.
//!
//! Whatever the program writes there can only spoil its own recording, which is noticed (`damage`) and noted in the trace.

mod holders;
mod layout;
mod marks;
mod memory;
mod session;
mod words;

use std::ffi::OsString;
use std::io;
use std::mem::offset_of;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Duration;

use rustix::thread::futex;

use crate::abi::{self, Buffer, FreeSide, FullSide, Ids, Life, RingHeader, Stop, StreamSlot};
use crate::options::{RecordOptions, WhenFull};
use crate::RecordError;
use layout::Layout;
use memory::Memory;

pub use holders::RegionHolder;
pub use marks::{Cause, MarkWords};
pub use words::{BufferWords, SlotWords};

/// The recorder sleeps until one in so many of the buffers that may wait for it are full.
const WAKE_PART: u32 = 4;
/// Words of the header that never change.
const CONSTANT_WORDS: usize = offset_of!(RingHeader, life) / 8;

pub struct Ring {
    memory: Memory,
    layout: Layout,
    /// The constant words of the header, as the recorder wrote them.
    constants: [u64; CONSTANT_WORDS],
    /// Buffers that the recorder has taken and not freed, whatever the ring says.
    taken: Box<[AtomicBool]>,
    stopped: AtomicBool,
    /// The count of full buffers was wrong and has been put right.
    count_was_wrong: AtomicBool,
    session: Session,
}

/// What recorders that came before did with the ring. All 0 if it is this recorder's own.
#[derive(Clone, Copy, Debug, Default)]
struct Session {
    number: u32,
    windows_before: u32,
    marks_before: u32,
}

impl Ring {
    pub fn create(options: &RecordOptions) -> Result<Self, RecordError> {
        let layout = Layout::within(options, memory::most_bytes());
        let memory = Memory::create(layout).map_err(|(step, source)| RecordError::Ring {
            size: layout.total_size,
            step,
            source,
        })?;
        let mut ring = Self::over(memory, layout);
        ring.ids().next_segment_id.store(1, Relaxed);
        ring.prepare_windows(options.windows.begins_open());
        if options.windows.has_regions_at_first() {
            ring.prepare_regions(&options.windows.globs());
        }
        ring.prepare_latencies(options);
        ring.constants = ring.write_header(&new_header(options, &layout));
        Ok(ring)
    }

    fn over(memory: Memory, layout: Layout) -> Self {
        Self {
            constants: [0; CONSTANT_WORDS],
            taken: (0..layout.buffer_count).map(|_| AtomicBool::new(false)).collect(),
            stopped: AtomicBool::new(false),
            count_was_wrong: AtomicBool::new(false),
            session: Session::default(),
            memory,
            layout,
        }
    }

    fn prepare_latencies(&self, options: &RecordOptions) {
        let slow = options.flight.and_then(|flight| flight.slower_than);
        let slow_us = slow.map_or(0, |limit| limit.as_micros().clamp(1, u32::MAX.into()) as u32);
        self.stop_side().slow_us.store(slow_us, Relaxed);
    }

    fn write_header(&self, header: &RingHeader) -> [u64; CONSTANT_WORDS] {
        // SAFETY: the header is larger, aligned to 64 bytes, and consists of integers without padding up to `life`.
        let words: [u64; CONSTANT_WORDS] = unsafe {
            std::ptr::from_ref(header)
                .cast::<[u64; CONSTANT_WORDS]>()
                .read_unaligned()
        };
        for (shared, word) in self.constants_shared().iter().zip(words) {
            shared.store(word, Relaxed);
        }
        words
    }

    pub fn descriptor(&self) -> RawFd {
        self.memory.raw_descriptor()
    }

    /// Value of TRACKWAY_RING.
    pub fn name(&self) -> io::Result<OsString> {
        let file = rustix::fs::fstat(self.memory.descriptor())?;
        let recorder = std::process::id();
        Ok(format!("{}:{}:{}:{recorder}", self.descriptor(), file.st_dev, file.st_ino).into())
    }

    /// Whether a process still has this memory, and so executes the program that took it. True if that can't be seen.
    pub fn is_mapped_in(&self, pid: u32) -> bool {
        let file = rustix::fs::fstat(self.memory.descriptor());
        let (Ok(file), Ok(maps)) = (file, std::fs::read(format!("/proc/{pid}/maps"))) else {
            return true;
        };
        let inode = file.st_ino.to_string();
        let maps = String::from_utf8_lossy(&maps);
        let is_it = |line: &str| line.contains(" /memfd:") && line.split_whitespace().nth(4) == Some(&inode);
        // A process whose first thread has ended shows nothing.
        maps.is_empty() || maps.lines().any(is_it)
    }

    pub fn buffer_size(&self) -> usize {
        self.layout.buffer_size as usize
    }

    fn part<T: memory::Shared>(&self, offset: usize) -> &T {
        &self.memory.control(offset as u64, 1)[0]
    }

    fn constants_shared(&self) -> &[AtomicU64] {
        self.memory.control(0, CONSTANT_WORDS)
    }

    fn ids(&self) -> &Ids {
        self.part(offset_of!(RingHeader, ids))
    }

    fn full_side(&self) -> &FullSide {
        self.part(offset_of!(RingHeader, full))
    }

    fn free_side(&self) -> &FreeSide {
        self.part(offset_of!(RingHeader, free))
    }

    fn stop_side(&self) -> &Stop {
        self.part(offset_of!(RingHeader, stop))
    }

    /// For the recorder's sign of life, which only the kernel reads.
    pub fn recorder_thread(&self) -> &AtomicU32 {
        &self.part::<Life>(offset_of!(RingHeader, life)).recorder_thread
    }

    fn buffer(&self, index: usize) -> &Buffer {
        let (offset, count) = (self.layout.buffer_table_offset, self.layout.buffer_count as usize);
        &self.memory.control(offset, count)[index]
    }

    /// How many buffers were ever taken by the program, as far as it says.
    pub fn used(&self) -> usize {
        let used = self.full_side().buffers_used.load(Acquire);
        used.min(self.layout.buffer_count) as usize
    }

    /// The description of a buffer, each word read once.
    pub fn words(&self, index: usize) -> BufferWords {
        BufferWords::read(self.buffer(index))
    }

    /// All buffers that were ever taken.
    pub fn every_words(&self) -> impl Iterator<Item = (usize, BufferWords)> + '_ {
        (0..self.used()).map(|index| (index, self.words(index)))
    }

    /// All buffers that were taken for this recorder.
    pub fn all_words(&self) -> impl Iterator<Item = (usize, BufferWords)> + '_ {
        self.every_words().filter(|(_, words)| self.is_ours(words))
    }

    /// The buffers that wait for the recorder.
    pub fn full_words(&self) -> impl Iterator<Item = (usize, BufferWords)> + '_ {
        (0..self.used())
            .filter(|&index| {
                self.buffer(index).state.load(Acquire) == abi::FULL && !self.taken[index].load(Relaxed)
            })
            .map(|index| (index, self.words(index)))
            .filter(|(_, words)| self.is_ours(words))
    }

    /// The slots of the streams that have begun, from one of them on, each word read once.
    pub fn slots(&self, first: usize) -> impl Iterator<Item = SlotWords> + '_ {
        let begun = self.ids().next_stream.load(Acquire).min(self.layout.stream_count) as usize;
        let slots: &[StreamSlot] = self.memory.control(self.layout.stream_table_offset, begun);
        slots.iter().skip(first).map(SlotWords::read)
    }

    /// An address in the stack on which each of the first streams began, or 0.
    fn stacks(&self, count: usize) -> &[AtomicU64] {
        self.memory.control(self.layout.stack_offset, count)
    }

    /// An address in the stack on which a stream began, if that is known.
    pub fn stack_of(&self, stream: usize) -> Option<u64> {
        let all = self.stacks(self.layout.stream_count as usize);
        Some(all.get(stream)?.load(Relaxed)).filter(|address| *address != 0)
    }

    /// Whether processes were forked that have not begun a stream yet.
    pub fn expects_forks(&self) -> bool {
        self.ids().pending_forks.load(Acquire) != 0
    }

    /// Whether calls of allocators come with their call stacks.
    pub fn records_stacks(&self) -> bool {
        self.layout.stack_frames > 0
    }

    pub fn has_waiters(&self) -> bool {
        self.free_side().free_waiters.load(Relaxed) != 0
    }

    /// How long the program's threads waited for free buffers in all, as far as they say.
    pub fn waiting_time(&self) -> Duration {
        Duration::from_nanos(self.free_side().waited_ns.load(Relaxed))
    }

    /// How often buffers were handed over, for `wait_for_full`.
    pub fn full_events(&self) -> u32 {
        self.full_side().full_events.load(SeqCst)
    }

    /// Buffers that are full and not freed yet, and how many may be.
    pub fn full_buffers(&self) -> (u32, u32) {
        (self.full_side().full_count.load(Relaxed), self.layout.full_limit)
    }

    /// Makes a full buffer the recorder's. False if it is already.
    pub fn take(&self, index: usize) -> bool {
        let is_new = !self.taken[index].swap(true, AcqRel);
        self.buffer(index).state.store(abi::TAKEN, Relaxed);
        is_new
    }

    /// Moves the first bytes of a taken buffer out and gives it back to the program. The protocol forbids writes to a
    /// buffer that was handed over; what a program writes there nevertheless is lost or torn.
    pub fn move_out(&self, index: usize, length: usize, bytes: &mut Vec<u8>) {
        let length = length.min(self.buffer_size());
        match self.memory.buffer(index as u32) {
            Some(shared) => {
                words::move_out(shared, length, bytes);
                self.clear_unread(shared, length);
            }
            None => {
                bytes.clear();
                bytes.resize(length, 0);
            }
        }
        self.give_back(index);
    }

    /// The same, as a vector of its own.
    pub fn moved_out(&self, index: usize, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.move_out(index, length, &mut bytes);
        bytes
    }

    /// Zeroes what may have been written past the first bytes of a buffer.
    fn clear_unread(&self, shared: &[AtomicU64], length: usize) {
        words::clear(shared, length, abi::SLACK);
        words::clear(shared, self.size_for_records(), abi::CELL_BYTES);
    }

    /// Bytes of a buffer of records that are for records.
    pub fn size_for_records(&self) -> usize {
        self.buffer_size().saturating_sub(abi::CELL_BYTES)
    }

    /// The first `size` bytes of a taken buffer, up to their last one that is not 0.
    pub fn moved_out_written(&self, index: usize, size: usize) -> Vec<u8> {
        let mut bytes = self.moved_out(index, size);
        bytes.truncate(words::written(&bytes));
        bytes
    }

    /// Gives a taken buffer back without reading its bytes; so many of them were used.
    pub fn discard(&self, index: usize, length: usize) {
        if let Some(shared) = self.memory.buffer(index as u32) {
            words::clear(shared, 0, length);
            self.clear_unread(shared, length);
        }
        self.give_back(index);
    }

    fn give_back(&self, index: usize) {
        let buffer = self.buffer(index);
        buffer.pid.store(0, Relaxed);
        self.taken[index].store(false, Relaxed);
        buffer.state.store(abi::FREE, Release);
        let full = self.full_side().full_count.fetch_sub(1, SeqCst).wrapping_sub(1);
        self.free_side().free_events.fetch_add(1, SeqCst);
        // A thread that was woken for each buffer would soon wait again.
        let limit = self.layout.full_limit;
        let has_room = full <= limit - limit / WAKE_PART;
        if has_room && self.free_side().free_waiters.load(SeqCst) != 0 {
            wake_all(&self.free_side().free_events);
        }
    }

    /// Hands over an owned or claimed buffer for a thread that is gone. False if it is neither any more.
    pub fn claim(&self, index: usize) -> bool {
        let buffer = self.buffer(index);
        let claim = |state| match state {
            abi::OWNED | abi::CLAIMED => Some(abi::CLAIMED),
            _ => None,
        };
        if self.taken[index].load(Relaxed) || buffer.state.fetch_update(AcqRel, Acquire, claim).is_err() {
            return false;
        }
        let session = u32::MAX << abi::SESSION_SHIFT;
        let kept = buffer.flags.load(Relaxed) & (abi::FLAG_MONOTONIC | abi::FLAG_ENDING | session);
        buffer.flags.store(kept | abi::FLAG_ABANDONED, Relaxed);
        self.full_side().full_count.fetch_add(1, Relaxed);
        buffer.state.store(abi::FULL, Release);
        true
    }

    /// Waits until `poke` is called or several buffers are handed over after `seen` was read, at most for `timeout`.
    /// Waking us for each buffer would cost the program microseconds.
    pub fn wait_for_full(&self, seen: u32, timeout: Duration) {
        let side = self.full_side();
        let timeout = futex::Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let some = (self.layout.full_limit / WAKE_PART).max(1);
        side.wake_at.store(seen.wrapping_add(some).max(1), SeqCst);
        // Whatever ends the wait, the caller looks for itself.
        let _ = futex::wait(&side.full_events, futex::Flags::empty(), seen, Some(&timeout));
        side.wake_at.store(0, Relaxed);
    }

    /// Ends the recorder's wait.
    pub fn poke(&self) {
        self.full_side().full_events.fetch_add(1, SeqCst);
        wake_all(&self.full_side().full_events);
    }

    /// From now on the program's threads write to private memory and wait for nothing.
    pub fn stop(&self) {
        self.stopped.store(true, SeqCst);
        self.stop_side().stopped.store(1, SeqCst);
        wake_all(&self.free_side().free_events);
    }

    /// The number of full buffers that the ring states, and the true number.
    pub fn counts_of_full(&self) -> (u32, u32) {
        let stated = self.full_side().full_count.load(Relaxed);
        let is_full = |index: &usize| {
            self.taken[*index].load(Relaxed) || self.buffer(*index).state.load(Acquire) == abi::FULL
        };
        (stated, (0..self.used()).filter(is_full).count() as u32)
    }

    /// Lets a program go on that waits for ever, since the count of full buffers was overwritten.
    pub fn correct_full_count(&self, stated: u32, counted: u32) {
        let count = &self.full_side().full_count;
        if count.compare_exchange(stated, counted, Relaxed, Relaxed).is_ok() {
            self.count_was_wrong.store(true, Relaxed);
            self.free_side().free_events.fetch_add(1, SeqCst);
            wake_all(&self.free_side().free_events);
        }
    }

    /// Whether the program has overwritten words that are the recorder's, or impossible values stand in its own.
    pub fn is_damaged(&self) -> bool {
        let constants = self.constants_shared().iter().map(|word| word.load(Relaxed));
        !constants.eq(self.constants)
            || self.count_was_wrong.load(Relaxed)
            || self.full_side().buffers_used.load(Relaxed) > self.layout.buffer_count
            || (self.stop_side().stopped.load(Relaxed) != 0) != self.stopped.load(Relaxed)
    }

    #[cfg(test)]
    pub fn put(&self, index: usize, change: impl FnOnce(&Buffer), bytes: &[u8]) {
        self.full_side().buffers_used.fetch_max(index as u32 + 1, Relaxed);
        change(self.buffer(index));
        let shared = self.memory.buffer(index as u32).unwrap();
        for (word, bytes) in shared.iter().zip(bytes.chunks_exact(8)) {
            word.store(u64::from_ne_bytes(bytes.try_into().unwrap()), Relaxed);
        }
    }

    #[cfg(test)]
    pub fn scribble(&self, word: usize, value: u64) {
        self.constants_shared()[word].store(value, Relaxed);
    }
}

fn wake_all(word: &AtomicU32) {
    // This fails only for an unmapped address.
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

fn flags(options: &RecordOptions) -> u32 {
    let flags = [
        (options.when_full == WhenFull::Drop, abi::DROP_WHEN_FULL),
        (options.dump_oracle, abi::DUMP_ORACLE),
        (options.flight.is_some(), abi::KEEPS_NEWEST),
        (options.windows.has_any(), abi::HAS_WINDOWS),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    set.fold(0, |all, (_, flag)| all | flag)
}

fn new_header(options: &RecordOptions, layout: &Layout) -> RingHeader {
    // SAFETY: the header consists of integers and atomic integers, for all of which 0 is valid.
    let mut header: RingHeader = unsafe { std::mem::zeroed() };
    header.magic = abi::RING_MAGIC;
    header.abi = abi::ABI;
    header.flags = flags(options);
    header.total_size = layout.total_size;
    header.buffer_size = layout.buffer_size;
    header.buffer_count = layout.buffer_count;
    header.buffer_table_offset = layout.buffer_table_offset;
    header.stream_table_offset = layout.stream_table_offset;
    header.data_offset = layout.data_offset;
    header.stream_count = layout.stream_count;
    header.full_limit = layout.full_limit;
    header.count_every = options.count_every;
    header.count_cost = options.count_cost_millionths;
    header.stack_frames = layout.stack_frames;
    for (place, event) in header.hardware.iter_mut().zip(&options.hardware) {
        *place = event.for_ring();
        header.hardware_count += 1;
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Output;

    fn ring() -> Ring {
        Ring::create(&RecordOptions::new("p", Output::Discard)).unwrap()
    }

    fn fill(ring: &Ring, index: usize) {
        let full = |buffer: &Buffer| buffer.state.store(abi::FULL, Relaxed);
        ring.put(index, full, &[7; 64]);
    }

    #[test]
    fn a_buffer_is_taken_once_whatever_the_program_says() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        fill(&ring, 3);
        assert_eq!(ring.full_words().count(), 1);
        assert!(ring.take(3));
        fill(&ring, 3);
        assert_eq!(ring.full_words().count(), 0);
        assert!(!ring.take(3) && !ring.claim(3));
        assert_eq!(ring.moved_out(3, 64), [7; 64]);
        assert_eq!(ring.words(3).state, abi::FREE);
        assert!(ring.take(3));
        assert_eq!(ring.moved_out_written(3, ring.buffer_size()), [0; 0]); // the first time cleared it
    }

    #[test]
    fn counts_and_lengths_beyond_the_ring_are_cut() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        fill(&ring, 0);
        ring.full_side().buffers_used.store(u32::MAX, Relaxed);
        ring.ids().next_stream.store(u32::MAX, Relaxed);
        assert_eq!(ring.used(), ring.layout.buffer_count as usize);
        assert_eq!(ring.slots(0).count(), ring.layout.stream_count as usize);
        assert_eq!(ring.slots(usize::MAX).count(), 0);
        assert!(ring.take(0));
        assert_eq!(ring.moved_out(0, usize::MAX).len(), ring.buffer_size());
        assert!(ring.is_damaged());
    }

    #[test]
    fn overwritten_constants_are_noticed() {
        let _turn = crate::watching::take_turn();
        for word in 0..CONSTANT_WORDS {
            let ring = ring();
            assert!(!ring.is_damaged());
            ring.scribble(word, u64::MAX);
            assert!(ring.is_damaged(), "{word}");
        }
        let ring = ring();
        ring.stop_side().stopped.store(1, Relaxed);
        assert!(ring.is_damaged());
        ring.stop();
        assert!(!ring.is_damaged());
    }

    #[test]
    fn a_wrong_count_of_full_buffers_is_put_right() {
        let _turn = crate::watching::take_turn();
        let ring = ring();
        fill(&ring, 0);
        ring.full_side().full_count.store(u32::MAX, Relaxed);
        assert_eq!(ring.counts_of_full(), (u32::MAX, 1));
        ring.correct_full_count(5, 1); // it has changed meanwhile
        assert_eq!(ring.counts_of_full(), (u32::MAX, 1));
        ring.correct_full_count(u32::MAX, 1);
        assert_eq!(ring.counts_of_full(), (1, 1));
        assert!(ring.is_damaged());
    }
}
