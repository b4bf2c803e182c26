//! `trackway memory`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trackway_analysis::memory::{Memory, DEFAULT_BINS};
use trackway_analysis::moments::TimeBins;
use trackway_report::{Table, Value};
use trackway_trace::Trace;

use crate::reference::{Block, Moment, Reference};
use crate::scene::SITES;
use crate::{bin_width, column, findings, integer, scene, table, text, times, undivided};

const SHORT_LIFE: u64 = 20;

/// Numbers of each site that are not 0, by the site's name and the column's.
type Numbers = BTreeMap<(String, &'static str), u64>;

const COLUMNS: [(&str, &[&str]); 3] = [
    ("peak", &["peak_blocks", "peak_bytes"]),
    (
        "allocations",
        &[
            "allocations",
            "allocated_bytes",
            "failed",
            "short_lived",
            "never_released",
            "never_released_bytes",
        ],
    ),
    (
        "use",
        &[
            "accesses",
            "accessed_bytes",
            "never_accessed",
            "never_accessed_bytes",
        ],
    ),
];

fn found(findings: &trackway_analysis::Findings) -> Numbers {
    let mut numbers = Numbers::new();
    for (name, columns) in COLUMNS {
        let table = table(findings, name);
        for row in 0..table.row_count() {
            let site = format!(
                "{}, {}",
                text(table, "variable", row),
                text(table, "allocator", row)
            );
            for column in columns {
                numbers.insert((site.clone(), *column), integer(table, column, row));
            }
        }
    }
    numbers.retain(|_, number| *number > 0);
    numbers
}

fn expected(reference: &Reference) -> Numbers {
    let mut numbers = Numbers::new();
    let peak = peak(reference);
    for (site, name) in SITES.iter().enumerate() {
        let all: Vec<&Block> = reference.blocks().filter(|block| block.site == site).collect();
        let own: Vec<&&Block> = all.iter().filter(|block| !block.inherited).collect();
        let mut put = |column, number| numbers.insert(((*name).to_owned(), column), number);
        let blocks =
            |condition: &dyn Fn(&Block) -> bool| own.iter().filter(|block| condition(block)).count() as u64;
        let bytes = |condition: &dyn Fn(&Block) -> bool| -> u64 {
            own.iter()
                .filter(|block| condition(block))
                .map(|block| block.bytes)
                .sum()
        };
        let short =
            |block: &Block| matches!(block.end, Some(("freed", at, _)) if at - block.begin < SHORT_LIFE);
        put("peak_blocks", peak.map_or(0, |moment| moment.live[site].0));
        put("peak_bytes", peak.map_or(0, |moment| moment.live[site].1));
        put("allocations", blocks(&|_| true));
        put("allocated_bytes", bytes(&|_| true));
        put("failed", reference.failed[site]);
        put("short_lived", blocks(&short));
        put("never_released", blocks(&|block| block.end.is_none()));
        put("never_released_bytes", bytes(&|block| block.end.is_none()));
        put("accesses", all.iter().map(|block| block.accesses).sum());
        put(
            "accessed_bytes",
            all.iter().map(|block| block.accessed_bytes).sum(),
        );
        put("never_accessed", blocks(&|block| block.accesses == 0));
        put("never_accessed_bytes", bytes(&|block| block.accesses == 0));
    }
    numbers.retain(|_, number| *number > 0);
    numbers
}

fn live_bytes(moment: &Moment) -> u64 {
    moment.live.iter().map(|(_, bytes)| bytes).sum()
}

fn live_blocks(moment: &Moment) -> u64 {
    moment.live.iter().map(|(blocks, _)| blocks).sum()
}

/// The first moment of all those at which the most was live; none if that is nothing.
fn peak(reference: &Reference) -> Option<&Moment> {
    let most = reference.moments.iter().map(live_bytes).max()?;
    reference
        .moments
        .iter()
        .find(|moment| live_bytes(moment) == most && most > 0)
}

/// Most bytes and blocks, allocations and releases of each part of time.
fn curve(reference: &Reference, trace: &Trace) -> Vec<[u64; 4]> {
    let (first_ns, last_ns) = times(trace).range_ns();
    let width = bin_width(first_ns, last_ns, DEFAULT_BINS as u64);
    let mut present = 0;
    let bins: Vec<u64> = reference
        .moments
        .iter()
        .map(|moment| {
            present = present.max((moment.time_ns - first_ns) / width);
            present
        })
        .collect();
    let point = |bin: u64| {
        let before = bins
            .iter()
            .rposition(|of| *of < bin)
            .map(|index| &reference.moments[index]);
        let within = || {
            bins.iter()
                .zip(&reference.moments)
                .filter(|(of, _)| **of == bin)
                .map(|(_, moment)| moment)
        };
        let grown = || within().filter(|moment| moment.is_allocation);
        [
            before
                .into_iter()
                .chain(grown())
                .map(live_bytes)
                .max()
                .unwrap_or(0),
            before
                .into_iter()
                .chain(grown())
                .map(live_blocks)
                .max()
                .unwrap_or(0),
            grown().count() as u64,
            within().filter(|moment| !moment.is_allocation).count() as u64,
        ]
    };
    (0..=(last_ns - first_ns) / width).map(point).collect()
}

fn found_curve(table: &Table) -> Vec<[u64; 4]> {
    let columns = ["most_bytes", "most_blocks", "allocations", "releases"];
    let row = |row| columns.map(|column| integer(table, column, row));
    (0..table.row_count()).map(row).collect()
}

/// Blocks and bytes by the accesses after which the blocks were released.
fn lifetimes(reference: &Reference) -> BTreeMap<(u64, u64), [u64; 2]> {
    let mut lifetimes: BTreeMap<(u64, u64), [u64; 2]> = BTreeMap::new();
    for block in reference.blocks().filter(|block| !block.inherited) {
        if let Some(("freed", at, _)) = block.end {
            let lived = at - block.begin;
            let from = if lived == 0 { 0 } else { 1 << lived.ilog2() };
            let class = lifetimes.entry((from, (2 * from).max(1) - 1)).or_default();
            class[0] += 1;
            class[1] += block.bytes;
        }
    }
    lifetimes
}

fn found_lifetimes(table: &Table) -> BTreeMap<(u64, u64), [u64; 2]> {
    let row = |row| {
        let number = |name| integer(table, name, row);
        (
            (number("from_accesses"), number("to_accesses")),
            [number("blocks"), number("bytes")],
        )
    };
    (0..table.row_count()).map(row).collect()
}

fn mean_lives(reference: &Reference) -> Vec<(String, f64, f64)> {
    let mut lives = Vec::new();
    for (site, name) in SITES.iter().enumerate() {
        let own = reference
            .blocks()
            .filter(|block| block.site == site && !block.inherited);
        let ended: Vec<(u64, u64)> = own
            .filter_map(|block| match block.end {
                Some(("freed", at, time_ns)) => {
                    Some((at - block.begin, time_ns.saturating_sub(block.begin_ns)))
                }
                _ => None,
            })
            .collect();
        let mean = |sum: u64| sum as f64 / ended.len() as f64;
        if !ended.is_empty() {
            let sums = ended
                .iter()
                .fold((0, 0), |sums, life| (sums.0 + life.0, sums.1 + life.1));
            lives.push(((*name).to_owned(), mean(sums.0), mean(sums.1) / 1e3));
        }
    }
    lives
}

fn check_means(table: &Table, reference: &Reference) {
    let real = |name, row| match column(table, name).value(row) {
        Value::Real(number) => Some(number),
        _ => None,
    };
    let expected = mean_lives(reference);
    let mut seen = 0;
    for row in 0..table.row_count() {
        let site = format!(
            "{}, {}",
            text(table, "variable", row),
            text(table, "allocator", row)
        );
        let mean = expected.iter().find(|(name, ..)| *name == site);
        let near = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs(),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(
            near(real("mean_life_accesses", row), mean.map(|mean| mean.1)),
            "{site}"
        );
        assert!(near(real("mean_life_us", row), mean.map(|mean| mean.2)), "{site}");
        seen += usize::from(mean.is_some());
    }
    assert_eq!(seen, expected.len());
}

/// Allocations by thread and time add up to those of the whole trace.
fn check_moments(findings: &trackway_analysis::Findings) {
    let (whole, moments) = (
        table(findings, "allocations"),
        table(findings, "allocation_moments"),
    );
    for row in 0..whole.row_count() {
        let own = (0..moments.row_count()).filter(|moment| integer(moments, "row", *moment) == row as u64);
        let own: Vec<usize> = own.collect();
        for column in [
            "allocations",
            "allocated_bytes",
            "failed",
            "never_released",
            "never_released_bytes",
        ] {
            let found: u64 = own.iter().map(|moment| integer(moments, column, *moment)).sum();
            assert_eq!(found, integer(whole, column, row), "{column}");
        }
        let sum = |column| {
            own.iter()
                .map(|moment| integer(moments, column, *moment))
                .sum::<u64>()
        };
        // What began and didn't end is live at the end.
        let live = ["allocations", "ended", "allocated_bytes", "ended_bytes"].map(sum);
        assert_eq!(live[0] - live[1], integer(whole, "never_released", row));
        assert_eq!(live[2] - live[3], integer(whole, "never_released_bytes", row));
    }
}

/// Blocks that ended and their bytes, by site and bin of time.
type Ends = BTreeMap<(String, u64), (u64, u64)>;

fn found_ends(findings: &trackway_analysis::Findings) -> Ends {
    let (whole, moments) = (
        table(findings, "allocations"),
        table(findings, "allocation_moments"),
    );
    let mut ends = Ends::new();
    for moment in 0..moments.row_count() {
        let [row, bin, blocks, bytes] =
            ["row", "bin", "ended", "ended_bytes"].map(|column| integer(moments, column, moment));
        let place = ["variable", "allocator"].map(|column| text(whole, column, row as usize));
        let sum = ends.entry((place.join(", "), bin)).or_default();
        *sum = (sum.0 + blocks, sum.1 + bytes);
    }
    ends.retain(|_, (blocks, _)| *blocks > 0);
    ends
}

fn expected_ends(reference: &Reference, bins: TimeBins) -> Ends {
    let mut ends = Ends::new();
    for block in reference.blocks().filter(|block| !block.inherited) {
        let Some((_, _, time_ns)) = block.end else {
            continue;
        };
        let key = (SITES[block.site].to_owned(), bins.nearest(time_ns) as u64);
        let sum = ends.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1 + block.bytes);
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn numbers_are_those_of_the_reference(bytes in proptest::collection::vec(any::<u8>(), 0..4000)) {
        let trace = scene::trace(&bytes);
        let reference = Reference::new(&trace);
        let times = times(&trace);
        let (first_ns, last_ns) = times.range_ns();
        let memory = Memory::new(&trace, &times, undivided(&trace), SHORT_LIFE, 100)
            .with_moments(Some(TimeBins::new(first_ns, last_ns, 8)));
        let findings = findings(&memory, &trace);
        check_moments(&findings);
        let bins = TimeBins::new(first_ns, last_ns, 8);
        prop_assert_eq!(found_ends(&findings), expected_ends(&reference, bins));
        prop_assert_eq!(found(&findings), expected(&reference));
        prop_assert_eq!(found_curve(table(&findings, "memory_over_time")), curve(&reference, &trace));
        prop_assert_eq!(found_lifetimes(table(&findings, "lifetimes")), lifetimes(&reference));
        check_means(table(&findings, "allocations"), &reference);
        let totals = table(&findings, "memory");
        let peak = peak(&reference);
        prop_assert_eq!(integer(totals, "peak_bytes", 0), peak.map_or(0, live_bytes));
        prop_assert_eq!(integer(totals, "peak_ns", 0), peak.map_or(0, |moment| moment.time_ns));
        prop_assert_eq!(integer(totals, "unknown_releases", 0), reference.unknown);
        let overlapped = reference.blocks().filter(|block| {
            !block.inherited && matches!(block.end, Some(("overlapped", ..)))
        });
        prop_assert_eq!(integer(totals, "overlapped_blocks", 0), overlapped.count() as u64);
        let share = match column(totals, "in_blocks").value(0) {
            Value::Real(share) => share * reference.accesses as f64,
            _ => 0.0,
        };
        let accesses: u64 = reference.blocks().map(|block| block.accesses).sum();
        prop_assert!((share - accesses as f64).abs() < 1e-3);
    }
}
