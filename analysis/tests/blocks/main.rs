//! Maps and memory of random traces equal those of a naive reference.

mod maps;
mod memories;
mod reference;
mod scene;
#[path = "../../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::num::NonZeroUsize;
use std::sync::Arc;

use trackway_analysis::blocks::Origins;
use trackway_analysis::moments::ChunkTimes;
use trackway_analysis::{run, Analysis, Findings};
use trackway_report::{Column, Table, Value};
use trackway_trace::{Decoder, Trace};

fn times(trace: &Trace) -> ChunkTimes {
    ChunkTimes::count(trace, NonZeroUsize::MIN.saturating_add(1), &|_, _| ())
}

fn undivided(trace: &Trace) -> Arc<Origins> {
    Arc::new(Origins::none(trace.program()))
}

fn findings<A: Analysis>(analysis: &A, trace: &Trace) -> Findings {
    let (findings, summary) = run(analysis, trace, NonZeroUsize::MIN, &|_, _| ());
    assert!(summary.damage.is_empty(), "{:?}", summary.damage);
    findings
}

fn table<'f>(findings: &'f Findings, name: &str) -> &'f Table {
    findings.tables.iter().find(|table| table.name() == name).unwrap()
}

fn integer(table: &Table, name: &str, row: usize) -> u64 {
    match column(table, name).value(row) {
        Value::Integer(number) => number,
        other => panic!("{name}: {other:?}"),
    }
}

fn text<'t>(table: &'t Table, name: &str, row: usize) -> &'t str {
    match column(table, name).value(row) {
        Value::Text(text) => text,
        other => panic!("{name}: {other:?}"),
    }
}

fn column<'t>(table: &'t Table, name: &str) -> Column<'t> {
    table.column(name).unwrap_or_else(|| panic!("no column {name}"))
}

/// Analyses of one thread take runs: there must be some.
#[test]
fn scenes_have_runs() {
    let noise: Vec<u8> = (0..40_000u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let count = |start: usize| -> usize {
        let trace = scene::trace(&noise[start..start + 1000]);
        let mut decoder = Decoder::new(&trace).with_runs();
        let chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
        let runs_of = |chunk| {
            let mut batches = decoder.decode(chunk).unwrap();
            let mut runs = 0;
            while let Some(batch) = batches.next_batch().unwrap() {
                runs += batch.runs.len();
            }
            runs
        };
        match trace.streams().len() {
            1 => chunks.map(runs_of).sum(),
            _ => 0,
        }
    };
    assert!((0..39_000).step_by(1000).map(count).sum::<usize>() > 100);
}

/// The smallest power of two of which fewer than `limit` + 1 cover what lies between two times.
fn bin_width(first_ns: u64, last_ns: u64, limit: u64) -> u64 {
    let mut width = 1;
    while (last_ns - first_ns) / width >= limit {
        width *= 2;
    }
    width
}
