//! Regions of programs that count, against numbers worked out by hand.

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use testing::counted_scene::kernel;
use testing::file::FileBytes;
use trackway_analysis::regions::{Ranked, Regions, TABLES};
use trackway_analysis::site_counts::Measure;
use trackway_report::{Table, Value};
use trackway_trace::{
    ChunkFields, ChunkKind, Codec, ImageCounters, NodeCounts, Trace, COUNTED_ENTRY, WHOLE_PROGRAM,
};

const ALL: Ranked = Ranked {
    by: Measure::Bytes,
    top: usize::MAX,
};

/// What `testing/counted_scene.rs` describes.
fn scene() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/counts-v2.trackway");
    let trace = Trace::open(&path).unwrap();
    assert!(trace.damage().is_empty());
    trace
}

fn table(trace: &Trace, name: &str, ranked: Ranked) -> Table {
    let regions = Regions::read(trace);
    assert!(regions.damage().is_empty());
    regions.table(trace, name, ranked).unwrap()
}

/// The cells of some columns, row by row.
fn cells(table: &Table, columns: &[&str]) -> Vec<String> {
    let text = |value| match value {
        Value::None => "-".into(),
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:.4}"),
        Value::Signed(_) => panic!("no column of changes"),
    };
    let cell = |row, name: &&str| text(table.column(name).unwrap().value(row));
    let row = |row| {
        let cells: Vec<String> = columns.iter().map(|name| cell(row, name)).collect();
        cells.join(" ")
    };
    (0..table.row_count()).map(row).collect()
}

fn all_cells(trace: &Trace, name: &str, columns: &[&str]) -> Vec<String> {
    cells(&table(trace, name, ALL), columns)
}

const ACCESSES: [&str; 4] = ["reads", "writes", "bytes_read", "bytes_written"];

/// In the first thread, two of four entries of `solve` were counted, so their counts are doubled. A compare-exchange is
/// a read and a write.
#[test]
fn regions_sum_up_their_threads() {
    let trace = scene();
    let columns = ["region", "threads", "entries", "counted_entries"];
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        ["solve 2 7 5", "halo 1 8 8"]
    );
    let first_thread = (2 * 115 + 3, 2 * 120 + 4);
    assert_eq!(first_thread, (233, 244));
    assert_eq!(
        all_cells(&trace, "regions", &ACCESSES),
        ["343 414 2500 3684", "20 20 160 160"]
    );
}

/// `solve` within `halo` within `solve` is no time of its own; the other thread was killed 3000 ns after it had entered.
#[test]
fn time_is_inclusive_and_own() {
    let trace = scene();
    let columns = ["region", "stream", "time_ns", "own_time_ns"];
    assert_eq!(
        all_cells(&trace, "regions_by_thread", &columns),
        ["solve 0 4000 3200", "solve 1 4000 4000", "halo 0 1000 800"]
    );
    let columns = [
        "region",
        "time_ns",
        "own_time_ns",
        "time_imbalance",
        "bytes_imbalance",
    ];
    let imbalance = 4820.0 / (f64::from(4820 + 1040) / 2.0);
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [
            format!("solve 8000 7200 1.0000 {imbalance:.4}"),
            "halo 1000 800 1.0000 1.0000".into()
        ]
    );
}

/// In the first thread, the counted entries of `solve` took 1000 ns of its own time, and 200 ns within `halo`. In the
/// other thread, all 4000 ns were counted.
#[test]
fn raw_rates_are_of_counted_entries() {
    let columns = ["raw_read_mb_per_s", "raw_write_mb_per_s"];
    let (read, written) = (920 + 20 + 640, 1480 + 84 + 640);
    let solve = [read, written].map(|bytes| format!("{:.4}", f64::from(bytes) * 1e3 / 5200.0));
    assert_eq!(
        all_cells(&scene(), "regions", &columns),
        [solve.join(" "), "200.0000 200.0000".into()]
    );
}

/// Two of four entries of `solve` were timed and took 2000 ns, so all four took 4000 ns. Within `halo`, `solve` took
/// 200 ns, of which 2 additions in memory and 2 in a register cost 5 ns. In the other thread it took 4000 ns, of which
/// 120 and 50 additions cost 265 ns. `halo` has 20 additions in a register. A single group doesn't show how far the
/// sample may lie off.
#[test]
fn rates_are_free_of_what_counting_costs() {
    let columns = [
        "timed_entries",
        "read_mb_per_s",
        "write_mb_per_s",
        "rate_by",
        "bytes_uncertainty",
    ];
    let rates = |read: f64, written: f64, time_ns: f64| {
        let [read, written] = [read, written].map(|bytes| bytes * 1e3 / time_ns);
        format!("{read:.4} {written:.4}")
    };
    let solve = rates(2500.0, 3684.0, 4000.0 + 195.0 + 3735.0);
    let halo = rates(160.0, 160.0, 790.0);
    assert_eq!(
        all_cells(&scene(), "regions", &columns),
        [
            format!("2 {solve} timed -"),
            format!("0 {halo} calibrated 0.0000")
        ]
    );
    let columns = ["read_mb_per_s", "write_mb_per_s", "rate_by"];
    assert_eq!(
        all_cells(&scene(), "regions_by_thread", &columns),
        [
            format!("{} timed", rates(1860.0, 3044.0, 4195.0)),
            format!("{} calibrated", rates(640.0, 640.0, 3735.0)),
            format!("{halo} calibrated")
        ]
    );
}

