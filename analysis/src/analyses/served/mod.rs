//! What serves each access: a level of the simulated caches, and what it costs by the model of time.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, Program, Trace};

use crate::model::cache::{Access, Caches, Outcome, Simulator};
use crate::model::site_counts::{address_space, stores};
use crate::model::time::{Machine, TimedSites, Timing};
use crate::{Analysis, Findings, Observer, Order};

/// What of each access is wanted.
#[derive(Debug, Clone)]
pub struct Served {
    /// The caches whose level is wanted, as for [`crate::misses::Misses`].
    pub caches: Option<Caches>,
    /// The machine whose cycles are wanted.
    pub machine: Option<Arc<Machine>>,
}

/// What served the accesses of a chunk, in their order. A list that wasn't wanted is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServedChunk {
    /// The farthest level from which a line came: 1 for the first cache, one more than there are caches for memory.
    pub levels: Vec<u8>,
    /// By how many cycles the program ends later because of the access and the instructions before it.
    pub cycles: Vec<f32>,
}

/// What served the accesses of a trace, by the number of the stream and of the chunk in it.
pub type ServedChunks = HashMap<(u32, u64), ServedChunk>;

impl Served {
    /// Goes over the trace once. A byte is kept for each access whose level is wanted, and four if its cycles are.
    pub fn accesses_of(&self, trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> ServedChunks {
        let simulated = Simulated {
            served: self,
            found: Mutex::default(),
        };
        crate::run(&simulated, trace, threads, observer);
        let found = simulated.found.into_inner();
        found.unwrap_or_else(PoisonError::into_inner)
    }
}

struct Simulated<'s> {
    served: &'s Served,
    found: Mutex<ServedChunks>,
}

struct ServedShard {
    /// One for each stream, or one for all if a level is shared.
    simulators: BTreeMap<u32, Simulator>,
    timing: Option<Timing>,
    /// Whether each site stores.
    stores: Vec<bool>,
    chunks: ServedChunks,
}

impl Simulated<'_> {
    fn levels(&self, caches: &Caches, shard: &mut ServedShard, batch: &Batch, to: &mut Vec<u8>) {
        let shared = caches.any_shared();
        let key = if shared { 0 } else { batch.stream };
        let Some(new) = Simulator::new(caches) else {
            // Without caches all comes from memory.
            return to.extend(std::iter::repeat_n(1, batch.len()));
        };
        let simulator = shard.simulators.entry(key).or_insert(new);
        let core = simulator.core_of(batch.stream);
        let process = address_space(batch, shared);
        to.extend((0..batch.len()).map(|index| {
            let site = batch.site[index].index();
            let access = Access {
                core,
                site,
                address: batch.address[index] ^ process,
                length: batch.length(index),
                is_write: shard.stores[site],
            };
            let mut outcome = Outcome::default();
            simulator.access(&access, &mut outcome);
            let missed = outcome.misses.iter().rposition(|&misses| misses > 0);
            missed.map_or(1, |level| level as u8 + 2)
        }));
    }
}

impl Analysis for Simulated<'_> {
    type Shard = ServedShard;

    fn order(&self) -> Order {
        let machine = self.served.machine.as_ref().map(|machine| &machine.caches);
        let mut all = self.served.caches.iter().chain(machine);
        Order::across_threads_if(all.any(Caches::any_shared))
    }

    fn start_shard(&self) -> ServedShard {
        ServedShard {
            simulators: BTreeMap::new(),
            timing: self.served.machine.clone().map(Timing::new),
            stores: Vec::new(),
            chunks: ServedChunks::new(),
        }
    }

    fn take_program(&self, shard: &mut ServedShard, program: &Program) {
        shard.stores = program.sites.iter().map(|site| stores(site.kind)).collect();
        if let Some(timing) = &mut shard.timing {
            timing.take_sites(Arc::new(TimedSites::of(program)));
        }
    }

    fn take_batch(&self, shard: &mut ServedShard, batch: &Batch) {
        let place = (batch.stream, batch.sequence);
        let mut chunk = shard.chunks.remove(&place).unwrap_or_default();
        if let Some(caches) = &self.served.caches {
            self.levels(caches, shard, batch, &mut chunk.levels);
        }
        if let Some(timing) = &mut shard.timing {
            timing.take_each(batch, |cycles| chunk.cycles.push(cycles as f32));
        }
        shard.chunks.insert(place, chunk);
    }

    /// Each stream is in one of both.
    fn merge(&self, into: &mut ServedShard, from: ServedShard) {
        into.chunks.extend(from.chunks);
    }

    fn finish(&self, shard: ServedShard, _: &Trace) -> Findings {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = shard.chunks;
        Findings::default()
    }
}
