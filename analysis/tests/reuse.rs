//! Reuse distances, curves, working sets and entropy of traces against naive counts; runs against their accesses.

mod one_by_one;
#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use one_by_one::Accesses;
use testing::file::FileBytes;
use testing::loops::{access, count_root, nest_table, table_of};
use trackway_analysis::blocks::Origins;
use trackway_analysis::patterns::Patterns;
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::{run, Analysis};
use trackway_report::{to_csv, Table, Value};
use trackway_trace::{Codec, Decoder, Trace};

/// xorshift, so that a seed determines a case.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % count
    }
}

/// Loops of loops: a base address, rows, columns.
fn trace_of_nests(nests: &[[u64; 3]]) -> Trace {
    trace_of(&nest_table(), nests.iter().map(|nest| nest.as_slice()))
}

/// Loads of 8 bytes.
fn trace_of_loads(addresses: &[u64]) -> Trace {
    let table = table_of(vec![count_root(0), access(0, 0, 0)]);
    trace_of(&table, addresses.iter().map(std::slice::from_ref))
}

fn trace_of<'r>(table: &trackway_trace::table::Table, records: impl Iterator<Item = &'r [u64]>) -> Trace {
    let mut payload = Vec::new();
    for roots in records {
        payload.extend_from_slice(&(1u32 << 8).to_le_bytes());
        roots
            .iter()
            .for_each(|root| payload.extend_from_slice(&root.to_le_bytes()));
    }
    FileBytes::new(Codec::None)
        .module(0, 1, table)
        .records(0, 0, &payload)
        .open()
}

fn random_nests(seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let nest = |random: &mut Random| {
        let base = 0x10_0000 + random.below(5) * 4096 + random.below(200);
        let columns = 2 << random.below(6);
        [base, 1 + random.below(5), 1 + random.below(columns)]
    };
    let nests: Vec<[u64; 3]> = (0..12).map(|_| nest(&mut random)).collect();
    trace_of_nests(&nests)
}

/// Hot lines, and scans over many.
fn scattered(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mut addresses = Vec::with_capacity(count + 20_000);
    while addresses.len() < count {
        let line = match random.below(1000) {
            0..=699 => {
                let lines = 256 << random.below(8);
                random.below(lines)
            }
            700..=998 => 40_000 + random.below(6000),
            _ => {
                let start = 60_000 + random.below(30_000);
                addresses.extend((start..start + 2000).map(|line| line * 64));
                start
            }
        };
        addresses.push(line * 64 + random.below(7) * 8);
    }
    addresses
}

/// First and last address of each access.
fn extents(trace: &Trace) -> Vec<(u64, u64)> {
    let mut decoder = Decoder::new(trace);
    let mut all = Vec::new();
    for chunk in &trace.streams()[0].chunks {
        let mut batches = decoder.decode(chunk).unwrap();
        while let Some(batch) = batches.next_batch().unwrap() {
            let extent = |index: usize| {
                (
                    batch.address[index],
                    batch.address[index] + batch.length(index) - 1,
                )
            };
            all.extend((0..batch.len()).map(extent));
        }
    }
    all
}

fn references(trace: &Trace, line_bytes: u64) -> Vec<u64> {
    let lines = |(first, last): (u64, u64)| first / line_bytes..=last / line_bytes;
    extents(trace).into_iter().flat_map(lines).collect()
}

/// The stack as a list; how often each distance occurs, none for first references.
fn naive_distances(references: &[u64]) -> HashMap<Option<u64>, u64> {
    let (mut stack, mut distances): (Vec<u64>, HashMap<Option<u64>, u64>) = Default::default();
    for line in references {
        let position = stack.iter().rposition(|other| other == line);
        let distance = position.map(|position| (stack.len() - 1 - position) as u64);
        position.map(|position| stack.remove(position));
        stack.push(*line);
        *distances.entry(distance).or_default() += 1;
    }
    distances
}

