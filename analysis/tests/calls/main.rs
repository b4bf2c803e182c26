//! Call paths of random traces equal those of a naive reference, and runs equal their accesses.

#[path = "../one_by_one/mod.rs"]
mod one_by_one;
mod reference;
mod scene;
#[path = "../../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use one_by_one::Accesses;
use proptest::prelude::*;
use reference::{Cost, Reference};
use trackway_analysis::cache::Caches;
use trackway_analysis::calls::Calls;
use trackway_analysis::slices::Slices;
use trackway_analysis::{run, Analysis, Findings};
use trackway_report::{to_csv, Table, Value};
use trackway_trace::Trace;

const CACHES: [&str; 4] = [
    "L1=512,2,64:L2=2K,4,64",
    "L1=192,3,16:L2=1K,4,32",
    "L1=512,2,64,plru:L2=2K,4,64",
    "L1=512,2,64,next-line=1:L2=2K,4,64,exclusive",
];

fn findings<A: Analysis>(analysis: &A, trace: &Trace) -> Findings {
    let (findings, summary) = run(analysis, trace, NonZeroUsize::MIN, &|_, _| ());
    assert!(summary.damage.is_empty(), "{:?}", summary.damage);
    findings
}

fn caches() -> impl Strategy<Value = Caches> {
    prop::sample::select(&CACHES[..]).prop_map(|caches| caches.parse().unwrap())
}

fn table<'f>(findings: &'f Findings, name: &str) -> &'f Table {
    findings.tables.iter().find(|table| table.name() == name).unwrap()
}

fn integer(table: &Table, column: &str, row: usize) -> u64 {
    match table.column(column).unwrap().value(row) {
        Value::Integer(number) => number,
        other => panic!("{column}: {other:?}"),
    }
}

fn lines_of(stacks: &Table) -> String {
    let columns = ["accesses", "reads", "writes", "bytes", "l1_misses", "l2_misses"];
    let rows = (0..stacks.row_count()).map(|row| {
        let cost: Cost = columns.map(|column| integer(stacks, column, row));
        let stack = match stacks.column("stack").unwrap().value(row) {
            Value::Text(text) => text.to_owned(),
            other => panic!("{other:?}"),
        };
        (stack, cost)
    });
    let sorted: BTreeMap<String, Cost> = rows.collect();
    sorted
        .iter()
        .map(|(stack, cost)| format!("{stack} {cost:?}\n"))
        .collect()
}

/// The sum over all times of a column, for each thread.
fn sums(bins: &Table) -> BTreeMap<u64, [u64; 3]> {
    let mut sums = BTreeMap::new();
    for row in 0..bins.row_count() {
        let sum: &mut [u64; 3] = sums.entry(integer(bins, "stream", row)).or_default();
        let columns = ["accesses", "l1_misses", "l2_misses"].into_iter();
        sum.iter_mut()
            .zip(columns)
            .for_each(|(sum, column)| *sum += integer(bins, column, row));
    }
    sums
}

proptest! {
    #[test]
    fn stacks_cost_what_their_accesses_do(bytes in prop::collection::vec(any::<u8>(), 0..600), caches in caches()) {
        let trace = scene::trace(&bytes);
        let found = findings(&Calls::new(caches.clone(), usize::MAX), &trace);
        let expected = findings(&Reference(caches.clone()), &trace);
        prop_assert_eq!(lines_of(table(&found, "stacks")), expected.answer.unwrap());
        let one_by_one = findings(&Accesses(Calls::new(caches, usize::MAX)), &trace);
        let csv = |findings: &Findings| findings.tables.iter().map(to_csv).collect::<Vec<_>>();
        prop_assert_eq!(csv(&found), csv(&one_by_one));
    }

    #[test]
    fn slices_are_the_same(bytes in prop::collection::vec(any::<u8>(), 0..600), caches in caches()) {
        let trace = scene::trace(&bytes);
        let slices = Slices::new(&trace, caches, usize::MAX);
        let (found, one_by_one) = (findings(&slices, &trace), findings(&Accesses(slices.clone()), &trace));
        prop_assert_eq!(to_csv(table(&found, "slices")), to_csv(table(&one_by_one, "slices")));
        prop_assert_eq!(sums(table(&found, "time_bins")), sums(table(&one_by_one, "time_bins")));
    }
}
