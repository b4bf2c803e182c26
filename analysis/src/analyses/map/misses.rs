//! Misses, counted where and when they are.

use std::ops::Range;

use trackway_trace::SiteId;

use super::count::pieces;
use super::counting::{Counting, HIDDEN};
use super::simulation::Simulation;
use crate::model::cache::{Access, Missed};
use crate::model::site_counts::address_space;

/// Most accesses that are simulated together.
const MOST_ACCESSES: usize = 4096;

impl Counting<'_, '_> {
    /// Simulates accesses of the columns, which are in one part of time, or in none.
    pub(super) fn simulate(
        &mut self,
        indices: Range<usize>,
        bin: Option<usize>,
        simulation: &mut Simulation,
    ) {
        let core = simulation.accounts.core_of(self.batch.stream);
        let space = address_space(self.batch, self.map.view.caches.any_shared());
        for index in indices {
            let site = self.batch.site[index].index();
            let (address, length) = (self.batch.address[index], self.batch.length(index));
            // Line by line, since misses count where they are.
            for (address, length) in pieces(address, length, simulation.line_bytes) {
                simulation.accesses.push(Access {
                    core,
                    site,
                    address: address ^ space,
                    length,
                    is_write: self.map.writes[site],
                });
                if simulation.accesses.len() == MOST_ACCESSES {
                    self.count_misses(space, bin, simulation);
                }
            }
        }
        self.count_misses(space, bin, simulation);
    }

    fn count_misses(&mut self, space: u64, bin: Option<usize>, simulation: &mut Simulation) {
        let Simulation {
            accounts,
            accesses,
            missed,
            ..
        } = simulation;
        let mut tell = |miss: Missed| {
            if miss.level == simulation.level {
                missed.push(miss);
            }
        };
        for (access, number) in accesses.iter().zip(0..) {
            accounts.take(number, access, &mut tell);
        }
        accounts.settle(tell);
        for miss in missed.drain(..) {
            let access = &accesses[miss.owner as usize];
            let Some(bin) = bin else {
                continue;
            };
            let row = self.row_of(SiteId(access.site as u32), access.address ^ space);
            if row != HIDDEN {
                self.grid.add(row, bin, access.is_write, miss.lines);
            }
        }
        accesses.clear();
    }
}