fn reuse(trace: &Trace, line_bytes: u32, sampling: Option<Sampling>) -> Reuse {
    Reuse {
        line_bytes,
        merged: false,
        sampling,
        groupings: vec![
            ReuseGrouping::Field,
            ReuseGrouping::Variable,
            ReuseGrouping::Allocation,
        ],
        origins: Arc::new(Origins::none(trace.program())),
        top: 10,
        fine: true,
        moments: None,
    }
}

fn patterns(line_bytes: u32) -> Patterns {
    Patterns {
        line_bytes,
        merged: false,
        top: 10,
        fine: true,
    }
}

fn tables<A: Analysis>(analysis: &A, trace: &Trace) -> Vec<Table> {
    let (findings, summary) = run(analysis, trace, NonZeroUsize::MIN, &|_, _| ());
    assert!(summary.damage.is_empty());
    findings.tables
}

fn find<'t>(tables: &'t [Table], name: &str) -> &'t Table {
    tables.iter().find(|table| table.name() == name).unwrap()
}

fn integers(table: &Table, column: &str) -> Vec<Option<u64>> {
    let column = table.column(column).unwrap();
    let integer = |row| match column.value(row) {
        Value::Integer(number) => Some(number),
        _ => None,
    };
    (0..table.row_count()).map(integer).collect()
}

fn reals(table: &Table, column: &str) -> Vec<f64> {
    let column = table.column(column).unwrap();
    let real = |row| match column.value(row) {
        Value::Real(number) => number,
        _ => f64::NAN,
    };
    (0..table.row_count()).map(real).collect()
}

fn check_exact(trace: &Trace, line_bytes: u32) {
    let tables = tables(&reuse(trace, line_bytes, None), trace);
    let naive = naive_distances(&references(trace, line_bytes.into()));
    let table = find(&tables, "reuse_distances");
    let [from, below, counts] = ["from_lines", "below_lines", "references"].map(|name| integers(table, name));
    let mut found = 0;
    for ((from, below), count) in from.into_iter().zip(below).zip(counts) {
        let lies_there = |distance: Option<u64>| match distance {
            Some(distance) => {
                from.is_some_and(|from| from <= distance) && below.is_some_and(|below| distance < below)
            }
            None => from.is_none(),
        };
        let in_row = naive.iter().filter(|(distance, _)| lies_there(**distance));
        let expected = in_row.map(|(_, count)| count).sum();
        assert_eq!(count, Some(expected), "distances {from:?} to {below:?}");
        found += expected;
    }
    assert_eq!(found, naive.values().sum::<u64>());
    let curve = find(&tables, "miss_ratio_curve");
    for (lines, misses) in integers(curve, "cache_lines")
        .into_iter()
        .zip(integers(curve, "misses"))
    {
        let misses_naively = naive
            .iter()
            .filter(|(distance, _)| distance.is_none_or(|distance| distance >= lines.unwrap()));
        assert_eq!(
            misses,
            Some(misses_naively.map(|(_, count)| count).sum()),
            "{lines:?} lines"
        );
    }
}

#[test]
fn distances_and_curves_are_exact_in_loops() {
    for seed in 1..40 {
        let trace = random_nests(seed);
        check_exact(&trace, 64);
        check_exact(&trace, 16);
        check_exact(&trace, 4096);
    }
}

#[test]
fn distances_and_curves_are_exact_in_scattered_accesses() {
    check_exact(&trace_of_loads(&scattered(7, 40_000)), 64);
}

#[test]
fn a_cyclic_walk_over_k_lines_has_distance_k_less_1() {
    let k = 1000;
    let walk: Vec<u64> = (0..5 * k).map(|step| step % k * 64).collect();
    let trace = trace_of_loads(&walk);
    let tables = tables(&reuse(&trace, 64, None), &trace);
    let csv = to_csv(find(&tables, "reuse_distances"));
    assert!(csv.contains("\r\n960,1024,4000,4000,0,0.8\r\n"), "{csv}");
    assert!(csv.ends_with("\r\n,,1000,1000,0,0.2\r\n"), "{csv}");
}

