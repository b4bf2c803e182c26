//! Analyses without runs.

use trackway_analysis::{Analysis, Findings, Order, WorkPart};
use trackway_trace::{Batch, Program, Trace};

/// The same analysis, but without runs.
pub struct Accesses<A>(pub A);

impl<A: Analysis> Analysis for Accesses<A> {
    type Shard = A::Shard;

    fn order(&self) -> Order {
        self.0.order()
    }

    fn start_shard(&self) -> Self::Shard {
        self.0.start_shard()
    }

    fn most_parts(&self) -> u32 {
        self.0.most_parts()
    }

    fn start_part(&self, part: WorkPart) -> Self::Shard {
        self.0.start_part(part)
    }

    fn take_program(&self, shard: &mut Self::Shard, program: &Program) {
        self.0.take_program(shard, program);
    }

    fn take_batch(&self, shard: &mut Self::Shard, batch: &Batch) {
        assert!(batch.runs.is_empty());
        self.0.take_batch(shard, batch);
    }

    fn merge(&self, into: &mut Self::Shard, from: Self::Shard) {
        self.0.merge(into, from);
    }

    fn finish(&self, shard: Self::Shard, trace: &Trace) -> Findings {
        self.0.finish(shard, trace)
    }
}
