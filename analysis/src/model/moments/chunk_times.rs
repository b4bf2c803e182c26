//! The accesses and times of all chunks.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use trackway_trace::{Batch, Stream, Trace};

use crate::{Analysis, Findings, Observer, Order};

/// A chunk's accesses, and between which times they took place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub accesses: u64,
    pub first_ns: u64,
    /// Not before `first_ns`.
    pub last_ns: u64,
}

impl Span {
    /// The time of access number `index` of the chunk, from 0; for later numbers, the end.
    pub fn time_of(&self, index: u64) -> u64 {
        let duration = self.last_ns - self.first_ns;
        match index < self.accesses {
            true => self.first_ns + scaled(duration, index, self.accesses),
            false => self.last_ns,
        }
    }

    /// The first access whose time is at least so late; the number of accesses if there is none.
    pub fn first_at(&self, time_ns: u64) -> u64 {
        let duration = u128::from(self.last_ns - self.first_ns);
        if time_ns <= self.first_ns {
            return 0;
        }
        if time_ns >= self.last_ns {
            return self.accesses; // the last access comes before the end
        }
        let passed = u128::from(time_ns - self.first_ns) * u128::from(self.accesses);
        passed.div_ceil(duration) as u64
    }
}

/// `whole` × `part` ÷ `parts`, rounded down.
fn scaled(whole: u64, part: u64, parts: u64) -> u64 {
    (u128::from(whole) * u128::from(part) / u128::from(parts)) as u64
}

/// The times of all chunks of a trace.
#[derive(Debug, Default)]
pub struct ChunkTimes {
    /// Spans of the chunks by stream and sequence.
    spans: HashMap<(u32, u64), Span>,
    first_ns: u64,
    last_ns: u64,
    start_ns: u64,
}

impl ChunkTimes {
    /// Reads the trace once, to count the accesses of each chunk.
    pub fn count(trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> ChunkTimes {
        let counting = Counting::default();
        crate::run(&counting, trace, threads, observer);
        let counts = counting.counts.into_inner();
        ChunkTimes::new(trace, &counts.unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// The same, from the accesses of each chunk by stream and sequence.
    pub fn new(trace: &Trace, accesses: &HashMap<(u32, u64), u64>) -> ChunkTimes {
        let mut times = ChunkTimes::default();
        for stream in trace.streams() {
            times.add_stream(trace, stream, accesses);
        }
        let first = times.spans.values().map(|span| span.first_ns).min();
        times.first_ns = first.unwrap_or(0);
        times.last_ns = times.spans.values().map(|span| span.last_ns).max().unwrap_or(0);
        times.start_ns = trace.meta().start_monotonic_ns.min(times.first_ns);
        times
    }

    /// Time doesn't go backwards in a stream. If a time is not known, the next known one is used.
    fn add_stream(&mut self, trace: &Trace, stream: &Stream, accesses: &HashMap<(u32, u64), u64>) {
        let mut end = 0;
        for chunk in &stream.chunks {
            let (first_ns, last_ns) = trace.chunk_times(chunk);
            let first = if first_ns == 0 { last_ns } else { first_ns };
            let first_ns = first.max(end);
            end = last_ns.max(first_ns);
            let sequence = chunk.header.sequence;
            let span = Span {
                accesses: accesses.get(&(stream.id, sequence)).copied().unwrap_or(0),
                first_ns,
                last_ns: end,
            };
            self.spans.insert((stream.id, sequence), span);
        }
    }

    pub fn span(&self, stream: u32, sequence: u64) -> Span {
        self.spans.get(&(stream, sequence)).copied().unwrap_or_default()
    }

    /// Times between which all accesses took place.
    pub fn range_ns(&self) -> (u64, u64) {
        (self.first_ns, self.last_ns)
    }

    /// The beginning of the recording, from which times are shown.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Time since the beginning of the recording.
    pub fn shown_ns(&self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }
}

/// Counts the accesses of each chunk.
#[derive(Default)]
struct Counting {
    counts: Mutex<HashMap<(u32, u64), u64>>,
}

impl Analysis for Counting {
    type Shard = HashMap<(u32, u64), u64>;

    fn order(&self) -> Order {
        Order::Any
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> Self::Shard {
        HashMap::new()
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        let count = shard.entry((batch.stream, batch.sequence)).or_default();
        *count = count.saturating_add(batch.access_count());
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        for (chunk, accesses) in from {
            let count = into.entry(chunk).or_default();
            *count = count.saturating_add(accesses);
        }
    }

    fn finish(&self, shard: Self::Shard, _: &Trace) -> Findings {
        *self
            .counts
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = shard;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_access_at_a_time_is_the_first_that_is_not_earlier(
            accesses in 0u64..50, first_ns in 0u64..100, duration in 0u64..100, time_ns in 0u64..220,
        ) {
            let span = Span { accesses, first_ns, last_ns: first_ns + duration };
            let naive = (0..accesses).find(|&index| span.time_of(index) >= time_ns).unwrap_or(accesses);
            prop_assert_eq!(span.first_at(time_ns), naive);
        }
    }
}
