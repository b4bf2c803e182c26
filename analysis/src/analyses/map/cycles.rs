//! Estimated cycles, counted where and when the accesses are that take them.

use std::ops::Range;
use std::sync::Arc;

use trackway_trace::{Batch, Program};

use super::counting::{Counting, HIDDEN};
use crate::model::time::{Machine, TimedSites, Timing};

/// Estimates what the accesses of the trace take.
pub(super) struct Cycles {
    timing: Timing,
    /// Whole cycles of each access of the batch.
    pub of_batch: Vec<u64>,
    /// What the accesses before take beyond their whole cycles: less than one.
    fraction: f64,
}

impl Cycles {
    pub fn new(machine: &Arc<Machine>) -> Cycles {
        Cycles {
            timing: Timing::new(Arc::clone(machine)),
            of_batch: Vec::new(),
            fraction: 0.0,
        }
    }

    pub fn take_program(&mut self, program: &Program) {
        self.timing.take_sites(Arc::new(TimedSites::of(program)));
    }

    /// Fractions go to the access with which they become a cycle, so that the sum is right.
    pub fn estimate(&mut self, batch: &Batch) {
        let Cycles {
            timing,
            of_batch,
            fraction,
        } = self;
        of_batch.clear();
        timing.take_each(batch, |cycles| {
            let whole = (cycles + *fraction).floor();
            *fraction += cycles - whole;
            of_batch.push(whole as u64);
        });
    }
}

impl Counting<'_, '_> {
    /// Counts the cycles of accesses of the columns, which are in one part of time.
    pub(super) fn count_cycles(&mut self, indices: Range<usize>, bin: usize, cycles: &[u64]) {
        for index in indices {
            let (site, address) = (self.batch.site[index], self.batch.address[index]);
            let row = self.row_of(site, address);
            if row != HIDDEN {
                self.grid
                    .add(row, bin, self.map.writes[site.index()], cycles[index]);
            }
        }
    }
}
