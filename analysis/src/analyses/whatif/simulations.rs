//! The caches of all threads, in whatever order their accesses come.

use std::collections::BTreeMap;
use std::sync::Arc;

use trackway_trace::Batch;

use crate::model::cache::Caches;
use crate::model::site_counts::MissesShard;
use crate::model::time::{Machine, TimedSites};
use crate::WorkPart;

/// One simulation for each thread or, if a level is shared, for all.
pub(in crate::analyses) struct Simulations {
    caches: Caches,
    /// The machine whose time is estimated, if any.
    machine: Option<Arc<Machine>>,
    /// Whether each site stores.
    stores: Vec<bool>,
    timed: Arc<TimedSites>,
    by_stream: BTreeMap<u32, MissesShard>,
}

impl Simulations {
    pub fn new(caches: &Caches, machine: Option<&Arc<Machine>>) -> Simulations {
        Simulations {
            caches: caches.clone(),
            machine: machine.cloned(),
            stores: Vec::new(),
            timed: Arc::default(),
            by_stream: BTreeMap::new(),
        }
    }

    /// Whether any level is shared, in the caches or in those by which time is estimated.
    fn any_shared(&self) -> bool {
        self.caches.any_shared()
            || self
                .machine
                .as_ref()
                .is_some_and(|machine| machine.caches.any_shared())
    }

    /// `timed` is asked for only if time is estimated.
    pub fn take_sites(&mut self, stores: Vec<bool>, timed: impl FnOnce() -> TimedSites) {
        self.stores = stores;
        if self.machine.is_some() {
            self.timed = Arc::new(timed());
        }
        for simulation in self.by_stream.values_mut() {
            simulation.take_sites(self.stores.iter().copied());
            simulation.take_timed_sites(|| Arc::clone(&self.timed));
        }
    }

    pub fn take(&mut self, batch: &Batch) {
        let key = match self.any_shared() {
            true => 0,
            false => batch.stream,
        };
        let simulation = self.by_stream.entry(key).or_insert_with(|| {
            let mut simulation =
                MissesShard::new(&self.caches, WorkPart::WHOLE).with_time(self.machine.as_ref());
            simulation.take_sites(self.stores.iter().copied());
            simulation.take_timed_sites(|| Arc::clone(&self.timed));
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
