//! Analyses that share a pass, but nothing else.

use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, Program, Trace};

use crate::{Analysis, Findings, Order, WorkPart};

/// Keeps what an analysis finds from being joined to what others find in the same pass.
#[derive(Debug)]
pub struct SeparateFindings<A> {
    analysis: A,
    findings: Mutex<Findings>,
}

impl<A> SeparateFindings<A> {
    pub fn new(analysis: A) -> SeparateFindings<A> {
        SeparateFindings {
            analysis,
            findings: Mutex::default(),
        }
    }

    /// What it found in the pass; nothing before.
    pub fn into_findings(self) -> Findings {
        self.into_parts().1
    }

    /// The analysis, and what it found in the pass.
    pub fn into_parts(self) -> (A, Findings) {
        let findings = self.findings.into_inner();
        (self.analysis, findings.unwrap_or_else(PoisonError::into_inner))
    }
}

impl<A: Analysis> Analysis for SeparateFindings<A> {
    type Shard = A::Shard;

    fn order(&self) -> Order {
        self.analysis.order()
    }

    fn takes_runs(&self) -> bool {
        self.analysis.takes_runs()
    }

    fn follows_blocks(&self) -> bool {
        self.analysis.follows_blocks()
    }

    fn start_shard(&self) -> Self::Shard {
        self.analysis.start_shard()
    }

    fn most_parts(&self) -> u32 {
        self.analysis.most_parts()
    }

    fn least_parts(&self) -> u32 {
        self.analysis.least_parts()
    }

    fn divides_merged(&self) -> bool {
        self.analysis.divides_merged()
    }

    fn start_part(&self, part: WorkPart) -> Self::Shard {
        self.analysis.start_part(part)
    }

    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        self.analysis.take_program(shard, program);
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        self.analysis.take_batch(shard, batch);
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        self.analysis.merge(into, from);
    }

    /// Nothing: what was found is kept.
    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings {
        let found = self.analysis.finish(shard, trace);
        *self.findings.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Findings::default()
    }
}
