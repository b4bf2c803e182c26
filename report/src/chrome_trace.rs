//! The JSON trace format of Chrome, which Perfetto and speedscope read.

use serde_json::{json, Value as Json};

use crate::{Column, Table, Unit, Value};

/// `slices`: a table with `process`, `stream`, `function`, `begin_ns`, `duration_ns`. `time_bins`: one with `process`,
/// `stream`, `begin_ns`; each further number is a counter of the thread. None if a column is missing.
pub fn to_chrome_trace(program: &str, slices: &Table, time_bins: &Table) -> Option<String> {
    let mut events = names(program, slices, time_bins)?;
    add_slices(&mut events, slices)?;
    add_counters(&mut events, time_bins)?;
    let lines: Vec<String> = events.iter().map(Json::to_string).collect();
    Some(format!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n",
        lines.join(",\n")
    ))
}

fn names(program: &str, slices: &Table, time_bins: &Table) -> Option<Vec<Json>> {
    let mut threads = std::collections::BTreeSet::new();
    for table in [slices, time_bins] {
        let (process, stream) = (table.column("process")?, table.column("stream")?);
        threads.extend((0..table.row_count()).map(|row| (integer(process, row), integer(stream, row))));
    }
    let processes: std::collections::BTreeSet<u64> = threads.iter().map(|(process, _)| *process).collect();
    let process =
        |pid: &u64| json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": program}});
    let thread = |(pid, tid): &(u64, u64)| json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": format!("stream {tid}")}});
    Some(
        processes
            .iter()
            .map(process)
            .chain(threads.iter().map(thread))
            .collect(),
    )
}

fn add_slices(events: &mut Vec<Json>, table: &Table) -> Option<()> {
    let (process, stream) = (table.column("process")?, table.column("stream")?);
    let (begin, duration) = (table.column("begin_ns")?, table.column("duration_ns")?);
    let function = table.column("function")?;
    events.extend((0..table.row_count()).map(|row| {
        let name = match function.value(row) {
            Value::Text(name) => name,
            _ => "",
        };
        json!({
            "ph": "X", "cat": "function", "name": name,
            "pid": integer(process, row), "tid": integer(stream, row),
            "ts": microseconds(integer(begin, row)), "dur": microseconds(integer(duration, row)),
        })
    }));
    Some(())
}

/// Adds counters. A counter's track belongs to its process, so threads are distinguished by their names.
fn add_counters(events: &mut Vec<Json>, table: &Table) -> Option<()> {
    let (process, stream) = (table.column("process")?, table.column("stream")?);
    let begin = table.column("begin_ns")?;
    let counters = table.columns().filter(|column| column.unit() == Unit::Count);
    for column in counters {
        events.extend((0..table.row_count()).map(|row| {
            let name = format!("{} of stream {}", column.title(), integer(stream, row));
            json!({
                "ph": "C", "name": name, "pid": integer(process, row),
                "ts": microseconds(integer(begin, row)), "args": {column.name(): integer(column, row)},
            })
        }));
    }
    Some(())
}

fn integer(column: Column, row: usize) -> u64 {
    column.integer(row).unwrap_or(0)
}

/// Microseconds are the format's unit.
fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableBuilder;

    #[test]
    fn slices_and_counters_have_their_thread() {
        let slices = TableBuilder::new("slices", "", &[("main", 1500u64, 2000u64)])
            .number(("process", ""), |_| 7)
            .number(("stream", ""), |_| 2)
            .text(("function", ""), |row| row.0)
            .number(("begin_ns", ""), |row| row.1)
            .number(("duration_ns", ""), |row| row.2)
            .build();
        let bins = TableBuilder::new("time_bins", "", &[(0u64, 5u64)])
            .number(("process", ""), |_| 7)
            .number(("stream", ""), |_| 2)
            .number(("begin_ns", ""), |row| row.0)
            .count("accesses", |row| row.1)
            .build();
        let text = to_chrome_trace("./prog", &slices, &bins).unwrap();
        let json: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(
            json["traceEvents"],
            json!([
                {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "./prog"}},
                {"ph": "M", "name": "thread_name", "pid": 7, "tid": 2, "args": {"name": "stream 2"}},
                {"ph": "X", "cat": "function", "name": "main", "pid": 7, "tid": 2, "ts": 1.5, "dur": 2.0},
                {"ph": "C", "name": "accesses of stream 2", "pid": 7, "ts": 0.0, "args": {"accesses": 5}},
            ])
        );
        assert_eq!(to_chrome_trace("", &bins, &slices), None);
    }
}
