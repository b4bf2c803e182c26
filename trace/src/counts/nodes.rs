//! What each thread counted.

use super::head::{NodeCounts, COUNTED_ENTRY, HARDWARE_EVENTS, INHERITED, NANOSECONDS, WHOLE_PROGRAM};
use crate::{ChunkRef, Clock, Trace, TraceError};

/// A stream of a thread that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingThread {
    /// Number of the stream in the trace.
    pub stream: u32,
    /// Number of the process in the trace.
    pub process: u32,
    /// Its nodes, in order.
    pub chunks: Vec<ChunkRef>,
}

/// A thread in a region of interest that it entered within another, or outside of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub stream: u32,
    pub process: u32,
    /// Number of the node in its stream; 0 is what is outside of regions.
    pub number: u32,
    /// Number of the node within which it was entered; 0 for node 0 itself.
    pub parent: u32,
    /// The kernel's id of the thread.
    pub thread: u32,
    /// Number of the image whose modules' counters it holds.
    pub image: u32,
    /// Name of the region; empty if the node belongs to no region.
    pub name: String,
    /// How often it was entered, except from within the same region.
    pub entries: u64,
    /// The node whose entries an inherited region was in.
    pub origin: Option<Origin>,
    /// Entries that the counters cover, including one that was not left.
    pub counted_entries: u64,
    /// Time within it in counted entries, nodes within it included, up to the end of the chunk if it was not left.
    pub counted_time_ns: u64,
    /// Entries that were timed without being counted.
    pub timed_entries: u64,
    /// The same time in those.
    pub timed_time_ns: u64,
    /// Entries around which the hardware events of [`crate::StartInfo::hardware_events`] were counted.
    pub measured_entries: u64,
    /// Entries that the measured ones represent.
    pub hardware_entries: u64,
    /// Sums of the hardware events.
    pub hardware: [u64; HARDWARE_EVENTS],
    /// Its number among the nodes of the same region and parent, among which counted entries were distributed.
    pub group: u8,
    /// It was not left.
    pub is_open: bool,
    /// It belongs to no region, and counted all the time.
    pub is_whole_program: bool,
    /// It was taken from a thread that could not hand it over: the end may be missing.
    pub is_tail: bool,
    /// Clock of the ticks in its counters.
    pub clock: Clock,
    /// Counters of the image, as far as they were stored; the others are 0.
    pub counters: Vec<u64>,
}

/// The node of the thread that entered a region which another thread inherits, as OpenMP's teams do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub stream: u32,
    pub node: u32,
}

impl CountingThread {
    pub(crate) fn new(stream: u32, process: u32) -> Self {
        CountingThread {
            stream,
            process,
            chunks: Vec::new(),
        }
    }
}

/// Where a node was counted, and when it was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodePlace {
    pub stream: u32,
    /// Number of the process in the trace.
    pub process: u32,
    /// CLOCK_MONOTONIC nanoseconds.
    pub last_ns: u64,
    pub is_tail: bool,
}

/// The chunks of a node so far.
struct Gathered {
    counts: NodeCounts,
    last: ChunkRef,
}

impl Trace {
    /// The nodes of a thread, in the order of their numbers, and what could not be read of them.
    pub fn read_nodes(&self, thread: &CountingThread) -> (Vec<Node>, Vec<TraceError>) {
        let mut gathered: Vec<Gathered> = Vec::new();
        let mut damage = Vec::new();
        let mut payload = Vec::new();
        for chunk in &thread.chunks {
            match self.read_payload(chunk, &mut payload) {
                Ok(()) => gather(&mut gathered, NodeCounts::from_bytes(&payload), *chunk),
                Err(error) => damage.push(error),
            }
        }
        let clock = self.clock();
        let nodes = gathered.into_iter().map(|gathered| gathered.into_node(&clock));
        (nodes.collect(), damage)
    }
}

/// Keeps the order of the nodes' numbers.
fn gather(nodes: &mut Vec<Gathered>, counts: NodeCounts, chunk: ChunkRef) {
    let key = |counts: &NodeCounts| (counts.node, counts.image);
    match nodes.binary_search_by_key(&key(&counts), |earlier| key(&earlier.counts)) {
        Ok(position) => {
            nodes[position].counts.add(counts);
            nodes[position].last = chunk;
        }
        Err(position) => nodes.insert(position, Gathered { counts, last: chunk }),
    }
}

impl Gathered {
    fn into_node(self, clock: &Clock) -> Node {
        let header = self.last.header;
        let place = NodePlace {
            stream: header.stream,
            process: header.process,
            last_ns: header.last_ns,
            is_tail: header.is_tail(),
        };
        Node::new(self.counts, &place, clock)
    }
}

fn origin(flags: u64) -> Option<Origin> {
    let origin = Origin {
        stream: (flags >> 32) as u32,
        node: (flags >> 16) as u16 as u32,
    };
    (flags & INHERITED != 0).then_some(origin)
}

impl Node {
    /// What a thread counted until then; an open entry lasts until then.
    pub fn new(counts: NodeCounts, place: &NodePlace, clock: &Clock) -> Node {
        let NodeCounts {
            node,
            parent,
            thread,
            image,
            entries,
            counted_entries,
            counted_ticks,
            timed_entries,
            timed_ticks,
            entered_ticks,
            flags,
            name,
            measured_entries,
            hardware_entries,
            hardware,
            counters,
        } = counts;
        let ticking = if flags & NANOSECONDS != 0 {
            &Clock::default()
        } else {
            clock
        };
        let open_ns = match entered_ticks {
            0 => 0,
            entered => place.last_ns.saturating_sub(ticking.ns(entered)),
        };
        let (open, is_counted) = (u64::from(entered_ticks != 0), flags & COUNTED_ENTRY != 0);
        let of = |entries: u64, ticks, is_open: bool| match is_open {
            true => (
                entries.saturating_add(open),
                ticking.duration_ns(ticks).saturating_add(open_ns),
            ),
            false => (entries, ticking.duration_ns(ticks)),
        };
        let (counted_entries, counted_time_ns) = of(counted_entries, counted_ticks, is_counted);
        let (timed_entries, timed_time_ns) = of(timed_entries, timed_ticks, !is_counted);
        Node {
            stream: place.stream,
            process: place.process,
            number: node,
            parent,
            thread,
            image,
            name,
            entries,
            origin: origin(flags),
            counted_entries,
            counted_time_ns,
            timed_entries,
            timed_time_ns,
            measured_entries,
            hardware_entries,
            hardware,
            group: (flags >> 8) as u8,
            is_open: entered_ticks != 0,
            is_whole_program: flags & WHOLE_PROGRAM != 0,
            is_tail: place.is_tail,
            clock: ticking.clone(),
            counters,
        }
    }
}
