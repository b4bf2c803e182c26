//! Whether a trace has values at all.

use std::sync::atomic::{AtomicBool, Ordering};

use trackway_trace::{Batch, Trace};

use crate::analyses::edits::Subject;
use crate::{Analysis, Findings, Order};

/// Goes over the trace once, in no order, which takes little beside a simulation.
pub(super) fn are_recorded(subject: &Subject) -> bool {
    let values = AnyValues(AtomicBool::new(false));
    crate::run(&values, subject.trace, subject.threads, subject.observer);
    values.0.into_inner()
}

struct AnyValues(AtomicBool);

impl Analysis for AnyValues {
    type Shard = ();

    fn order(&self) -> Order {
        Order::Any
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) {}

    fn take_batch(&self, (): &mut (), batch: &Batch) {
        if !batch.values.is_empty() {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn finish(&self, (): (), _: &Trace) -> Findings {
        Findings::default()
    }
}
