//! How exact the order is on which an analysis across threads rests.

use trackway_report::{Table, TableBuilder};
use trackway_trace::{Exactness, Trace, INTERVALS_NS};

/// `docs/verbs/sharing.md` defines the columns.
pub(crate) fn order_table(exactness: &Exactness, trace: &Trace) -> Table {
    let modules = &trace.program().modules;
    let without_order = modules.iter().filter(|module| !module.order).count();
    let mut builder = TableBuilder::new("order", "Order between threads", &[()])
        .count("order_points", |()| exactness.order_points)
        .count(("backward_points", "points against time"), |()| {
            exactness.backward_points
        })
        .text("clock", |()| clock(trace))
        .count("modules_without_order", |()| without_order);
    for (limit, accesses) in INTERVALS_NS.into_iter().zip(exactness.within) {
        let (name, title) = interval_name(limit);
        builder = builder.share((name, title), |()| (accesses, exactness.accesses));
    }
    builder.as_record().build()
}

fn interval_name(limit_ns: u64) -> (String, String) {
    let (number, unit) = match limit_ns {
        1_000_000.. => (limit_ns / 1_000_000, "ms"),
        _ => (limit_ns / 1000, "us"),
    };
    (
        format!("within_{number}_{unit}"),
        format!("accesses known to {number} {unit}"),
    )
}

fn clock(trace: &Trace) -> &'static str {
    match &trace.meta().clock {
        None => "unknown",
        Some(clock) if clock.exact => "the same on all processors",
        Some(_) => "may differ between processors",
    }
}