#[test]
fn instructions_are_those_of_all_executions() {
    let columns = [
        "loads",
        "stores",
        "atomics",
        "integer",
        "floating_point",
        "vector",
        "branches",
        "calls",
    ];
    assert_eq!(
        all_cells(&scene(), "region_instructions", &columns),
        ["262 252 81 504 252 734 252 243", "20 20 0 40 20 80 20 0"]
    );
}

#[test]
fn accesses_are_told_apart_by_size() {
    let columns = [&["region", "size_bytes"][..], &ACCESSES].concat();
    assert_eq!(
        all_cells(&scene(), "region_accesses_by_size", &columns),
        [
            "solve 0 0 81 0 1344",
            "solve 4 81 81 324 324",
            "solve 8 252 252 2016 2016",
            "solve 16 10 0 160 0",
            "halo 8 20 20 160 160",
        ]
    );
}

#[test]
fn lines_variables_blocks_and_calls() {
    let trace = scene();
    let columns = [
        "region",
        "file",
        "line",
        "function",
        "executions",
        "reads",
        "writes",
    ];
    assert_eq!(
        all_cells(&trace, "region_lines", &columns),
        [
            "solve kernel.c 10 step 252 252 0",
            "solve kernel.c 11 step 252 0 252",
            "solve kernel.c 14 step 81 81 162",
            "halo kernel.c 10 step 20 20 0",
            "halo kernel.c 11 step 20 0 20",
            "solve library.c 5 scale 10 10 0",
        ]
    );
    assert_eq!(
        all_cells(&trace, "region_variables", &["region", "field", "reads"]),
        [
            "solve cell.heat 252",
            "solve work 81",
            "halo cell.heat 20",
            "solve factor 10"
        ]
    );
    assert_eq!(
        all_cells(
            &trace,
            "blocks",
            &["region", "block", "executions", "bytes_written"]
        ),
        [
            "solve 0 252 2016",
            "solve 1 81 1668",
            "halo 0 20 160",
            "solve 3 10 0",
            "solve 2 181 0",
            "halo 2 20 0",
        ]
    );
    // Calls of `scale` are counted where it stands.
    assert_eq!(
        all_cells(&trace, "external_calls", &["region", "function", "calls"]),
        ["solve (indirect) 81", "solve puts 81"]
    );
}

#[test]
fn the_rests_are_told() {
    let columns = [
        "threads",
        "nodes",
        "tails",
        "open",
        "uncounted",
        "modules",
        "blocks",
        "below_zero",
        "time_ns",
        "outside",
    ];
    let outside = format!("{:.4}", 11_000.0 / 19_000.0);
    assert_eq!(
        all_cells(&scene(), "counts", &columns),
        [format!("2 6 2 1 0 2 4 1 19000 {outside}")]
    );
}

#[test]
fn tables_are_cut_and_ranked() {
    let trace = scene();
    let two = Ranked {
        by: Measure::Accesses,
        top: 2,
    };
    let lines = table(&trace, "region_lines", two);
    assert_eq!((lines.row_count(), lines.total_rows()), (2, 6));
    assert_eq!(lines.title(), "Lines by accesses, 2 of 6");
    let regions = Regions::read(&trace);
    let findings = regions.findings(&trace, two);
    let names: Vec<&str> = findings.tables.iter().map(Table::name).collect();
    assert_eq!(names, TABLES);
    assert!(findings.tables.iter().all(|table| table.row_count() <= 2));
    assert_eq!(
        findings.answer.unwrap(),
        "solve takes 90.0 % of the time in regions: 315 MB/s read, 465 MB/s written"
    );
    assert!(regions.table(&trace, "fields", two).is_none());
}

fn node(number: u32, name: &str, entries: u64, counted_entries: u64) -> NodeCounts {
    NodeCounts {
        node: number,
        image: 1,
        entries,
        counted_entries,
        counted_ticks: 100,
        name: name.into(),
        counters: vec![8, 0, 0],
        ..NodeCounts::default()
    }
}

