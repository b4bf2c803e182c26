//! What is counted by thread and time adds up to what is counted of the whole trace.

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use testing::file::FileBytes;
use testing::loops::nest_table;
use trackway_analysis::blocks::Origins;
use trackway_analysis::cache::Caches;
use trackway_analysis::calls::{Calls, Moments};
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::moments::{ChunkTimes, MomentBins};
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::Measure;
use trackway_analysis::structures::Structures;
use trackway_analysis::{run, Analysis};
use trackway_report::Table;
use trackway_trace::{AccessKind, ChunkFields, ChunkKind, Codec, Trace};

const ONE: NonZeroUsize = NonZeroUsize::MIN;
/// The time of a chunk, and how wide bins are, in nanoseconds.
const CHUNK_NS: u64 = 1000;
const BIN_NS: u64 = 256;

/// Loads and stores in few pages: base, rows and columns of a loop; the threads' chunks follow each other.
fn trace_of(nests: &[(u32, [u64; 3])]) -> Trace {
    let mut table = nest_table();
    table.sites[1].kind = AccessKind::Store;
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 1, &table);
    let mut sequences = [0; 3];
    for ((stream, roots), start) in nests.iter().zip((5000..).step_by(700)) {
        let mut payload = (1u32 << 8).to_le_bytes().to_vec();
        roots
            .iter()
            .for_each(|root| payload.extend_from_slice(&root.to_le_bytes()));
        let sequence = &mut sequences[*stream as usize];
        let fields = ChunkFields {
            stream: *stream,
            sequence: *sequence,
            first_ns: start,
            last_ns: start + CHUNK_NS,
            ..ChunkFields::new(ChunkKind::Records)
        };
        *sequence += 1;
        file.chunk(&fields, &payload);
    }
    file.open()
}

fn nests() -> impl Strategy<Value = Vec<(u32, [u64; 3])>> {
    let root = (0u64..3, 0u64..200, 1u64..5, 1u64..60);
    let nest = (0u32..3, root).prop_map(|(stream, (page, offset, rows, columns))| {
        (stream, [0x10_0000 + page * 4096 + offset, rows, columns])
    });
    prop::collection::vec(nest, 1..14)
}

fn bins_of(trace: &Trace) -> MomentBins {
    let times = Arc::new(ChunkTimes::count(trace, ONE, &|_, _| ()));
    MomentBins::of_width(&times, BIN_NS)
}

fn tables<A: Analysis>(analysis: &A, trace: &Trace) -> Vec<Table> {
    let (findings, summary) = run(analysis, trace, ONE, &|_, _| ());
    assert!(summary.damage.is_empty());
    findings.tables
}

fn find<'t>(tables: &'t [Table], name: &str) -> &'t Table {
    tables.iter().find(|table| table.name() == name).unwrap()
}

fn cell(table: &Table, column: &str, row: usize) -> u64 {
    table.integer(column, row).unwrap()
}

/// The sum of a column over rows.
fn sum(table: &Table, column: &str, is_in: impl Fn(usize) -> bool) -> u64 {
    let rows = (0..table.row_count()).filter(|row| is_in(*row));
    rows.map(|row| cell(table, column, row)).sum()
}

fn reuse_of(trace: &Trace, sampling: Option<Sampling>) -> Vec<Table> {
    let reuse = Reuse {
        line_bytes: 64,
        merged: false,
        sampling,
        groupings: vec![ReuseGrouping::Field],
        origins: Arc::new(Origins::none(trace.program())),
        top: 10,
        fine: true,
        moments: Some(bins_of(trace)),
    };
    tables(&reuse, trace)
}

/// The misses of a cache of so many lines, a power of two.
fn misses(moments: &Table, lines: u64) -> u64 {
    misses_of(moments, lines, |_| true)
}

/// The same of some rows.
fn misses_of(moments: &Table, lines: u64, is_in: impl Fn(usize) -> bool + Copy) -> u64 {
    let larger = moments.columns().filter_map(|column| {
        let from: u64 = column.name().strip_prefix("from_")?.parse().ok()?;
        (from >= lines).then(|| sum(moments, column.name(), is_in))
    });
    larger.sum::<u64>() + sum(moments, "cold", is_in)
}

