//! The simulation of plain levels. It takes all lines, or a part of them while other shards simulate the others.

use std::ops::Range;

use trackway_trace::{Batch, Lane, Piece};

use super::columns::Sites;
use super::part::{LinePart, STRETCH};
use crate::model::cache::{LineChanges, Outcome, PlainLevels, Simulation};

/// What a batch goes through.
pub(super) struct PlainSimulation<'s> {
    pub levels: &'s mut PlainLevels,
    pub changes: &'s mut LineChanges,
    pub sites: &'s mut Sites,
    pub part: LinePart,
}

impl PlainSimulation<'_> {
    #[inline(always)]
    pub fn take(&mut self, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) if self.part.is_whole() => self.take_all(batch, range),
                Piece::Accesses(range) => self.take_chosen(batch, range),
                Piece::Run(run) => {
                    if self.part.is_whole() {
                        self.sites.count_run(batch.lanes(run), run.count);
                    }
                    self.changes.begin(batch.lanes(run), run.count);
                    self.take_run(batch.lanes(run));
                }
            }
        }
        self.settle();
    }

    /// Lets the counters know of all misses.
    pub fn settle(&mut self) {
        self.levels.settle(counting(&mut self.sites.outcomes));
    }

    #[inline(always)]
    fn take_all(&mut self, batch: &Batch, range: Range<usize>) {
        let first = range.start;
        let places = batch.site[range.clone()]
            .iter()
            .zip(&batch.address[range.clone()]);
        for (index, ((&id, &address), &size)) in places.zip(&batch.size[range]).enumerate() {
            let length = match size {
                u32::MAX => batch.length(first + index),
                size => size.into(),
            };
            let stores = self.sites.add(id.index(), 1, length);
            let count = counting(&mut self.sites.outcomes);
            self.levels.use_bytes(id.0, address, length, stores, count);
        }
    }

    #[inline(always)]
    fn take_chosen(&mut self, batch: &Batch, range: Range<usize>) {
        for start in range.clone().step_by(STRETCH) {
            let mut chosen = [0; STRETCH];
            let stretch = start..range.end.min(start + STRETCH);
            let count = self.part.choose(batch, stretch, &mut chosen);
            for &index in &chosen[..count] {
                let index = index as usize;
                let (site, address) = (batch.site[index].index(), batch.address[index]);
                self.take_own(site, address, batch.length(index));
            }
        }
    }

    /// Simulates those iterations of a run that change something in the caches.
    #[inline(always)]
    pub fn take_run(&mut self, lanes: &[Lane]) {
        while let Some(iteration) = self.changes.next_iteration() {
            let before = self.levels.changes();
            for lane in lanes {
                let address = lane.address_in(iteration);
                self.take_own(lane.site.index(), address, lane.size.into());
            }
            self.changes.simulated(lanes, self.levels.changes() != before);
        }
    }

    /// Simulates what the part owns of an access.
    #[inline(always)]
    fn take_own(&mut self, site: usize, address: u64, length: u64) {
        let stores = self.sites.stores(site);
        if self.part.is_in_one_line(address, length) {
            if self.part.has(address) {
                let count = counting(&mut self.sites.outcomes);
                let place = self.part.place(address);
                self.levels.use_bytes(site as u32, place, length, stores, count);
            }
        } else if length > 0 {
            self.take_own_of_several(site, address, length, stores);
        }
    }

    #[cold]
    fn take_own_of_several(&mut self, site: usize, address: u64, length: u64, stores: bool) {
        for (address, length) in self.part.own(address, length) {
            let count = counting(&mut self.sites.outcomes);
            let place = self.part.place(address);
            self.levels.use_bytes(site as u32, place, length, stores, count);
        }
    }
}

#[inline(always)]
fn counting(outcomes: &mut [Outcome]) -> impl FnMut(u32, usize) + '_ {
    |site, level| outcomes[site as usize].misses[level] += 1
}
