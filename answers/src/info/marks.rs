//! When recording was on, and what was marked.

use trackway_report::{Table, TableBuilder};
use trackway_trace::{MarkInfo, MarkKind, Trace, Window};

/// Rows of a table at most: recording in bursts makes many windows.
const MOST_ROWS: usize = 100;

/// Tables of the windows and of the other marks, as far as there are any.
pub fn tables(trace: &Trace) -> impl Iterator<Item = Table> {
    let begin_ns = trace.span_ns().0;
    let windows = trace.windows();
    let is_shown = |mark: &&MarkInfo| !matches!(mark.kind, MarkKind::Opens | MarkKind::Closes);
    let marks: Vec<&MarkInfo> = trace.marks().iter().filter(is_shown).collect();
    let windows = (!windows.is_empty()).then(|| windows_table(&windows, begin_ns));
    let marks = (!marks.is_empty()).then(|| marks_table(&marks, begin_ns));
    windows.into_iter().chain(marks)
}

fn windows_table(windows: &[Window], begin_ns: u64) -> Table {
    TableBuilder::new("windows", "Windows", &windows[..windows.len().min(MOST_ROWS)])
        .total_rows(windows.len())
        .number("window", |window| window.number)
        .count(("begin_us", "from, µs"), |window| {
            window.begin_ns.saturating_sub(begin_ns) / 1000
        })
        .count(("duration_us", "for, µs"), |window| window.duration_ns() / 1000)
        .text("cause", |window| window.cause.clone())
        .number("pid", |window| window.pid)
        .number("tid", |window| window.tid)
        .yes_or_no("closed", |window| window.is_closed)
        .build()
}

fn marks_table(marks: &[&MarkInfo], begin_ns: u64) -> Table {
    TableBuilder::new("marks", "Marks", &marks[..marks.len().min(MOST_ROWS)])
        .total_rows(marks.len())
        .count(("time_us", "at, µs"), |mark| {
            mark.ns.saturating_sub(begin_ns) / 1000
        })
        .text("kind", |mark| mark.kind.name().to_owned())
        .text("text", |mark| mark.text.clone().unwrap_or_default())
        .text("cause", |mark| mark.cause.clone())
        .number("pid", |mark| mark.pid)
        .number("tid", |mark| mark.tid)
        .build()
}
