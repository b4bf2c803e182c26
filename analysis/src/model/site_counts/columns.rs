//! What is known and counted of each site.

use trackway_trace::{Batch, Lane, Piece};

use super::{Measure, SiteCounters};
use crate::model::cache::Outcome;

/// Counters in columns, as most accesses need the first two only.
#[derive(Debug, Default)]
pub(super) struct Sites {
    stores: Vec<bool>,
    tallies: Vec<Tally>,
    pub outcomes: Vec<Outcome>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    accesses: u64,
    bytes: u64,
}

impl Sites {
    /// Learns for each site whether it stores. Known sites come first.
    pub fn take(&mut self, stores: impl Iterator<Item = bool>) {
        let known = self.stores.len();
        self.stores.extend(stores.skip(known));
        self.make_room(self.stores.len());
    }

    fn make_room(&mut self, count: usize) {
        if self.tallies.len() < count {
            self.stores.resize(count, false);
            self.tallies.resize(count, Tally::default());
            self.outcomes.resize(count, Outcome::default());
        }
    }

    /// Whether accesses of the site write.
    #[inline(always)]
    pub fn stores(&self, site: usize) -> bool {
        self.stores[site]
    }

    /// Counts accesses that have this many bytes together. Returns whether they write.
    #[inline(always)]
    pub fn add(&mut self, site: usize, accesses: u64, bytes: u64) -> bool {
        let tally = &mut self.tallies[site];
        tally.accesses = tally.accesses.saturating_add(accesses);
        tally.bytes = tally.bytes.saturating_add(bytes);
        self.stores[site]
    }

    /// Counts all accesses of a batch.
    pub fn count(&mut self, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        self.add(batch.site[index].index(), 1, batch.length(index));
                    }
                }
                Piece::Run(run) => self.count_run(batch.lanes(run), run.count),
            }
        }
    }

    #[inline(always)]
    pub fn count_run(&mut self, lanes: &[Lane], count: u64) {
        for lane in lanes {
            let bytes = count.saturating_mul(lane.size.into());
            self.add(lane.site.index(), count, bytes);
        }
    }

    pub fn merge(&mut self, from: &Sites) {
        self.make_room(from.tallies.len());
        for (site, (tally, outcome)) in from.tallies.iter().zip(&from.outcomes).enumerate() {
            self.add(site, tally.accesses, tally.bytes);
            self.outcomes[site] += outcome;
        }
    }

    /// Adds counts of a site's accesses from elsewhere.
    pub fn add_counters(&mut self, site: usize, counters: &SiteCounters) {
        self.make_room(site + 1);
        self.add(site, counters.accesses, counters.bytes);
        self.outcomes[site] += &counters.outcome;
    }

    pub fn len(&self) -> usize {
        self.tallies.len()
    }

    /// What a site has of a measure; it has no cycles.
    #[inline(always)]
    pub fn measured(&self, site: usize, measure: Measure) -> u64 {
        match measure {
            Measure::Accesses => self.tallies[site].accesses,
            Measure::Bytes => self.tallies[site].bytes,
            Measure::Misses(level) => self.outcomes[site].misses[level],
            Measure::Cycles => 0,
        }
    }

    pub fn counters(&self) -> Vec<SiteCounters> {
        let counters = |(tally, &outcome): (&Tally, &Outcome)| SiteCounters {
            accesses: tally.accesses,
            bytes: tally.bytes,
            outcome,
            cycles: 0,
        };
        self.tallies.iter().zip(&self.outcomes).map(counters).collect()
    }
}
