//! Which part of time the accesses of batches fall into.

use std::sync::Arc;

use trackway_trace::{Batch, Interval};

use super::{ChunkTimes, Clock, Position, Span, TimeBins};

/// A stream and a bin of time.
pub type Moment = (u32, u32);

/// How finely time is told apart, by the times of a trace's chunks.
#[derive(Debug, Clone)]
pub struct MomentBins {
    pub times: Arc<ChunkTimes>,
    pub bins: TimeBins,
}

impl MomentBins {
    /// Bins of that width, a power of two in nanoseconds, over all of the trace.
    pub fn of_width(times: &Arc<ChunkTimes>, width_ns: u64) -> MomentBins {
        let (first_ns, last_ns) = times.range_ns();
        MomentBins {
            times: Arc::clone(times),
            bins: TimeBins::of_width(first_ns, last_ns, width_ns),
        }
    }
}

/// Follows the batches of all streams, which come in order for each stream.
#[derive(Debug)]
pub struct MomentCursor {
    of: MomentBins,
    clock: Clock,
    position: Position,
    stream: u32,
}

impl MomentCursor {
    pub fn new(of: &MomentBins) -> MomentCursor {
        MomentCursor {
            of: of.clone(),
            clock: Clock::default(),
            position: Position {
                chunk: Span::default(),
                before: 0,
            },
            stream: 0,
        }
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.position = self.clock.advance(&self.of.times, batch);
        self.stream = batch.stream;
    }

    /// The moment of the next accesses, and how many of `left` ones fall into it: at least one.
    pub fn next(&self, left: u64) -> (Moment, u64) {
        let bins = &self.of.bins;
        let bin = bins.nearest(self.position.time_of(0));
        let count = match bin + 1 < bins.count() {
            true => self.position.first_at(bins.end_ns(bin)).clamp(1, left.max(1)),
            false => left,
        };
        ((self.stream, bin as u32), count)
    }

    /// The moment of access number `index` from here, which took place in that interval.
    pub fn moment_within(&self, index: u64, interval: Interval) -> Moment {
        let time_ns = self.position.time_of(index).max(interval.first_ns);
        (
            self.stream,
            self.of.bins.nearest(time_ns.min(interval.last_ns)) as u32,
        )
    }

    /// Goes on past this many accesses.
    pub fn pass(&mut self, accesses: u64) {
        self.position.pass(accesses);
    }
}
