//! A part of a trace, as if only that had been recorded: some times, some threads, the code of some functions.
//!
//! A trace that was opened with a [`Slice`] gives only what lies inside: its streams have only the chunks that hold
//! something of the slice, decoders cut their batches and runs at its borders, and the merged order has only what is
//! left. So analyses need not know of it.
//!
//! An analysis that follows blocks of memory also needs what lies outside: allocations, reallocations and releases from
//! the trace's start to the slice's end, of all threads. Without them an access to a block that was allocated before the
//! slice would be one to unknown memory. It asks for them ([`Decoder::from_start`](crate::Decoder::from_start),
//! [`MergedStreams::from_start`](crate::MergedStreams::from_start)) and gets them in their order, from chunks that
//! may hold nothing else of the slice ([`Stream::chunks_from_start`](crate::Stream::chunks_from_start)).
//! [`Batch::items_of_slice`](crate::Batch::items_of_slice) says which of them lie inside. Calls of allocators in streams
//! of their own (`docs/format.md`, section 9) are not cut either; [`Slice::keeps_call`] says which lie inside. Entries and
//! exits of functions and points of order are cut by time and thread only: stacks and order need them whichever function
//! accesses memory.
//!
//! Where time between two points isn't known, accesses are evenly spread over it, as in the merged order. In a trace of
//! windows they are spread over the time in which recording was on.

mod cut;
mod keep;
mod outside;
mod recorded_time;
mod regions;
mod span;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use cut::Borders;
pub(crate) use cut::ChunkCut;
pub(crate) use keep::{keep, ChunkPosition, Kept};
pub(crate) use outside::{event_bytes, Outside, OutsideEvents};
use recorded_time::RecordedTime;
use span::Span;

use crate::allocations::AllocationEvent;
use crate::merged::Point;
use crate::{AllocationSiteId, Batch, ChunkRef, Gap, Sample, Stream, Trace};

/// What of a trace is looked at. By default all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// From the first moment to the one before the last, CLOCK_MONOTONIC nanoseconds; none: all times.
    pub times: Option<Vec<Range<u64>>>,
    /// Numbers of streams and, of samples, the system's ids of threads; none: all threads.
    pub threads: Option<Vec<u32>>,
    /// Whether accesses of each site are inside; none: all sites.
    pub sites: Option<Vec<bool>>,
    /// Whether blocks of each allocation site are inside, for what counts blocks; none: all of them.
    pub allocation_sites: Option<Vec<bool>>,
    /// Only what threads did while they were in one of these regions, by the hashes of their names
    /// ([`region_hash`](crate::region_hash)); none: whatever regions they were in.
    pub regions: Option<Vec<u64>>,
}

const ALL_TIMES: Range<u64> = 0..u64::MAX;

impl Slice {
    /// The same with times and threads in order and without repetition.
    fn in_order(mut self) -> Slice {
        if let Some(threads) = &mut self.threads {
            threads.sort_unstable();
            threads.dedup();
        }
        if let Some(regions) = &mut self.regions {
            regions.sort_unstable();
        }
        self.times = self.times.map(joined);
        self
    }

    /// Whether a stream is inside or, of samples, a thread of the system.
    pub fn keeps_thread(&self, id: u32) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.binary_search(&id).is_ok())
    }

    fn keeps_time(&self, time_ns: u64) -> bool {
        let times = self.times.as_ref();
        times.is_none_or(|times| {
            let next = times.partition_point(|range| range.end <= time_ns);
            times.get(next).is_some_and(|range| range.start <= time_ns)
        })
    }

    fn keeps_sample(&self, sample: &Sample) -> bool {
        self.keeps_time(sample.time_ns) && self.keeps_thread(sample.tid)
    }

    /// Whether a call of an allocator is inside, by its time and the number of its stream.
    pub fn keeps_call(&self, event: &AllocationEvent) -> bool {
        self.keeps_time(event.time_ns) && self.keeps_thread(event.stream)
    }

    /// Whether blocks of the site are inside, as far as sites were chosen.
    pub fn keeps_allocation_site(&self, site: AllocationSiteId) -> bool {
        let sites = self.allocation_sites.as_ref();
        sites.is_none_or(|sites| sites.get(site.index()).copied().unwrap_or(false))
    }

    /// A gap at an unknown time may lie inside.
    fn keeps_gap(&self, gap: &Gap) -> bool {
        let span = Span {
            begin_ns: gap.first_ns,
            end_ns: gap.last_ns.max(gap.first_ns),
        };
        let times = self.times.as_ref().filter(|_| gap.first_ns > 0);
        let is_in_time = times.is_none_or(|times| times.iter().any(|range| span.touches(range)));
        is_in_time && self.keeps_thread(gap.stream)
    }

    /// The first moment after all of the slice.
    pub fn end_ns(&self) -> u64 {
        let times = self.times.as_ref();
        times.map_or(u64::MAX, |times| times.last().map_or(0, |range| range.end))
    }
}

/// Ranges in order, none of which is empty or touches another.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// A slice of an opened trace.
#[derive(Debug)]
pub(crate) struct Sliced {
    slice: Slice,
    recorded: RecordedTime,
    /// When the chunks of records were filled, by their offsets in the file.
    spans: HashMap<u64, Span>,
    /// The cuts of chunks through which a border goes; they are asked for by each pass.
    cuts: Mutex<HashMap<u64, Arc<ChunkCut>>>,
    /// What each pass asks for of the chunks outside.
    outside: OutsideEvents<Batch>,
    /// The same with when each event took place, for one order of all threads.
    outside_in_order: OutsideEvents<(Batch, VecDeque<Point>)>,
    /// Streams of records in the whole trace.
    stream_count: usize,
}

