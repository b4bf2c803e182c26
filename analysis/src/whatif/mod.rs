//! What another layout of structures, other pages or other caches would gain: the trace with rewritten addresses, run
//! through the caches again.

mod blocks;
mod plan;
mod rewrite;
mod simulations;
mod space;
mod survey;
mod tables;

use std::num::NonZeroUsize;

use trackway_trace::{Batch, Program, Trace};

use crate::cache::Caches;
use crate::engine::{Progress, RunSummary};
use crate::misses::count::stores;
use crate::misses::Measure;
use crate::structures::Structures;
use crate::{Analysis, Findings, Order};
pub use plan::{Change, Link, NewLayout, Part, PlanError};
use rewrite::{Rewriter, Target};
use simulations::Simulations;
use survey::{Purpose, Purposes, Survey};

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Question {
    pub layouts: Vec<NewLayout>,
    pub caches_before: Caches,
    pub caches_after: Caches,
    pub rank_by: Measure,
    /// Rows per table.
    pub top: usize,
}

/// Goes over the trace twice: to learn which blocks hold objects of the structures, then to simulate both layouts.
pub fn what_if(
    question: &Question,
    structures: &Structures,
    trace: &Trace,
    threads: NonZeroUsize,
    progress: Progress,
) -> (Findings, RunSummary) {
    let purposes = match question.layouts.is_empty() {
        true => Purposes::default(),
        false => {
            let survey = Survey::new(trace, structures);
            crate::run(&survey, trace, threads, progress);
            survey.purposes()
        }
    };
    let targets = question.layouts.iter().cloned();
    let targets: Vec<Target> = targets.map(|layout| Target::new(structures, layout)).collect();
    let is_target = |structure: usize| targets.iter().any(|target| target.layout.structure == structure);
    let names_target = structures
        .sites
        .iter()
        .map(|field| field.as_ref().is_some_and(|field| is_target(field.structure)));
    let names_target: Vec<bool> = names_target.collect();
    let comparison = Comparison {
        question,
        structures,
        trace,
        purposes: &purposes,
        names_target: &names_target,
        targets: &targets,
    };
    crate::run(&comparison, trace, threads, progress)
}

/// Simulates the trace as it is and as it would be.
struct Comparison<'c> {
    question: &'c Question,
    structures: &'c Structures,
    trace: &'c Trace,
    purposes: &'c Purposes,
    /// By site.
    names_target: &'c [bool],
    targets: &'c [Target],
}

struct ComparisonShard<'c> {
    before: Simulations,
    after: Simulations,
    rewriter: Rewriter<'c>,
    rewritten: Batch,
}

impl<'c> Analysis for Comparison<'c> {
    type Shard = ComparisonShard<'c>;

    /// Without new layouts, each thread may be simulated for itself.
    fn order(&self) -> Order {
        let shared = self.question.caches_before.any_shared() || self.question.caches_after.any_shared();
        match (self.targets.is_empty(), shared) {
            (true, false) => Order::PerStream,
            (true, true) => Order::AcrossThreads,
            (false, _) => survey::order_of(self.trace),
        }
    }

    fn start_shard(&self) -> ComparisonShard<'c> {
        let program = self.trace.program();
        ComparisonShard {
            before: Simulations::new(&self.question.caches_before),
            after: Simulations::new(&self.question.caches_after),
            rewriter: Rewriter::new(program, self.purposes, self.targets, self.names_target),
            rewritten: Batch::default(),
        }
    }

    fn take_program(&self, shard: &mut ComparisonShard<'c>, program: &Program) {
        let sites: Vec<bool> = program.sites.iter().map(|site| stores(site.kind)).collect();
        // The last ones load and store pointers to split-off parts.
        let with_pointers = sites.iter().copied().chain([false, true]).collect();
        shard.before.take_sites(sites);
        shard.after.take_sites(with_pointers);
    }

    fn take_batch(&self, shard: &mut ComparisonShard<'c>, batch: &Batch) {
        shard.before.take(batch);
        if self.targets.is_empty() {
            return shard.after.take(batch);
        }
        let program = self.trace.program();
        let after = &mut shard.after;
        let mut pass_on = |rewritten: &Batch| after.take(rewritten);
        let (rewriter, rewritten) = (&mut shard.rewriter, &mut shard.rewritten);
        rewriter.rewrite(program, batch, rewritten, &mut pass_on);
    }

    fn merge(&self, into: &mut ComparisonShard<'c>, from: ComparisonShard<'c>) {
        into.before.merge(from.before);
        into.after.merge(from.after);
        if into.rewriter.done == rewrite::Rewritten::default() {
            into.rewriter = from.rewriter;
        }
    }

    fn finish(&self, shard: ComparisonShard<'c>, _: &Trace) -> Findings {
        let (before, after) = (shard.before.finish(), shard.after.finish());
        tables::Presentation {
            comparison: self,
            before: before.counters(),
            after: after.counters(),
            totals: [before.totals(), after.totals()],
            done: shard.rewriter.done,
        }
        .findings()
    }
}

/// Blocks of the structure, and those of several kinds of objects.
fn count_blocks(purposes: &Purposes, structure: usize) -> (u64, u64) {
    let mut arrays = 0;
    let mut mixed = 0;
    for purpose in purposes.all() {
        match purpose {
            Purpose::Array { structure: known, .. } => arrays += u64::from(*known as usize == structure),
            Purpose::Mixed => mixed += 1,
            Purpose::Unknown => {}
        }
    }
    (arrays, mixed)
}