proptest! {
    #[test]
    fn distances_by_time_make_the_curve_of_the_whole(nests in nests()) {
        let trace = trace_of(&nests);
        for sampling in [None, Some(Sampling::Lines(5))] {
            let tables = reuse_of(&trace, sampling);
            let moments = find(&tables, "reuse_moments");
            prop_assert_eq!(sum(moments, "references", |_| true), cell(find(&tables, "reuse"), "references", 0));
            let curve = find(&tables, "miss_ratio_curve");
            for row in 0..curve.row_count() {
                let lines = cell(curve, "cache_lines", row);
                if lines.is_power_of_two() {
                    let (found, expected) = (misses(moments, lines), cell(curve, "misses", row));
                    // Each of the summands is rounded by itself.
                    let rounded = if sampling.is_some() { moments.columns().count() as u64 } else { 0 };
                    prop_assert!(found.abs_diff(expected) <= rounded, "{lines} lines: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn distances_of_fields_by_time_make_their_curves(nests in nests()) {
        let trace = trace_of(&nests);
        let tables = reuse_of(&trace, None);
        let (fields, curves) = (find(&tables, "fields"), find(&tables, "group_curves"));
        let moments = find(&tables, "field_reuse_moments");
        for row in 0..fields.row_count() {
            let is_own = |moment: usize| cell(moments, "row", moment) == row as u64;
            for column in ["accesses", "references"] {
                prop_assert_eq!(sum(moments, column, is_own), cell(fields, column, row), "{}", column);
            }
            let is_of_field = |point: &usize| curves.text("name", *point) == fields.text("field", row);
            for point in (0..curves.row_count()).filter(is_of_field) {
                let lines = cell(curves, "cache_lines", point);
                if lines.is_power_of_two() {
                    prop_assert_eq!(misses_of(moments, lines, is_own), cell(curves, "misses", point), "{} lines", lines);
                }
            }
        }
    }

    #[test]
    fn transfers_by_time_are_those_of_the_whole(nests in nests(), threads in 1usize..4) {
        let trace = trace_of(&nests);
        let sharing = Sharing::new(trace.program(), 64, 10).with_moments(Some(bins_of(&trace)));
        let threads = NonZeroUsize::new(threads).unwrap();
        let (findings, _) = run(&sharing, &trace, threads, &|_, _| ());
        let tables = findings.tables;
        for (name, moments) in [("fields", "field_moments"), ("lines", "line_moments")] {
            let (whole, moments) = (find(&tables, name), find(&tables, moments));
            for row in 0..whole.row_count() {
                for column in ["read_hand_overs", "write_hand_overs", "invalidations"] {
                    let found = sum(moments, column, |moment| cell(moments, "row", moment) == row as u64);
                    prop_assert_eq!(found, cell(whole, column, row), "{} {}", name, column);
                }
            }
        }
        let (lines, moments) = (find(&tables, "cache_lines"), find(&tables, "shared_line_moments"));
        for row in 0..lines.row_count() {
            let found = sum(moments, "write_hand_overs", |moment| cell(moments, "rank", moment) == row as u64);
            prop_assert_eq!(found, cell(lines, "write_hand_overs", row));
        }
        let (pairs, moments) = (find(&tables, "thread_pairs"), find(&tables, "pair_moments"));
        let by_pair = |table: &Table| {
            let mut sums: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for row in 0..table.row_count() {
                let key = (cell(table, "from_stream", row), cell(table, "to_stream", row));
                *sums.entry(key).or_default() += cell(table, "read_hand_overs", row) + cell(table, "write_hand_overs", row);
            }
            sums
        };
        prop_assert_eq!(by_pair(moments), by_pair(pairs));
    }
}

#[test]
fn times_and_threads_are_told_apart() {
    let walk = |stream| (stream, [0x10_0000, 4, 50]);
    let trace = trace_of(&[walk(0), walk(1), walk(0)]);
    let reused = reuse_of(&trace, None);
    let moments = find(&reused, "reuse_moments");
    let all: HashSet<(u64, u64)> = (0..moments.row_count())
        .map(|row| (cell(moments, "stream", row), cell(moments, "bin", row)))
        .collect();
    assert_eq!(all.len(), moments.row_count());
    assert!(all.len() > 8, "{all:?}");
    // The first thread's lines are cold in its first chunk alone.
    let late = |row: usize| cell(moments, "stream", row) == 0 && cell(moments, "bin", row) > 5;
    assert!(sum(moments, "references", late) > 0);
    assert_eq!(sum(moments, "cold", late), 0);
    let sharing = Sharing::new(trace.program(), 64, 10).with_moments(Some(bins_of(&trace)));
    let shared = tables(&sharing, &trace);
    let pairs = find(&shared, "pair_moments");
    // Thread 1 takes lines before thread 0 takes them back.
    let times = |to: u64| -> Vec<u64> {
        let rows = (0..pairs.row_count()).filter(|row| cell(pairs, "to_stream", *row) == to);
        rows.map(|row| cell(pairs, "bin", row)).collect()
    };
    assert!(times(1).iter().min() < times(0).iter().min());
}

#[test]
fn places_by_member_are_what_the_layout_counts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    let trace = Trace::open(&path).unwrap();
    let caches: Caches = "L1=32K,8,64".parse().unwrap();
    let rank_by = Measure::default_for(&caches);
    let structures = || Structures::of(trace.program());
    let times = Arc::new(ChunkTimes::count(&trace, ONE, &|_, _| ()));
    let moments = Moments::new(times, rank_by, structures());
    let places = tables(&Calls::new(caches.clone(), 10).with_moments(moments), &trace);
    let shown = Shown {
        only: None,
        top: 10,
        rank_by,
        command: String::new(),
    };
    let layout = tables(&Layout::new(structures(), caches, 100, shown), &trace);
    let counts = find(&places, "place_moments");
    let listed = find(&places, "place_members");
    let mut found: HashMap<&str, u64> = HashMap::new();
    for row in 0..listed.row_count() {
        let place = cell(listed, "place", row);
        let of_place = sum(counts, "accesses", |moment| {
            cell(counts, "place", moment) == place
        });
        *found.entry(listed.text("member", row).unwrap()).or_default() += of_place;
    }
    let members = find(&layout, "members");
    let expected: HashMap<&str, u64> = (0..members.row_count())
        .filter_map(|row| Some((members.text("member", row)?, members.integer("accesses", row)?)))
        .filter(|(_, accesses)| *accesses > 0)
        .collect();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}
