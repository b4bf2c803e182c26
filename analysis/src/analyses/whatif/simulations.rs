//! The caches of all threads, in whatever order their accesses come.

use std::collections::BTreeMap;

use trackway_trace::Batch;

use crate::model::cache::Caches;
use crate::model::site_counts::MissesShard;
use crate::WorkPart;

/// One simulation for each thread or, if a level is shared, for all.
pub(super) struct Simulations {
    caches: Caches,
    /// Whether each site stores.
    stores: Vec<bool>,
    by_stream: BTreeMap<u32, MissesShard>,
}

impl Simulations {
    pub fn new(caches: &Caches) -> Simulations {
        Simulations {
            caches: caches.clone(),
            stores: Vec::new(),
            by_stream: BTreeMap::new(),
        }
    }

    pub fn take_sites(&mut self, stores: Vec<bool>) {
        self.stores = stores;
        for simulation in self.by_stream.values_mut() {
            simulation.take_sites(self.stores.iter().copied());
        }
    }

    pub fn take(&mut self, batch: &Batch) {
        let key = match self.caches.any_shared() {
            true => 0,
            false => batch.stream,
        };
        let simulation = self.by_stream.entry(key).or_insert_with(|| {
            let mut simulation = MissesShard::new(&self.caches, WorkPart::WHOLE);
            simulation.take_sites(self.stores.iter().copied());
            simulation
        });
        simulation.take(batch);
    }

    /// Streams are in one of them only.
    pub fn merge(&mut self, from: Simulations) {
        self.by_stream.extend(from.by_stream);
    }

    /// Merges all of them into one, which knows these sites even if the trace has no records.
    pub fn finish(self, stores: Vec<bool>) -> MissesShard {
        let mut all = MissesShard::new(&self.caches, WorkPart::WHOLE);
        all.take_sites(stores.into_iter());
        for simulation in self.by_stream.values() {
            all.merge(simulation);
        }
        all
    }
}
