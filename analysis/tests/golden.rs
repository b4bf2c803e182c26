//! The engine and the analysis of misses over the golden trace, whose accesses are listed in `trace/testing/golden.rs`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::Misses;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::{run, Analysis, Findings, Order};
use trackway_report::{to_csv, Table};
use trackway_trace::{Batch, Trace};

fn golden() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    Trace::open(&path).unwrap()
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn misses(groupings: &[Grouping]) -> Misses {
    let caches: Caches = "L1=32K,8,64".parse().unwrap();
    Misses::new(caches, groupings.to_vec(), Measure::Misses(0), 10)
}

fn table<'f>(findings: &'f Findings, name: &str) -> &'f Table {
    findings.tables.iter().find(|table| table.name() == name).unwrap()
}

/// Counts loads and stores alike; needs no order.
struct Count(Order);

impl Analysis for Count {
    type Shard = u64;

    fn order(&self) -> Order {
        self.0
    }

    fn start_shard(&self) -> u64 {
        0
    }

    fn take_batch(&self, shard: &mut u64, batch: &Batch) {
        *shard += batch.len() as u64;
    }

    fn merge(&self, into: &mut u64, from: u64) {
        *into += from;
    }

    fn finish(&self, shard: u64, _: &Trace) -> Findings {
        Findings {
            answer: Some(shard.to_string()),
            tables: Vec::new(),
        }
    }
}

#[test]
fn misses_are_those_counted_by_hand() {
    // Lines 1000, 2000, 404000, 3000, 3040 (the end of the fill) and 4000 of the ten accesses are new.
    let trace = golden();
    let groupings = [Grouping::Field, Grouping::Kind, Grouping::Thread];
    let (findings, summary) = run(&misses(&groupings), &trace, threads(1), &|_, _| ());
    assert_eq!(summary.accesses, 10);
    assert_eq!(
        (summary.events, summary.chunks, summary.uncertain_accesses),
        (3, 2, 2)
    );
    assert!(summary.damage.is_empty());
    assert_eq!(
        to_csv(table(&findings, "fields")),
        "field,accesses,bytes,l1_misses,share\r\nnode.next,10,152,6,1\r\n"
    );
    assert_eq!(
        to_csv(table(&findings, "threads")),
        "stream,accesses,bytes,l1_misses,share\r\n0,10,152,6,1\r\n"
    );
    assert_eq!(
        to_csv(table(&findings, "memory_traffic")),
        "bytes_read,bytes_written\r\n384,0\r\n"
    );
    let kinds = to_csv(table(&findings, "kinds"));
    assert_eq!(
        kinds,
        "kind,accesses,bytes,l1_misses,share\r\n\
         store,3,12,3,0.5\r\n\
         load,6,40,2,0.3333333333333333\r\n\
         fill,1,100,1,0.16666666666666666\r\n"
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let trace = golden();
    let tables = |count| {
        let (findings, _) = run(&misses(&Grouping::ALL), &trace, threads(count), &|_, _| ());
        (
            findings.answer,
            findings.tables.iter().map(to_csv).collect::<Vec<_>>(),
        )
    };
    let expected = tables(1);
    assert_eq!(expected.1.len(), Grouping::ALL.len() + 3);
    assert_eq!(tables(4), expected);
}

#[test]
fn analyses_combine_and_may_be_absent() {
    let trace = golden();
    let both = ((Count(Order::Any), None::<Count>), Some(Count(Order::PerStream)));
    assert_eq!(both.order(), Order::PerStream);
    let (findings, _) = run(&both, &trace, threads(2), &|_, _| ());
    assert_eq!(findings.answer.as_deref(), Some("10\n10"));
}

#[test]
fn progress_adds_up() {
    let trace = golden();
    for order in [Order::Any, Order::PerStream] {
        let (accesses, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        run(&Count(order), &trace, threads(3), &|more_accesses, more_bytes| {
            accesses.fetch_add(more_accesses, Ordering::Relaxed);
            bytes.fetch_add(more_bytes, Ordering::Relaxed);
        });
        let raw: u64 = trace.streams()[0]
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.header.raw_length))
            .sum();
        assert_eq!((accesses.into_inner(), bytes.into_inner()), (10, raw));
    }
}

#[test]
fn a_damaged_chunk_costs_only_itself() {
    const CHUNK_HEADER: usize = 64;
    let trace = golden();
    let first = trace.streams()[0].chunks[0].offset;
    let mut bytes = std::fs::read(trace.path()).unwrap();
    bytes[first as usize + CHUNK_HEADER] ^= 1;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();

    let damaged = Trace::open(file.path()).unwrap();
    let (findings, summary) = run(&misses(&[Grouping::Kind]), &damaged, threads(2), &|_, _| ());
    assert_eq!(summary.damage.len(), 1);
    assert_eq!(summary.damage[0].offset(), Some(first));
    assert_eq!((summary.chunks, summary.accesses), (2, 2));
    // The tail alone: a store and a load, each of a new line.
    let kinds = to_csv(table(&findings, "kinds"));
    assert!(
        kinds.contains("store,1,4,1,0.5") && kinds.contains("load,1,8,1,0.5"),
        "{kinds}"
    );
}