#[test]
fn runs_are_their_accesses() {
    for seed in 100..130 {
        let trace = random_nests(seed);
        for line_bytes in [16, 64, 4096] {
            let all = |tables: Vec<Table>| tables.iter().map(to_csv).collect::<Vec<_>>();
            let exact = reuse(&trace, line_bytes, None);
            assert_eq!(
                all(tables(&exact, &trace)),
                all(tables(&Accesses(exact.clone()), &trace))
            );
            let sampled = reuse(&trace, line_bytes, Some(Sampling::Lines(20)));
            assert_eq!(
                all(tables(&sampled, &trace)),
                all(tables(&Accesses(sampled.clone()), &trace))
            );
            let patterns = patterns(line_bytes);
            assert_eq!(
                all(tables(&patterns, &trace)),
                all(tables(&Accesses(patterns.clone()), &trace))
            );
        }
    }
}

/// Mean absolute error of the miss ratios of a sample at the sizes of the exact curve, and the mean of the errors that
/// the sample states.
fn errors(trace: &Trace, sampling: Sampling) -> (f64, f64) {
    let exact = tables(&reuse(trace, 64, None), trace);
    let sampled = tables(&reuse(trace, 64, Some(sampling)), trace);
    let curve = |tables: &[Table]| -> HashMap<Option<u64>, f64> {
        let curve = find(tables, "miss_ratio_curve");
        integers(curve, "cache_lines")
            .into_iter()
            .zip(reals(curve, "miss_ratio"))
            .collect()
    };
    let (exact, estimate) = (curve(&exact), curve(&sampled));
    let both: Vec<f64> = exact
        .iter()
        .filter_map(|(size, ratio)| Some((ratio - estimate.get(size)?).abs()))
        .collect();
    assert!(both.len() > exact.len() / 2);
    let stated = reals(find(&sampled, "miss_ratio_curve"), "standard_error");
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
    (mean(&both), mean(&stated))
}

#[test]
fn samples_are_near_the_exact_curve_and_say_how_near() {
    for seed in [3, 4, 5] {
        let trace = trace_of_loads(&scattered(seed, 400_000));
        for (sampling, limit) in [
            (Sampling::Rate(0.1), 0.02),
            (Sampling::Rate(0.01), 0.04),
            (Sampling::Lines(4000), 0.02),
        ] {
            let (error, stated) = errors(&trace, sampling);
            assert!(error < limit, "{sampling:?}: {error}");
            assert!(
                error < 3.0 * stated + 0.005 && stated < 2.0 * limit,
                "{sampling:?}: {error}, stated {stated}"
            );
        }
        let (error, _) = errors(&trace, Sampling::Rate(1.0));
        assert_eq!(error, 0.0);
    }
}

#[test]
fn working_sets_and_entropy_are_those_of_sets_and_counts() {
    let trace = trace_of_loads(&scattered(11, 300_000));
    let tables = tables(&patterns(64), &trace);
    let references = references(&trace, 64);
    let working_set = find(&tables, "working_set");
    let width = integers(working_set, "accesses")[0].unwrap();
    assert!(width > 1024, "windows were joined");
    let distinct = |window: &[u64], shift: u32| {
        let units: HashSet<u64> = window.iter().map(|line| line >> shift).collect();
        Some(units.len() as u64)
    };
    let windows = references.chunks(width as usize);
    let lines: Vec<Option<u64>> = windows.clone().map(|window| distinct(window, 0)).collect();
    let pages: Vec<Option<u64>> = windows.map(|window| distinct(window, 6)).collect();
    assert_eq!(integers(working_set, "cache_lines"), lines);
    assert_eq!(integers(working_set, "pages"), pages);

    let mut counts: HashMap<u64, f64> = HashMap::new();
    references
        .iter()
        .for_each(|line| *counts.entry(*line).or_default() += 1.0);
    let total = references.len() as f64;
    let expected: f64 = counts
        .values()
        .map(|count| -count / total * (count / total).log2())
        .sum();
    let entropy = find(&tables, "entropy");
    assert!((reals(entropy, "entropy_bits")[0] - expected).abs() < 1e-6);
    assert_eq!(integers(entropy, "blocks")[0], Some(counts.len() as u64));
}
