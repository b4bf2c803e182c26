//! Runs give the same findings as their accesses.

mod one_by_one;
#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::num::NonZeroUsize;

use one_by_one::Accesses;
use testing::file::FileBytes;
use testing::loops::nest_table;
use trackway_analysis::cache::Caches;
use trackway_analysis::misses::Misses;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::{run, Analysis};
use trackway_report::to_csv;
use trackway_trace::{Codec, Trace};

fn trace_of_nests(nests: &[[u64; 3]]) -> Trace {
    let mut payload = Vec::new();
    for roots in nests {
        payload.extend_from_slice(&(1u32 << 8).to_le_bytes());
        roots
            .iter()
            .for_each(|root| payload.extend_from_slice(&root.to_le_bytes()));
    }
    FileBytes::new(Codec::None)
        .module(0, 1, &nest_table())
        .records(0, 0, &payload)
        .open()
}

fn analysis(caches: &str) -> Misses {
    let caches: Caches = caches.parse().unwrap();
    let rank_by = Measure::default_for(&caches);
    Misses::new(caches, vec![Grouping::Site], rank_by, 10)
}

/// The tables, and the number of accesses.
fn results<A: Analysis>(analysis: &A, trace: &Trace) -> (Vec<String>, u64) {
    results_on(analysis, trace, 1)
}

fn results_on<A: Analysis>(analysis: &A, trace: &Trace, threads: usize) -> (Vec<String>, u64) {
    let threads = NonZeroUsize::new(threads).unwrap();
    let (findings, summary) = run(analysis, trace, threads, &|_, _| ());
    assert!(summary.damage.is_empty());
    (findings.tables.iter().map(to_csv).collect(), summary.accesses)
}

#[test]
fn misses_are_the_same() {
    let trace = trace_of_nests(&[[0x1000, 40, 300], [0x1003, 7, 3], [0x9000, 3, 1000]]);
    for caches in ["L1=4K,4,64:L2=32K,8,64", "L1=1K,1,32", "L1=32K,8,64", "none"] {
        let expected = results(&Accesses(analysis(caches)), &trace);
        assert_eq!(results(&analysis(caches), &trace), expected, "{caches}");
        assert_eq!(expected.1, 40 * 601 + 7 * 7 + 3 * 2001);
    }
}

/// If there are more threads than streams, each thread simulates other lines.
#[test]
fn parts_come_to_the_same_as_the_whole() {
    // The last two cross borders of lines.
    let trace = trace_of_nests(&[
        [0x1000, 40, 300],
        [0x1003, 7, 3],
        [0x903e, 30, 1000],
        [u64::MAX - 90, 1, 9],
    ]);
    for (caches, parts) in [
        ("L1=4K,4,64:L2=32K,8,64", 16),
        ("L1=4K,4,64:L2=24K,4,128", 8),
        ("L1=1K,1,32", 32),
        ("L1=3K,1,64", 16),
        ("L1=32K,8,64,plru", 1),
        ("L1=32K,8,64:TLB1=4,4", 1),
        ("L1=32K,8,64:classes", 1),
    ] {
        let analysis = analysis(caches);
        assert_eq!(analysis.most_parts(), parts, "{caches}");
        let whole = results(&analysis, &trace);
        for threads in [2, 3, 8, 100] {
            assert_eq!(
                results_on(&analysis, &trace, threads),
                whole,
                "{caches}, {threads} threads"
            );
            let accesses = Accesses(analysis.clone());
            assert_eq!(results_on(&accesses, &trace, threads), whole);
        }
    }
}

#[test]
fn counting_takes_no_longer_for_longer_runs() {
    let trace = trace_of_nests(&[[0x1000, 1000, 1 << 29]]);
    let (tables, accesses) = results(&analysis("none"), &trace);
    assert_eq!(accesses, 1000 * ((1 << 30) + 1));
    let sites: Vec<&str> = tables[0].lines().collect();
    assert!(sites[0].ends_with("accesses,bytes,share"), "{}", sites[0]);
    assert!(sites[1].contains("536870912000"), "{}", sites[1]);
}
