//! Which nests of loops a trace has.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, Piece, SiteId, Trace};

use super::collect::Collector;
use super::dependences::keeps_order;
use super::nest::Nest;
use super::plan::Plan;
use crate::analyses::edits::Subject;
use crate::model::site_counts::stores;
use crate::{Analysis, Findings, Order};

/// Nests of a loop whose dependences are looked at.
const MOST_CHECKED: u64 = 4;

/// Innermost loops whose nests may be walked in a better order, by their sites, each with a nest.
pub(super) fn nests(subject: &Subject) -> Vec<(Vec<SiteId>, Nest)> {
    let survey = Survey {
        subject,
        found: Mutex::default(),
    };
    crate::run(&survey, subject.trace, subject.threads, subject.observer);
    survey.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Survey<'s> {
    subject: &'s Subject<'s>,
    found: Mutex<Vec<(Vec<SiteId>, Nest)>>,
}

/// What is known of an innermost loop.
#[derive(Debug, Default)]
struct Loop {
    checked: u64,
    /// None: an order would break a dependence.
    best: Option<Nest>,
    is_broken: bool,
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
        let Some(plan) = Plan::of(&nest) else {
            return;
        };
        let known = self.loops.entry(self.open.clone()).or_default();
        if known.is_broken || known.checked >= MOST_CHECKED {
            return;
        }
        known.checked += 1;
        let program = survey.subject.trace.program();
        known.is_broken = !keeps_order(&nest, &plan, |access| stores(program.site(access.site).kind));
        let iterations = |nest: &Nest| nest.counts.iter().product::<u64>();
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
            known.is_broken |= found.is_broken;
            known.best = known.best.take().or(found.best);
        }
    }

    fn finish(&self, mut shard: SurveyShard, _: &Trace) -> Findings {
        shard.end(self);
        let loops = shard.loops.into_iter().filter(|(_, found)| !found.is_broken);
        let found = loops.filter_map(|(sites, found)| Some((sites, found.best?)));
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
        Findings::default()
    }
}
