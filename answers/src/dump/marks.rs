//! The marks of a trace, a line each.

use std::io::Write;

use serde_json::{json, Value};
use trackway_report::printable;
use trackway_trace::{MarkInfo, Trace};

use super::DumpArguments;
use crate::failure::Failure;

/// Writes the marks of the times that are looked at, in the order of time.
pub fn write(out: &mut impl Write, arguments: &DumpArguments, trace: &Trace) -> Result<(), Failure> {
    let times = trace.slice().and_then(|slice| slice.times.as_ref());
    let is_inside =
        |mark: &MarkInfo| times.is_none_or(|times| times.iter().any(|range| range.contains(&mark.ns)));
    let marks = trace.marks().iter().filter(|mark| is_inside(mark));
    let count = arguments.count.unwrap_or(u64::MAX);
    for mark in marks.take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let line = match arguments.json {
            true => as_json(mark).to_string(),
            false => as_text(mark),
        };
        writeln!(out, "{line}").map_err(Failure::writing)?;
    }
    Ok(())
}

/// Time, kind, number of the window, cause, process, thread, text; - for what is unknown.
fn as_text(mark: &MarkInfo) -> String {
    let number = |number: Option<u64>| number.map_or("-".into(), |number| number.to_string());
    format!(
        "{:>16} {:<8} {:>6} {:<10} {:>8} {:>8} {}",
        mark.ns,
        printable(mark.kind.name()),
        number(mark.window),
        printable(&mark.cause),
        number(mark.pid.map(u64::from)),
        number(mark.tid.map(u64::from)),
        printable(mark.text.as_deref().unwrap_or("-")),
    )
}

fn as_json(mark: &MarkInfo) -> Value {
    json!({
        "mark": mark.kind.name(),
        "time_ns": mark.ns,
        "window": mark.window,
        "cause": mark.cause,
        "pid": mark.pid,
        "tid": mark.tid,
        "text": mark.text,
    })
}