/// A trace of the kernel alone, whose threads have one chunk each.
fn trace_of(nodes: &[NodeCounts]) -> Trace {
    let place = ImageCounters { image: 1, first: 0 };
    let mut file = FileBytes::new(Codec::Lz4);
    file.counting_module(0, 1, &kernel(), place);
    for (sequence, node) in (0..).zip(nodes) {
        file.node(0, sequence, 1000, node);
    }
    file.open()
}

/// Eight additions in a register are 4 of 100 ns. Where a module doesn't say how it counts, nothing is known.
#[test]
fn costs_are_known_if_all_modules_say_how_they_count() {
    let earlier = |mut table: trackway_trace::table::Table| {
        table.blocks.as_mut().unwrap().steps.clear();
        table
    };
    let (now, then) = (kernel(), earlier(kernel()));
    for (second, expected, remark) in [(&now, "666.6667 calibrated", "calibrated"), (&then, "- ", "raw")] {
        let mut file = FileBytes::new(Codec::Lz4);
        for (sequence, table) in [(0, &now), (1, second)] {
            let first = 3 * sequence as u32;
            file.counting_module(sequence, 1 + first, table, ImageCounters { image: 1, first });
        }
        let costs = br#"{"step_costs": {"in_memory_ns": 3, "in_register_ns": 0.5}}"#;
        let trace = file
            .node(0, 0, 1000, &node(1, "r", 1, 1))
            .chunk(&ChunkFields::new(ChunkKind::End), costs)
            .open();
        assert_eq!(
            all_cells(&trace, "regions", &["read_mb_per_s", "rate_by"]),
            [expected]
        );
        let answer = Regions::read(&trace).findings(&trace, ALL).answer.unwrap();
        assert!(answer.ends_with(&format!(" written ({remark})")), "{answer}");
    }
}

#[test]
fn a_program_without_regions_is_one() {
    let whole = NodeCounts {
        flags: WHOLE_PROGRAM | COUNTED_ENTRY,
        entered_ticks: 400,
        counted_ticks: 0,
        ..node(0, "", 1, 0)
    };
    let trace = trace_of(&[whole]);
    let columns = ["region", "time_ns", "own_time_ns", "reads", "raw_read_mb_per_s"];
    let rate = format!("{:.4}", 64e3 / 600.0);
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [format!("(whole program) 600 600 8 {rate}")]
    );
    let answer = Regions::read(&trace).findings(&trace, ALL).answer.unwrap();
    assert_eq!(answer, "(whole program): 107 MB/s read, 107 MB/s written (raw)");
}

#[test]
fn what_was_not_counted_is_not_known() {
    let outside = NodeCounts {
        flags: 0,
        counted_ticks: 0,
        ..node(0, "", 1, 0)
    };
    let never = NodeCounts {
        counted_ticks: 0,
        timed_entries: 5,
        timed_ticks: 100,
        ..node(1, "never", 5, 0)
    };
    let trace = trace_of(&[outside, never, node(2, "", 3, 3)]);
    let columns = [
        "region",
        "entries",
        "counted_entries",
        "time_ns",
        "reads",
        "raw_read_mb_per_s",
        "read_mb_per_s",
        "bytes_uncertainty",
    ];
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        ["(unknown) 3 3 100 8 640.0000 - 0.0000", "never 5 0 100 0 - - -"]
    );
    assert_eq!(all_cells(&trace, "counts", &["uncounted", "nodes"]), ["1 3"]);
}

/// 6 of 60 entries were counted, two in each group, and 4 were timed.
#[test]
fn sampled_entries_stand_for_all() {
    let group = |number: u32, executions| NodeCounts {
        flags: u64::from(number - 1) << 8,
        counted_ticks: 200,
        counters: vec![executions, 0, 0],
        ..node(number, "r", 2, 2)
    };
    let first = NodeCounts {
        entries: 56,
        timed_entries: 4,
        timed_ticks: 160,
        ..group(1, 4)
    };
    let trace = trace_of(&[first, group(2, 6), group(3, 8)]);
    let columns = ["entries", "counted_entries", "timed_entries", "time_ns", "reads"];
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [format!("60 6 4 {} {}", 60 * 40, 10 * (4 + 6 + 8))]
    );
    let columns = ["read_mb_per_s", "raw_read_mb_per_s", "bytes_uncertainty"];
    let counted_bytes = 8.0 * 18.0;
    let (corrected, raw) = (
        counted_bytes * 4.0 / 6.0 * 1e3 / 160.0,
        counted_bytes * 1e3 / 600.0,
    );
    // In the groups, an entry reads and writes 32, 48 and 64 bytes. The variance of an entry is 2 * (16^2 + 0 + 16^2) /
    // 2.
    let of_total = 60.0 * 60.0 * 512.0 / 6.0 * (1.0 - 6.0 / 60.0f64);
    let uncertainty = 4.303 * of_total.sqrt() / (60.0 * 48.0);
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [format!("{corrected:.4} {raw:.4} {uncertainty:.4}")]
    );
}

