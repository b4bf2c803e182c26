//! Predicts the gain of another layout of structures, other pages or other caches. The trace runs through the caches
//! again, with rewritten addresses.

mod blocks;
mod headline;
mod plan;
mod prediction;
mod rewrite;
mod simulations;
mod space;
mod survey;
mod tables;
mod trial;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, Program, Trace};

use crate::engine::{Observer, RunSummary};
use crate::model::cache::Caches;
use crate::model::site_counts::stores;
use crate::model::site_counts::{Measure, SiteCounters};
use crate::model::structures::Structures;
use crate::model::time::{Machine, TimedSites};
use crate::{Analysis, Findings, Order};
pub(super) use blocks::{static_blocks, Blocks, Change as BlockChange, Numbering};
pub use plan::{Change, Link, NewLayout, ObjectPart, PlanError};
use prediction::Prediction;
pub use rewrite::Rewritten;
use rewrite::Targets;
pub(super) use simulations::Simulations;
pub(super) use survey::{order_of, purposes, Purpose, Purposes};
use tables::Presentation;
pub use trial::{try_each, Impossible, Trial};

/// A prediction stands for the program if at least this part of the accesses to a structure was rewritten.
pub const ENOUGH: f64 = 0.9;

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Question {
    pub layouts: Vec<NewLayout>,
    pub caches_before: Caches,
    pub caches_after: Caches,
    /// The machine whose time is estimated, if any.
    pub machine_before: Option<Arc<Machine>>,
    pub machine_after: Option<Arc<Machine>>,
    pub rank_by: Measure,
    /// Rows per table.
    pub top: usize,
}

/// What came of a question.
pub struct Answer {
    pub findings: Findings,
    pub summary: RunSummary,
    /// Counters of the whole program after the change.
    pub after: SiteCounters,
    /// What was rewritten for each layout of the question.
    pub rewritten: Vec<Rewritten>,
}

/// Goes over the trace twice: to learn which blocks hold objects of the structures, then to simulate both layouts.
pub fn what_if(
    question: &Question,
    structures: &Structures,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Answer {
    let purposes = match question.layouts.is_empty() {
        true => Purposes::default(),
        false => survey::purposes(structures, trace, threads, observer),
    };
    let comparison = Comparison {
        question,
        structures,
        trace,
        purposes: &purposes,
        targets: &Targets::new(structures, &question.layouts),
        rewritten: Mutex::default(),
        after: Mutex::default(),
    };
    let (findings, summary) = crate::run(&comparison, trace, threads, observer);
    let rewritten = comparison.rewritten.into_inner();
    let after = comparison.after.into_inner();
    Answer {
        findings,
        summary,
        after: after.unwrap_or_else(PoisonError::into_inner),
        rewritten: rewritten.unwrap_or_else(PoisonError::into_inner),
    }
}

/// Simulates the trace as it is and as it would be.
struct Comparison<'c> {
    question: &'c Question,
    structures: &'c Structures,
    trace: &'c Trace,
    purposes: &'c Purposes,
    targets: &'c Targets,
    /// What the finished comparison rewrote.
    rewritten: Mutex<Vec<Rewritten>>,
    after: Mutex<SiteCounters>,
}

struct ComparisonShard<'c> {
    before: Simulations,
    after: Prediction<'c>,
}

impl<'c> Analysis for Comparison<'c> {
    type Shard = ComparisonShard<'c>;

    /// Without new layouts, each thread may be simulated by itself.
    fn order(&self) -> Order {
        let question = self.question;
        let machines = [&question.machine_before, &question.machine_after]
            .into_iter()
            .flatten();
        let caches = [&question.caches_before, &question.caches_after].into_iter();
        let shared = caches
            .chain(machines.map(|machine| &machine.caches))
            .any(Caches::any_shared);
        match (self.targets.is_empty(), shared) {
            (true, false) => Order::PerStream,
            (true, true) => Order::AcrossThreads,
            (false, _) => survey::order_of(self.trace),
        }
    }

    fn follows_blocks(&self) -> bool {
        !self.targets.is_empty()
    }

    fn start_shard(&self) -> ComparisonShard<'c> {
        let program = self.trace.program();
        let question = self.question;
        let after = (&question.caches_after, question.machine_after.as_ref());
        ComparisonShard {
            before: Simulations::new(&question.caches_before, question.machine_before.as_ref()),
            after: Prediction::new(program, self.purposes, self.targets, after),
        }
    }

    fn take_program(&self, shard: &mut ComparisonShard<'c>, program: &Program) {
        shard
            .before
            .take_sites(sites(program), || TimedSites::of(program));
    }

    fn take_batch(&self, shard: &mut ComparisonShard<'c>, batch: &Batch) {
        shard.before.take(batch);
        shard.after.take(self.trace.program(), batch);
    }

    fn merge(&self, into: &mut ComparisonShard<'c>, from: ComparisonShard<'c>) {
        into.before.merge(from.before);
        into.after.merge(from.after);
    }

    fn finish(&self, shard: ComparisonShard<'c>, trace: &Trace) -> Findings {
        let before = shard.before.finish(sites(trace.program()));
        let (after, done) = shard.after.finish(trace.program());
        self.rewritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&done);
        *self.after.lock().unwrap_or_else(PoisonError::into_inner) = SiteCounters::sum(&after.counters());
        Presentation {
            comparison: self,
            before: before.counters(),
            after: after.counters(),
            totals: [before.totals(), after.totals()],
            done,
        }
        .findings()
    }
}

/// Whether each site stores.
fn sites(program: &Program) -> Vec<bool> {
    program.sites.iter().map(|site| stores(site.kind)).collect()
}

/// Blocks of several kinds of objects.
fn mixed_blocks(purposes: &Purposes) -> u64 {
    let purposes = purposes.all().iter();
    purposes.filter(|purpose| **purpose == Purpose::Mixed).count() as u64
}
