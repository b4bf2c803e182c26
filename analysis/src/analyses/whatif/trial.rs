//! Tries several new layouts, each by itself, in one pass over the trace.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, Trace};

use super::prediction::Prediction;
use super::rewrite::{Rewritten, Targets};
use super::survey::{self, Purposes};
use super::{Change, Link, NewLayout};
use crate::engine::Observer;
use crate::model::cache::Caches;
use crate::model::site_counts::SiteCounters;
use crate::model::structures::Structures;
use crate::model::time::Machine;
use crate::{Analysis, Findings, Order, WorkPart};

/// Layouts that are simulated at most.
pub const MOST_TRIALS: usize = 8;

/// The result of a new layout.
#[derive(Debug, Clone)]
pub enum Trial {
    Simulated {
        /// Accesses and misses of the whole program.
        after: Box<SiteCounters>,
        done: Rewritten,
    },
    Impossible(Impossible),
}

/// Why a layout is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    #[error("no block has objects of this type alone")]
    NoObjects,
    #[error("objects are allocated in several sizes")]
    SizesVary,
    #[error("objects are allocated one by one, so they have no index")]
    NoIndex,
    #[error("not simulated: {MOST_TRIALS} others come first")]
    TooMany,
}

/// Tries each of the layouts alone. Goes over the trace twice for all of them together, as [`what_if`](super::what_if)
/// does, or once if none is possible. Only the first possible ones are simulated.
pub fn try_each(
    layouts: &[NewLayout],
    structures: &Structures,
    (caches, machine): (&Caches, Option<&Arc<Machine>>),
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Vec<Trial> {
    if layouts.is_empty() {
        return Vec::new();
    }
    let purposes = survey::purposes(structures, trace, threads, observer);
    let mut possible = 0;
    let judged = layouts.iter().map(|layout| {
        let why = impossible(layout, structures, &purposes);
        possible += usize::from(why.is_none());
        why.or((possible > MOST_TRIALS).then_some(Impossible::TooMany))
    });
    let judged: Vec<Option<Impossible>> = judged.collect();
    let possible = layouts.iter().zip(&judged).filter(|(_, why)| why.is_none());
    let targets: Vec<Targets> = possible
        .map(|(layout, _)| Targets::new(structures, std::slice::from_ref(layout)))
        .collect();
    let trials = Trials {
        caches,
        machine,
        trace,
        purposes: &purposes,
        targets: &targets,
        found: Mutex::default(),
    };
    if !targets.is_empty() {
        crate::run(&trials, trace, threads, observer);
    }
    let found = trials.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = found.into_iter();
    judged
        .into_iter()
        .map(|why| match (why, why.is_none().then(|| found.next()).flatten()) {
            (None, Some((after, done))) => Trial::Simulated {
                after: Box::new(after),
                done,
            },
            (why, _) => Trial::Impossible(why.unwrap_or(Impossible::NoObjects)),
        })
        .collect()
}

fn impossible(layout: &NewLayout, structures: &Structures, purposes: &Purposes) -> Option<Impossible> {
    let moves_members = matches!(
        layout.change,
        Change::Split(_) | Change::Reorder(_) | Change::Arrays
    );
    let needs_index = layout.link == Link::Index && layout.parts.len() > 1;
    let objects = purposes.objects(layout.structure, structures.list[layout.structure].size);
    if objects.blocks == 0 {
        Some(Impossible::NoObjects)
    } else if moves_members && objects.sizes_vary {
        Some(Impossible::SizesVary)
    } else if needs_index && !objects.has_arrays {
        Some(Impossible::NoIndex)
    } else {
        None
    }
}

struct Trials<'t> {
    caches: &'t Caches,
    machine: Option<&'t Arc<Machine>>,
    trace: &'t Trace,
    purposes: &'t Purposes,
    /// Targets by layout.
    targets: &'t [Targets],
    found: Mutex<Vec<(SiteCounters, Rewritten)>>,
}

/// A layout by its number, and its prediction.
type Numbered<'t> = (usize, Prediction<'t>);

impl<'t> Analysis for Trials<'t> {
    /// The layouts of a part.
    type Shard = Vec<Numbered<'t>>;

    fn order(&self) -> Order {
        survey::order_of(self.trace)
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> Self::Shard {
        self.start_part(WorkPart::WHOLE)
    }

    fn most_parts(&self) -> u32 {
        1 << self.targets.len().max(1).ilog2()
    }

    fn divides_merged(&self) -> bool {
        true
    }

    fn start_part(&self, part: WorkPart) -> Self::Shard {
        let program = self.trace.program();
        let numbered = self.targets.iter().enumerate();
        let own = numbered.skip(part.number as usize).step_by(part.count as usize);
        own.map(|(number, targets)| {
            let prediction = Prediction::new(program, self.purposes, targets, (self.caches, self.machine));
            (number, prediction)
        })
        .collect()
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        for (_, prediction) in shard {
            prediction.take(self.trace.program(), batch);
        }
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        for (number, prediction) in from {
            match into.iter_mut().find(|(known, _)| *known == number) {
                Some((_, known)) => known.merge(prediction),
                None => into.push((number, prediction)),
            }
        }
    }

    fn finish(&self, mut shard: Self::Shard, trace: &Trace) -> Findings {
        shard.sort_by_key(|(number, _)| *number);
        let found = shard.into_iter().map(|(_, prediction)| {
            let (caches, done) = prediction.finish(trace.program());
            (SiteCounters::sum(&caches.counters()), done[0])
        });
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
        Findings::default()
    }
}
