//! The estimated cycles of stretches of accesses that stand at one place of the tree.

use std::ops::Range;
use std::sync::Arc;

use trackway_trace::{Batch, Lane, LongBlock};

use crate::model::time::{Machine, TimedSites, Timing};

pub(super) struct Clock {
    timing: Timing,
    /// Accesses of one place.
    stretch: Batch,
}

impl Clock {
    pub fn new(machine: &Arc<Machine>) -> Clock {
        Clock {
            timing: Timing::new(Arc::clone(machine)),
            stretch: Batch::default(),
        }
    }

    pub fn take_sites(&mut self, sites: TimedSites) {
        self.timing.take_sites(Arc::new(sites));
    }

    /// What follows is of this batch's thread.
    pub fn begin(&mut self, batch: &Batch) {
        (self.stretch.process, self.stretch.stream) = (batch.process, batch.stream);
    }

    /// By how many cycles the thread ends later because of these accesses.
    pub fn accesses(&mut self, batch: &Batch, range: Range<usize>) -> u64 {
        self.stretch.clear();
        self.stretch.site.extend_from_slice(&batch.site[range.clone()]);
        self.stretch
            .address
            .extend_from_slice(&batch.address[range.clone()]);
        self.stretch.size.extend_from_slice(&batch.size[range.clone()]);
        for (index, of_batch) in range.enumerate() {
            if batch.size[of_batch] == u32::MAX {
                self.stretch.long_blocks.push(LongBlock {
                    index: index as u32,
                    length: batch.length(of_batch),
                });
            }
        }
        self.timing.take(&self.stretch)
    }

    /// The same of a loop.
    pub fn run(&mut self, lanes: &[Lane], count: u64) -> u64 {
        self.stretch.clear();
        self.stretch.push_run(0, lanes.iter().copied(), count);
        self.timing.take(&self.stretch)
    }

    pub fn merge(&mut self, from: &Clock) {
        self.timing.merge(&from.timing);
    }

    /// Cycles by site.
    pub fn cycles(&self) -> impl Iterator<Item = u64> + '_ {
        self.timing.cycles()
    }
}
