//! How far each stream is.

use std::collections::HashMap;

use trackway_trace::Batch;

use super::{ChunkTimes, Span};

/// A place in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub chunk: Span,
    /// Accesses of the chunk before it.
    pub before: u64,
}

impl Position {
    /// When access number `index` from here, from 0, takes place, or what stands right before it.
    pub fn time_of(&self, index: u64) -> u64 {
        self.chunk.time_of(self.before.saturating_add(index))
    }

    /// The number of the first access from here whose time is at least so late; of the chunk's end if there is none.
    pub fn first_at(&self, time_ns: u64) -> u64 {
        self.chunk.first_at(time_ns).saturating_sub(self.before)
    }

    /// Goes on past this many accesses.
    pub fn pass(&mut self, accesses: u64) {
        self.before = self.before.saturating_add(accesses);
    }
}

/// Tells the times of batches, which come in order for each stream.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// For each stream, the sequence of its latest chunk and the accesses of that chunk so far.
    streams: HashMap<u32, (u64, u64)>,
}

impl Clock {
    /// Where the next batch begins.
    pub fn advance(&mut self, times: &ChunkTimes, batch: &Batch) -> Position {
        let progress = self.streams.entry(batch.stream).or_insert((batch.sequence, 0));
        if progress.0 != batch.sequence {
            *progress = (batch.sequence, 0);
        }
        let before = progress.1;
        progress.1 = progress.1.saturating_add(batch.access_count());
        Position {
            chunk: times.span(batch.stream, batch.sequence),
            before,
        }
    }
}
