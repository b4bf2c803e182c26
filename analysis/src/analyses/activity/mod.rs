//! What each thread did when: accesses over time.

mod bins;
mod tables;

use std::collections::BTreeMap;
use std::mem;

use trackway_trace::{Batch, Trace};

use crate::{Analysis, Findings, Order};
use bins::{Bins, Interval};

/// Names of this analysis's tables.
pub const TABLES: [&str; 3] = ["activity", "activity_axis", "gaps"];

/// Counts the accesses of each thread in equal spans of time. Accesses between two known times are taken as evenly
/// spread over the time between them.
#[derive(Debug, Clone)]
pub struct Activity {
    bins: Bins,
}

/// Accesses by the number of the stream.
#[derive(Debug, Default)]
pub struct ActivityShard {
    streams: BTreeMap<u32, Vec<u64>>,
    /// Accesses of chunks whose time is unknown.
    without_time: u64,
    /// Successive batches of the same interval are spread at once.
    latest: Option<Latest>,
}

#[derive(Debug, Clone, Copy)]
struct Latest {
    stream: u32,
    interval: Interval,
    accesses: u64,
}

impl Activity {
    pub fn new(trace: &Trace) -> Activity {
        let chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
        let times = chunks.map(|chunk| trace.chunk_times(chunk));
        let gaps = trace.gaps().iter().map(|gap| (gap.first_ns, gap.last_ns));
        Activity {
            bins: Bins::over(times.chain(gaps).filter_map(Interval::new)),
        }
    }

    fn take_interval(&self, shard: &mut ActivityShard, stream: u32, accesses: u64, times: (u64, u64)) {
        let Some(interval) = Interval::new(times) else {
            shard.without_time = shard.without_time.saturating_add(accesses);
            return;
        };
        match &mut shard.latest {
            Some(latest) if latest.stream == stream && latest.interval == interval => {
                latest.accesses = latest.accesses.saturating_add(accesses);
            }
            _ => {
                self.settle(shard);
                shard.latest = Some(Latest {
                    stream,
                    interval,
                    accesses,
                });
            }
        }
    }

    fn settle(&self, shard: &mut ActivityShard) {
        let Some(latest) = shard.latest.take() else { return };
        let counts = shard
            .streams
            .entry(latest.stream)
            .or_insert_with(|| vec![0; self.bins.count()]);
        self.bins.spread(latest.interval, latest.accesses, counts);
    }
}

impl Analysis for Activity {
    type Shard = ActivityShard;

    fn order(&self) -> Order {
        Order::Any
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> ActivityShard {
        ActivityShard::default()
    }

    fn take_batch(&self, shard: &mut ActivityShard, batch: &Batch) {
        for (accesses, interval) in batch.intervals() {
            self.take_interval(
                shard,
                batch.stream,
                accesses,
                (interval.first_ns, interval.last_ns),
            );
        }
    }

    fn merge(&self, into: &mut ActivityShard, mut from: ActivityShard) {
        self.settle(into);
        self.settle(&mut from);
        into.without_time = into.without_time.saturating_add(from.without_time);
        for (stream, more) in mem::take(&mut from.streams) {
            let counts = into.streams.entry(stream).or_insert_with(|| vec![0; more.len()]);
            for (count, more) in counts.iter_mut().zip(more) {
                *count = count.saturating_add(more);
            }
        }
    }

    fn finish(&self, mut shard: ActivityShard, trace: &Trace) -> Findings {
        self.settle(&mut shard);
        Findings {
            answer: None,
            tables: tables::tables(&self.bins, &shard, trace),
        }
    }
}
