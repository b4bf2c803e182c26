//! Which nests of loops a trace has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, Piece, SiteId, Trace};

use super::collect::Collector;
use super::dependences::keeps_order;
use super::nest::{Nest, NestAccess};
use super::plan::{Change, Plan};
use crate::analyses::edits::Subject;
use crate::model::site_counts::stores;
use crate::{Analysis, Findings, Order};

/// Nests of a loop whose dependences are looked at.
const MOST_CHECKED: u64 = 4;
const CHANGES: [Change; 2] = [Change::Interchange, Change::Blocks];

/// Innermost loops whose nests may be walked in a better order.
pub(super) fn nests(subject: &Subject) -> Vec<FoundLoop> {
    let survey = Survey {
        subject,
        found: Mutex::default(),
    };
    crate::run(&survey, subject.trace, subject.threads, subject.observer);
    survey.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Survey<'s> {
    subject: &'s Subject<'s>,
    found: Mutex<Vec<FoundLoop>>,
}

/// An innermost loop, and what may be done with its nests.
#[derive(Debug, Clone)]
pub(super) struct FoundLoop {
    pub sites: Vec<SiteId>,
    pub nest: Nest,
    pub changes: Vec<Change>,
}

/// What is known of an innermost loop.
#[derive(Debug, Default)]
struct Loop {
    checked: u64,
    /// The largest nest.
    best: Option<Nest>,
    /// Changes that would break a dependence, or that speak for nothing.
    broken: BTreeSet<Change>,
}

#[derive(Debug, Default)]
struct SurveyShard {
    collector: Collector,
    open: Vec<SiteId>,
    loops: BTreeMap<Vec<SiteId>, Loop>,
}

impl SurveyShard {
    fn take_nests(&mut self, nests: Vec<Nest>, survey: &Survey) {
        for nest in nests {
            self.take_nest(nest, survey);
        }
    }

    fn take_nest(&mut self, nest: Nest, survey: &Survey) {
        let plans = CHANGES.map(|change| Plan::of(&nest, change));
        if plans.iter().all(Option::is_none) {
            return;
        }
        let known = self.loops.entry(self.open.clone()).or_default();
        if known.checked >= MOST_CHECKED {
            return;
        }
        known.checked += 1;
        let program = survey.subject.trace.program();
        for (change, plan) in CHANGES.into_iter().zip(&plans) {
            let stores = |access: &NestAccess| stores(program.site(access.site).kind);
            if plan.as_ref().is_none_or(|plan| !keeps_order(&nest, plan, stores)) {
                known.broken.insert(change);
            }
        }
        let iterations = |nest: &Nest| nest.iterations();
        if known
            .best
            .as_ref()
            .is_none_or(|best| iterations(&nest) > iterations(best))
        {
            known.best = Some(nest);
        }
    }

    fn end(&mut self, survey: &Survey) {
        let (nests, _) = self.collector.end();
        self.take_nests(nests, survey);
        self.open.clear();
    }
}

impl Analysis for Survey<'_> {
    type Shard = SurveyShard;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> SurveyShard {
        SurveyShard::default()
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    for index in range {
                        let access = (batch.site[index], batch.address[index], batch.length(index));
                        if let Some((nests, _)) = shard.collector.access(access) {
                            shard.take_nests(nests, self);
                            shard.open.clear();
                        }
                    }
                }
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    if !lanes.iter().map(|lane| lane.site).eq(shard.open.iter().copied()) {
                        shard.end(self);
                        shard.open.extend(lanes.iter().map(|lane| lane.site));
                    }
                    let nests = shard.collector.run(lanes, run.count);
                    shard.take_nests(nests, self);
                }
            }
        }
    }

    fn merge(&self, into: &mut SurveyShard, mut from: SurveyShard) {
        from.end(self);
        for (sites, found) in from.loops {
            let known = into.loops.entry(sites).or_default();
            known.broken.extend(found.broken);
            known.best = known.best.take().or(found.best);
        }
    }

    fn finish(&self, mut shard: SurveyShard, _: &Trace) -> Findings {
        shard.end(self);
        let found = shard.loops.into_iter().filter_map(|(sites, found)| {
            let changes = CHANGES
                .into_iter()
                .filter(|change| !found.broken.contains(change));
            Some(FoundLoop {
                sites,
                changes: changes.collect(),
                nest: found.best?,
            })
        });
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
        Findings::default()
    }
}
