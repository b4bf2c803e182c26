//! Hardware events around regions: what was measured stands for all entries.

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use testing::counted_scene::kernel;
use testing::file::FileBytes;
use trackway_analysis::regions::{Ranked, Regions};
use trackway_analysis::site_counts::Measure;
use trackway_report::{Table, Value};
use trackway_trace::{ChunkFields, ChunkKind, Codec, ImageCounters, NodeCounts, Trace};

const ALL: Ranked = Ranked {
    by: Measure::Bytes,
    top: usize::MAX,
};

/// What `testing/counted_scene.rs` describes.
fn scene() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/counts-v2.trackway");
    Trace::open(&path).unwrap()
}

fn row(table: &Table, row: usize) -> Vec<String> {
    let text = |value| match value {
        Value::None => "-".into(),
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Signed(_) => panic!("no column of changes"),
    };
    let columns = table.columns();
    columns.map(|column| text(column.value(row))).collect()
}

fn hardware(trace: &Trace) -> Option<Table> {
    Regions::read(trace).table(trace, "region_hardware", ALL)
}

/// In the first thread, two of four entries of `solve` were measured; in the second, none. Measurements of an entry
/// already include the entries within it.
#[test]
fn measured_entries_stand_for_all() {
    let table = hardware(&scene()).unwrap();
    let columns: Vec<&str> = table.columns().map(|column| column.name()).collect();
    let expected = [
        "region",
        "entries",
        "measured_entries",
        "unknown_entries",
        "cycles",
        "instructions",
        "l1d_misses",
        "instructions_per_cycle",
        "l1d_misses_per_1000_instructions",
    ];
    assert_eq!(columns, expected);
    let solve = ["solve", "7", "2", "2", "12000", "18000", "180", "1.5", "10"];
    assert_eq!(row(&table, 0), solve);
    let halo = ["halo", "8", "2", "0", "266", "133", "0", "0.5", "0"];
    assert_eq!(row(&table, 1), halo);
}

/// A trace whose start chunk names these events.
fn trace_of(events: &str, nodes: &[NodeCounts]) -> Trace {
    let mut file = FileBytes::new(Codec::None);
    if !events.is_empty() {
        let start = format!("{{\"hardware_events\": {events}}}");
        file.chunk(&ChunkFields::new(ChunkKind::Start), start.as_bytes());
    }
    file.counting_module(0, 1, &kernel(), ImageCounters { image: 1, first: 0 });
    for (sequence, node) in (0..).zip(nodes) {
        file.node(0, sequence, 1000, node);
    }
    file.open()
}

fn node(hardware_entries: u64, sum: u64) -> NodeCounts {
    NodeCounts {
        node: 1,
        image: 1,
        entries: 4,
        name: "solve".into(),
        measured_entries: hardware_entries,
        hardware_entries,
        hardware: [sum; 4],
        ..NodeCounts::default()
    }
}

#[test]
fn without_names_or_numbers_there_is_no_table() {
    assert!(hardware(&trace_of("", &[node(1, 2)])).is_none());
    assert!(hardware(&trace_of("[]", &[node(1, 2)])).is_none());
    assert!(hardware(&trace_of("[\"cycles\"]", &[node(0, 0)])).is_none());
    let unmeasured = |events: &str, hardware_entries| {
        let trace = trace_of(events, &[node(hardware_entries, 0)]);
        Regions::read(&trace).unmeasured_events().map(<[String]>::to_vec)
    };
    assert_eq!(unmeasured("[\"cycles\"]", 0), Some(vec!["cycles".to_owned()]));
    assert_eq!(unmeasured("[\"cycles\"]", 1), None);
    assert_eq!(unmeasured("[]", 0), None);
}

#[test]
fn events_of_other_versions_have_numbers_for_names() {
    let events = "[\"tlb-misses\", \"instructions\", \"instructions\", \"region\", \"cycles\"]";
    let table = hardware(&trace_of(events, &[node(u64::MAX, u64::MAX), node(1, 1)])).unwrap();
    let columns: Vec<&str> = table.columns().map(|column| column.name()).collect();
    assert_eq!(columns[4..], ["event_1", "instructions", "event_3", "event_4"]);
    assert_eq!(row(&table, 0)[4], u64::MAX.to_string());
}