impl Sliced {
    pub fn outside(&self) -> &OutsideEvents<Batch> {
        &self.outside
    }

    pub fn outside_in_order(&self) -> &OutsideEvents<(Batch, VecDeque<Point>)> {
        &self.outside_in_order
    }

    /// Where the chunk is cut.
    pub fn cut(&self, trace: &Trace, chunk: &ChunkRef) -> Arc<ChunkCut> {
        let span = self.spans.get(&chunk.offset).copied();
        let span = span.unwrap_or_else(|| Span::of(chunk, 0));
        if let Some(cut) = self.simple_cut(chunk, span) {
            return Arc::new(cut);
        }
        let known = || self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&chunk.offset).cloned();
        found.unwrap_or_else(|| {
            let borders = Borders {
                times: self.slice.times.as_deref().unwrap_or(&[ALL_TIMES]),
                regions: self.slice.regions.as_deref(),
                recorded: &self.recorded,
            };
            let is_inside = self.slice.keeps_thread(chunk.header.stream);
            let cut = Arc::new(ChunkCut::through(trace, chunk, span, borders, is_inside));
            known().insert(chunk.offset, Arc::clone(&cut));
            cut
        })
    }

    pub fn sites(&self) -> Option<&[bool]> {
        self.slice.sites.as_deref()
    }

    /// The cut of a chunk through which no border goes.
    fn simple_cut(&self, chunk: &ChunkRef, span: Span) -> Option<ChunkCut> {
        let is_inside = self.slice.keeps_thread(chunk.header.stream);
        let chooses_regions = self.slice.regions.is_some();
        let Some(times) = &self.slice.times else {
            return match is_inside {
                true => (!chooses_regions).then(|| ChunkCut::whole(span)),
                false => Some(ChunkCut::outside(span)),
            };
        };
        if is_inside && !chooses_regions && times.iter().any(|range| span.is_within(range)) {
            return Some(ChunkCut::whole(span));
        }
        let is_before_end = span.end_ns < self.slice.end_ns();
        let is_outside = !is_inside || !times.iter().any(|range| span.touches(range));
        (is_outside && is_before_end).then(|| ChunkCut::outside(span))
    }

    /// Whether something of the chunk may be inside.
    fn holds(&self, chunk: &ChunkRef) -> bool {
        let span = self.spans[&chunk.offset];
        let mut times = self.slice.times.iter().flatten();
        self.slice.keeps_thread(chunk.header.stream)
            && (self.slice.times.is_none() || times.any(|range| span.touches(range)))
    }

    /// Takes from a stream what isn't of the slice.
    fn cut_stream(&self, stream: &mut Stream, keeps_allocations: bool) {
        let end_ns = self.slice.end_ns();
        if keeps_allocations {
            let mut from_start = stream.chunks.clone();
            from_start.retain(|chunk| self.spans[&chunk.offset].begin_ns < end_ns);
            stream.from_start = Some(from_start);
        }
        stream.chunks.retain(|chunk| self.holds(chunk));
        if !self.slice.keeps_thread(stream.id) {
            stream.oracle_chunks.clear();
        }
    }
}

/// The times of a stream's chunks, by their offsets.
fn spans(stream: &Stream) -> impl Iterator<Item = (u64, Span)> + '_ {
    let mut before_ns = 0;
    stream.chunks.iter().map(move |chunk| {
        let span = Span::of(chunk, before_ns);
        before_ns = span.end_ns;
        (chunk.offset, span)
    })
}

impl Trace {
    /// The trace as if only this had been recorded; it must have been opened without a slice. Sites, streams and times
    /// keep their numbers.
    pub fn sliced(mut self, slice: Slice) -> Trace {
        debug_assert!(self.slice.is_none());
        let slice = slice.in_order();
        let windows = self.windows();
        let windows = windows.iter().map(|window| window.begin_ns..window.end_ns);
        let sliced = Sliced {
            recorded: RecordedTime::new(joined(windows.collect())),
            spans: self.streams.iter().flat_map(spans).collect(),
            cuts: Mutex::default(),
            outside: OutsideEvents::default(),
            outside_in_order: OutsideEvents::default(),
            stream_count: self.streams.len(),
            slice,
        };
        let keeps_allocations = !self.program.allocation_sites.is_empty();
        for stream in &mut self.streams {
            sliced.cut_stream(stream, keeps_allocations);
        }
        self.streams
            .retain(|stream| !stream.chunks_from_start().is_empty());
        let gaps = self.gaps.iter().filter(|gap| sliced.slice.keeps_gap(gap));
        self.gaps_inside = Some(gaps.copied().collect());
        self.slice = Some(Box::new(sliced));
        self
    }

    /// What is looked at, unless it is all.
    pub fn slice(&self) -> Option<&Slice> {
        self.slice.as_ref().map(|sliced| &sliced.slice)
    }

    /// Streams of records in the whole trace.
    pub fn whole_stream_count(&self) -> usize {
        let sliced = self.slice.as_ref();
        sliced.map_or(self.streams.len(), |sliced| sliced.stream_count)
    }

    /// Between which times the accesses of a chunk took place that the slice has; 0 if unknown.
    pub fn chunk_times(&self, chunk: &ChunkRef) -> (u64, u64) {
        match &self.slice {
            Some(sliced) => sliced.cut(self, chunk).times(),
            None => (chunk.header.first_ns, chunk.header.last_ns),
        }
    }

    /// Whether the slice, if there is one, has the sample.
    pub(crate) fn keeps_sample(&self, sample: &Sample) -> bool {
        self.slice().is_none_or(|slice| slice.keeps_sample(sample))
    }

    pub(crate) fn cuts(&self) -> Option<&Sliced> {
        self.slice.as_deref()
    }
}
