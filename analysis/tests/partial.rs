//! Work that is divided between processes gives the same findings as in one: all tasks of a plan, with their results as
//! bytes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use trackway_analysis::blocks::Origins;
use trackway_analysis::cache::Caches;
use trackway_analysis::layout::{Layout, Shown};
use trackway_analysis::misses::Misses;
use trackway_analysis::partial::{
    finish, plan, run_task, LinesRun, Partial, PartialError, Partitioned, Portable,
};
use trackway_analysis::reuse::{Reuse, ReuseGrouping, Sampling};
use trackway_analysis::sharing::Sharing;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::structures::Structures;
use trackway_analysis::{run, Findings, RunSummary, WorkPart};
use trackway_report::to_csv;
use trackway_trace::Trace;

fn golden() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    Trace::open(&path).unwrap()
}

fn caches(text: &str) -> Caches {
    match text {
        "none" => Caches::none(),
        text => text.parse().unwrap(),
    }
}

/// Blocks of each part, as a shuffle would sort them.
type Shuffled = BTreeMap<(u32, u32, u64), Vec<u8>>;

/// All tasks and parts, each as if another process did it.
fn divided<A: Portable>(analysis: &A, trace: &Trace, count: usize) -> (Findings, RunSummary) {
    let plan = plan(analysis, trace, NonZeroUsize::new(count).unwrap());
    let travelled = |partial: Partial<A::Shard>| {
        let bytes = partial.to_bytes(analysis, "about", trace).unwrap();
        Partial::from_bytes(&bytes, analysis, "about", trace).unwrap()
    };
    let mut all = Partial::default();
    let mut shuffled = Shuffled::new();
    for task in &plan.tasks {
        let mut emit = |sifted: Partitioned| {
            let key = (sifted.part, sifted.stream, sifted.number);
            assert!(shuffled.insert(key, sifted.block).is_none(), "{key:?} came twice");
        };
        let partial = run_task(analysis, trace, plan.parts, task, &mut emit).unwrap();
        all.merge(analysis, travelled(partial));
    }
    for number in 0..plan.parts {
        let part = WorkPart {
            number,
            count: plan.parts,
        };
        let mut lines = LinesRun::new(trace, part);
        for ((_, stream, order), block) in shuffled.range((number, 0, 0)..(number + 1, 0, 0)) {
            lines.take(analysis, trace, *stream, *order, block).unwrap();
        }
        all.merge(analysis, travelled(lines.finish(analysis)));
    }
    finish(analysis, trace, travelled(all))
}

fn assert_same<A: Portable>(analysis: &A) {
    let trace = golden();
    let (whole, whole_summary) = run(analysis, &trace, NonZeroUsize::MIN, &|_: u64, _: u64| ());
    let tables = |findings: &Findings| -> Vec<_> { findings.tables.iter().map(to_csv).collect() };
    for count in [1, 3, 7] {
        let (findings, summary) = divided(analysis, &trace, count);
        assert_eq!(findings.answer, whole.answer);
        assert_eq!(tables(&findings), tables(&whole));
        assert_eq!(
            (
                summary.accesses,
                summary.by_library,
                summary.events,
                summary.chunks,
                summary.uncertain_accesses
            ),
            (
                whole_summary.accesses,
                whole_summary.by_library,
                whole_summary.events,
                whole_summary.chunks,
                whole_summary.uncertain_accesses
            )
        );
    }
}

const CACHES: [&str; 6] = [
    "none",
    "L1=128,1,64:L2=256,2,64",
    "L1=2K,2,64:L2=8K,4,64,shared",
    "L1=1K,2,32,write-through:L2=4K,4,64",
    "L1=1K,2,64:L2=4K,4,64,inclusive",
    "L1=1K,2,64:TLB1=2,1",
];

#[test]
fn misses_with_details() {
    for text in CACHES {
        let caches = caches(text);
        let rank_by = Measure::default_for(&caches);
        assert_same(&Misses::new(caches, Grouping::ALL.to_vec(), rank_by, 10).with_details());
    }
}

#[test]
fn layouts() {
    for text in CACHES {
        for window in [1, 5, 1000] {
            let caches = caches(text);
            let shown = Shown {
                only: None,
                top: 10,
                rank_by: Measure::default_for(&caches),
                command: "trackway whatif".into(),
            };
            let structures = Structures::of(golden().program());
            assert_same(&Layout::new(structures, caches, window, shown));
        }
    }
}

#[test]
fn sharing() {
    for line_bytes in [1, 16, 64] {
        assert_same(&Sharing::new(golden().program(), line_bytes, 10));
    }
}

#[test]
fn reuse() {
    for sampling in [None, Some(Sampling::Rate(0.5)), Some(Sampling::Lines(4))] {
        for merged in [false, true] {
            assert_same(&Reuse {
                line_bytes: 16,
                merged,
                sampling,
                groupings: vec![ReuseGrouping::Field, ReuseGrouping::Allocation],
                origins: Arc::new(Origins::none(golden().program())),
                top: 10,
                fine: true,
                moments: None,
            });
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let trace = golden();
    let sharing = Sharing::new(trace.program(), 64, 10);
    let bytes = |partial: Partial<_>| partial.to_bytes(&sharing, "sharing 64", &trace).unwrap();
    let read = |bytes: &[u8], about| Partial::from_bytes(bytes, &sharing, about, &trace).err();
    let good = bytes(Partial::default());
    assert!(read(&good, "sharing 64").is_none());
    assert!(matches!(
        read(&good, "sharing 32"),
        Some(PartialError::OtherAnalysis { .. })
    ));
    let changed = |position: usize| {
        let mut bytes = good.clone();
        bytes[position] ^= 1;
        read(&bytes, "sharing 64")
    };
    assert!(matches!(changed(0), Some(PartialError::NoPartial { .. })));
    assert!(matches!(changed(4), Some(PartialError::OtherVersion { .. })));
    assert!(matches!(changed(6), Some(PartialError::OtherTrace)));
    for length in 0..good.len() {
        assert!(read(&good[..length], "sharing 64").is_some(), "{length}");
    }
    let mut lines = LinesRun::new(&trace, WorkPart { number: 0, count: 2 });
    lines.take(&sharing, &trace, 0, 5, &[]).unwrap();
    for (stream, number) in [(0, 5), (0, 4)] {
        let mut lines = LinesRun::new(&trace, WorkPart { number: 0, count: 2 });
        lines.take(&sharing, &trace, 0, 5, &[]).unwrap();
        let refused = lines.take(&sharing, &trace, stream, number, &[]);
        assert!(matches!(refused, Err(PartialError::OutOfOrder { .. })));
    }
    assert!(matches!(
        lines.take(&sharing, &trace, 1, 0, &[1]),
        Err(PartialError::BadBlock { .. })
    ));
}
