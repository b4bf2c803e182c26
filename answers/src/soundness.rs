//! What numbers from a trace are based on, and what makes them incomplete.

use trackway_analysis::{Findings, RunSummary};
use trackway_report::{counted, grouped, Report, Table, TableBuilder};
use trackway_trace::{GapReason, Trace};

use crate::slice;

/// A report on findings, with what they are based on.
pub fn report(
    trace: &Trace,
    findings: Findings,
    summary: &RunSummary,
    warnings_of_analysis: Vec<String>,
) -> Report {
    let mut warnings = self::warnings(trace);
    warnings.extend(warnings_of_analysis);
    warnings.extend(summary.damage.iter().map(ToString::to_string));
    let mut report = findings.into_report(warnings);
    report.tables.push(audit(trace, summary));
    report
}

/// What of the trace the numbers are about and in which windows it was recorded, unless it is all of a trace that was
/// recorded as a whole.
pub fn extent(trace: &Trace) -> Option<Table> {
    if slice::description(trace).is_none() && slice::windows(trace).is_none() {
        return None;
    }
    Some(
        with_extent(
            TableBuilder::new("extent", "What was looked at", &[()]),
            trace,
            None,
        )
        .as_record()
        .build(),
    )
}

fn with_extent<'r>(
    mut builder: TableBuilder<'r, ()>,
    trace: &Trace,
    accesses: Option<u64>,
) -> TableBuilder<'r, ()> {
    if let Some(description) = slice::description(trace) {
        let accesses = accesses.map_or(String::new(), |accesses| {
            format!(": {}", counted_accesses(accesses))
        });
        builder = builder.text("slice", |()| format!("{description}{accesses}"));
    }
    if let Some(windows) = slice::windows(trace) {
        builder = builder.text("recorded", |()| windows.clone());
    }
    match estimates(trace) {
        Some(estimates) => builder.text(("estimated", "estimated of the whole run"), move |()| estimates),
        None => builder,
    }
}

/// What is an estimate of the whole run, if the trace was recorded in bursts.
fn estimates(trace: &Trace) -> Option<&'static str> {
    let windows = trace.windows();
    let has = |cause: &str| windows.iter().any(|window| window.cause == cause);
    match (has("burst"), has("even burst")) {
        (true, _) => Some("only shares with bounds (at least, at most: 95 %); all else is of the windows"),
        (_, true) => Some("nothing, since bursts at even distances have no bounds; all is of the windows"),
        _ => None,
    }
}

fn counted_accesses(accesses: u64) -> String {
    match accesses {
        1 => "1 access".into(),
        _ => format!("{} accesses", grouped(accesses)),
    }
}

/// How much of the trace the numbers cover.
fn audit(trace: &Trace, summary: &RunSummary) -> Table {
    let dropped: u64 = trace.gaps().iter().map(|gap| gap.dropped_buffers).sum();
    let damaged = trace.damage().len() + summary.damage.len();
    let mut builder = with_extent(
        TableBuilder::new("trace", "Trace", &[()]),
        trace,
        Some(summary.accesses),
    )
    .count("streams", |()| trace.streams().len())
    .count(("chunks", "chunks decoded"), |()| summary.chunks)
    .count(("accesses", "accesses decoded"), |()| summary.accesses);
    // In other traces libraries' accesses are like all others, or missing.
    if trace.program().sites.iter().any(|site| site.kind.is_by_library()) {
        builder = builder.share(("by_library", "by library functions"), |()| {
            (summary.by_library, summary.accesses)
        });
    }
    builder
        .count(("uncertain_accesses", "of them uncertain"), |()| {
            summary.uncertain_accesses
        })
        .count(("events", "other events"), |()| summary.events)
        .count("gaps", |()| trace.gaps().len())
        .count("dropped_buffers", |()| dropped)
        .count("damaged_parts", |()| damaged)
        .yes_or_no(("complete", "ended well"), |()| trace.end().is_some())
        .as_record()
        .build()
}

/// Everything that readers of numbers from this trace have to know: what was lost, and whether there is
/// instrumentation.
pub fn warnings(trace: &Trace) -> Vec<String> {
    let mut warnings = losses(trace);
    if trace.program().sites.is_empty() && !trace.holds_only_allocations() && !trace.is_sampled() {
        warnings.push(
            "the program holds no instrumentation; build it with `trackway cc` or `trackway c++`".into(),
        );
    }
    warnings
}

/// Losses of the trace: an unclean end, damage, gaps.
pub fn losses(trace: &Trace) -> Vec<String> {
    let mut warnings = Vec::new();
    if trace.end().is_none() {
        warnings.push("the recording has no end: the recorder was stopped or the file was cut".into());
    }
    warnings.extend(trace.damage().iter().map(|damage| damage.error.to_string()));
    warnings.extend(gaps(trace));
    warnings
}

/// One line for each reason that records are missing.
fn gaps(trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in [
        GapReason::RingFull,
        GapReason::WriteFailed,
        GapReason::RecordingStopped,
        GapReason::Damaged,
    ] {
        let of_reason = || trace.gaps().iter().filter(|gap| gap.reason == reason);
        push_gaps(
            &mut lines,
            of_reason().count(),
            of_reason().map(|gap| gap.dropped_buffers).sum(),
            name(reason),
        );
    }
    let others = || {
        trace
            .gaps()
            .iter()
            .filter(|gap| matches!(gap.reason, GapReason::Other(_)))
    };
    let unknown = "for a reason that this version does not know";
    push_gaps(
        &mut lines,
        others().count(),
        others().map(|gap| gap.dropped_buffers).sum(),
        unknown,
    );
    lines
}

fn push_gaps(lines: &mut Vec<String>, gaps: usize, buffers: u64, reason: &str) {
    if gaps > 0 {
        lines.push(format!(
            "records are missing in {} ({}) {reason}",
            counted(gaps as u64, "place"),
            counted(buffers, "buffer")
        ));
    }
}

fn name(reason: GapReason) -> &'static str {
    match reason {
        GapReason::RingFull => "because the ring was full; record with --on-full=wait or more buffers",
        GapReason::WriteFailed => "because the trace could not be written",
        GapReason::RecordingStopped => {
            "because recording ended before the program, or a thread was cancelled within a record"
        }
        GapReason::Damaged => {
            "because the program overwrote memory that it shares with the recorder; look for a wild pointer"
        }
        GapReason::Other(_) => "for another reason",
    }
}
