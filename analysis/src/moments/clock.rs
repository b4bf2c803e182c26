//! How far each stream is.

use std::collections::HashMap;

use trackway_trace::Batch;

use super::{ChunkTimes, Span};

/// Where a batch begins in its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub chunk: Span,
    /// Accesses of the chunk before the batch.
    pub before: u64,
}

impl Position {
    /// When the access with that index of the batch took place, or what stands right before it.
    pub fn time_of(&self, index: usize) -> u64 {
        self.chunk.time_of(self.before + index as u64)
    }

    /// The first access of the batch whose time is at least so late; the chunk's end if there is none.
    pub fn first_at(&self, time_ns: u64) -> usize {
        let index = self.chunk.first_at(time_ns).saturating_sub(self.before);
        usize::try_from(index).unwrap_or(usize::MAX)
    }
}

/// Tells the times of batches, which come in order for each stream.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Of each stream, the chunk's sequence, and its accesses until now.
    streams: HashMap<u32, (u64, u64)>,
}

impl Clock {
    /// Where the next batch begins. It has no runs.
    pub fn advance(&mut self, times: &ChunkTimes, batch: &Batch) -> Position {
        let progress = self.streams.entry(batch.stream).or_insert((batch.sequence, 0));
        if progress.0 != batch.sequence {
            *progress = (batch.sequence, 0);
        }
        let before = progress.1;
        progress.1 += batch.len() as u64;
        Position {
            chunk: times.span(batch.stream, batch.sequence),
            before,
        }
    }
}