/// `inner` is entered twice within each entry of `outer`. Its entries are counted as those are, by their groups, or by
/// groups of its own where the entries of `outer` passed.
#[test]
fn strata_stand_within_strata() {
    let sampled = |number, parent, name, counted: (u64, u64), timed: (u64, u64), passed| NodeCounts {
        parent,
        counted_ticks: counted.1,
        timed_entries: timed.0,
        timed_ticks: timed.1,
        counters: vec![2 * counted.0, 0, 0],
        ..node(number, name, counted.0 + timed.0 + passed, counted.0)
    };
    let in_group = |node: NodeCounts| NodeCounts {
        flags: 1 << 8,
        ..node
    };
    let outside = NodeCounts {
        counters: Vec::new(),
        ..sampled(0, 0, "", (0, 0), (1, 2000), 0)
    };
    let trace = trace_of(&[
        outside,
        sampled(1, 0, "outer", (2, 100), (3, 120), 15),
        in_group(sampled(2, 0, "outer", (2, 100), (0, 0), 0)),
        sampled(3, 1, "inner", (4, 40), (6, 48), 0),
        sampled(4, 2, "inner", (4, 40), (0, 0), 0),
        sampled(5, 0, "inner", (2, 20), (2, 16), 26),
    ]);
    let columns = ["region", "entries", "time_ns", "own_time_ns", "reads"];
    // An entry of `outer` takes 120 / 3 ns, of which 48 / 3 are within `inner`. All of `inner` within it was reported.
    let inner_ns = 40 + 40 + 48 + 30 * 16 / 2;
    let inner_reads = 14 * 2 + 30 * 2;
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [
            format!("outer 22 {} {} {}", 22 * 40, 22 * 24, 22 * 2),
            format!("inner 44 {inner_ns} {inner_ns} {inner_reads}"),
        ]
    );
    // All entries are alike, but one group alone doesn't show it.
    let columns = [
        "region",
        "read_mb_per_s",
        "raw_read_mb_per_s",
        "bytes_uncertainty",
    ];
    let per_ns = |bytes: i32, ns: i32| f64::from(bytes) * 1e3 / f64::from(ns);
    assert_eq!(
        all_cells(&trace, "regions", &columns),
        [
            format!(
                "outer {:.4} {:.4} 0.0000",
                per_ns(3 * 16, 72),
                per_ns(4 * 16, 120)
            ),
            format!("inner {:.4} {:.4} -", per_ns(8 * 16, 64), per_ns(10 * 16, 100)),
        ]
    );
    let outside = f64::from(2000 - 22 * 24 - inner_ns) / 2000.0;
    assert_eq!(
        all_cells(&trace, "counts", &["time_ns", "outside", "uncounted"]),
        [format!("2000 {outside:.4} 0")]
    );
}

/// Parents that are missing, or that lead in a circle.
#[test]
fn damaged_trees_end_somewhere() {
    let within = |number, parent| NodeCounts {
        parent,
        ..node(number, "r", 1, 1)
    };
    let trace = trace_of(&[
        within(1, 2),
        within(2, 3),
        within(3, 1),
        within(4, 9),
        within(5, 5),
    ]);
    let times = all_cells(&trace, "regions", &["time_ns", "own_time_ns", "reads"]);
    // Each of the circle is within another; the last one, within itself, has no time of its own.
    assert_eq!(times, ["200 100 40"]);
}

#[test]
fn nothing_counted_is_said() {
    let trace = trace_of(&[]);
    let findings = Regions::read(&trace).findings(&trace, ALL);
    assert_eq!(findings.answer.unwrap(), "Nothing was counted.");
}

#[test]
fn damage_costs_only_its_node() {
    let place = ImageCounters { image: 1, first: 0 };
    let mut file = FileBytes::new(Codec::None);
    file.counting_module(0, 1, &kernel(), place)
        .node(0, 0, 0, &node(1, "a", 1, 1));
    let second = file.bytes.len();
    file.node(0, 1, 0, &node(2, "b", 1, 1));
    file.bytes[second + 80] ^= 1;
    let trace = file.open();
    let regions = Regions::read(&trace);
    assert_eq!(regions.damage().len(), 1);
    let table = regions.table(&trace, "regions", ALL).unwrap();
    assert_eq!(cells(&table, &["region", "reads"]), ["a 8"]);
}
