//! How structures are laid out, which of their fields are hot, and what would be a better layout.

mod affinity;
mod proposals;
mod tables;
mod weights;

use std::collections::BTreeMap;

use trackway_trace::{Batch, Program, Trace};

use crate::cache::Caches;
use crate::misses::count::stores;
use crate::misses::shard::MissesShard;
use crate::misses::Measure;
use crate::structures::Structures;
use crate::{Analysis, Findings, Order, Part};
use affinity::{Pairs, Window};

/// What is not looked at has this structure.
const NONE: u32 = u32::MAX;

/// Simulates caches, and follows which fields of an object are accessed together.
pub struct Layout {
    caches: Caches,
    structures: Structures,
    /// By site.
    watched: Vec<Watched>,
    window: u64,
    /// Members of the largest structure.
    members: usize,
    shown: Shown,
}

/// What to print.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Only this structure.
    pub only: Option<usize>,
    /// Structures, and pairs of fields of each, at most.
    pub top: usize,
    pub rank_by: Measure,
}

#[derive(Debug, Clone, Copy)]
struct Watched {
    structure: u32,
    member: u32,
    /// Bytes from the object to the access.
    offset: u64,
}

/// The part of one thread, or of all.
pub struct LayoutShard {
    misses: MissesShard,
    /// By stream: what it accessed lately, and its accesses so far.
    streams: BTreeMap<u32, (Window, u64)>,
    pairs: Vec<Pairs>,
}

impl Layout {
    /// Fields are accessed together if so many accesses of the thread lie between them at most: `window`.
    pub fn new(structures: Structures, caches: Caches, window: u64, shown: Shown) -> Layout {
        let watched = structures.sites.iter().map(|field| match field {
            Some(field) if field.members.len() == 1 => Watched {
                structure: field.offset.map_or(NONE, |_| field.structure as u32),
                member: field.members[0] as u32,
                offset: field.offset.unwrap_or(0),
            },
            _ => Watched {
                structure: NONE,
                member: 0,
                offset: 0,
            },
        });
        let watched = watched.collect();
        let largest = structures
            .list
            .iter()
            .map(|structure| structure.members.len())
            .max();
        Layout {
            caches,
            watched,
            window,
            members: largest.unwrap_or(0),
            structures,
            shown,
        }
    }
}

impl Analysis for Layout {
    type Shard = LayoutShard;

    fn order(&self) -> Order {
        match self.caches.any_shared() {
            true => Order::AcrossThreads,
            false => Order::PerStream,
        }
    }

    fn start_shard(&self) -> LayoutShard {
        let pairs = self
            .structures
            .list
            .iter()
            .map(|structure| Pairs::new(structure.members.len()));
        LayoutShard {
            misses: MissesShard::new(&self.caches, Part::WHOLE),
            streams: BTreeMap::new(),
            pairs: pairs.collect(),
        }
    }

    fn take_program(&self, shard: &mut LayoutShard, program: &Program) {
        shard
            .misses
            .take_sites(program.sites.iter().map(|site| stores(site.kind)));
    }

    fn take_batch(&self, shard: &mut LayoutShard, batch: &Batch) {
        shard.misses.take(batch);
        let stream = shard.streams.entry(batch.stream);
        let (window, before) = stream.or_insert_with(|| (Window::new(self.window, self.members), 0));
        for (index, (site, &address)) in batch.site.iter().zip(&batch.address).enumerate() {
            let watched = self.watched[site.index()];
            if watched.structure != NONE {
                let object = address.wrapping_sub(watched.offset);
                let pairs = &mut shard.pairs[watched.structure as usize];
                let time = *before + index as u64 + 1;
                window.access(pairs, watched.structure, object, watched.member as usize, time);
            }
        }
        *before += batch.len() as u64;
    }

    fn merge(&self, into: &mut LayoutShard, from: LayoutShard) {
        into.misses.merge(&from.misses);
        for (pairs, more) in into.pairs.iter_mut().zip(&from.pairs) {
            pairs.add(more);
        }
        // Windows belong to streams that are done.
        into.streams.clear();
    }

    fn finish(&self, shard: LayoutShard, trace: &Trace) -> Findings {
        let counters = shard.misses.counters();
        let weights = weights::weigh(trace.program(), &self.structures, &counters);
        tables::Presentation {
            structures: &self.structures,
            weights: &weights,
            pairs: &shard.pairs,
            caches: &self.caches,
            window: self.window,
            shown: &self.shown,
        }
        .findings(trace.program(), &counters)
    }
}
