//! A live run over the chunks of the golden trace comes to the same as a run over its file.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::{Grouping, Measure, Misses};
use trackway_analysis::{run, run_live, LiveChunk};
use trackway_report::to_csv;
use trackway_trace::{GrowingTrace, Trace};

const GROUPINGS: [Grouping; 3] = [Grouping::Field, Grouping::Kind, Grouping::Site];

fn misses(trace: &Trace) -> Misses {
    let caches: Caches = "L1=128,1,64:L2=256,2,64".parse().unwrap();
    Misses::new(
        trace.program(),
        caches,
        GROUPINGS.to_vec(),
        Measure::Misses(0),
        10,
    )
}

fn chunks<'t>(trace: &'t Trace, bytes: &'t [u8]) -> impl Iterator<Item = LiveChunk> + 't {
    trace.chunks().iter().map(|chunk| {
        let start = chunk.offset as usize;
        LiveChunk {
            header: chunk.header,
            bytes: bytes[start..start + chunk.header.chunk_length() as usize].to_vec(),
        }
    })
}

#[test]
fn it_comes_to_the_same_as_a_run_over_the_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v1.trackway");
    let (whole, bytes) = (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap());
    let (findings, summary) = run(&misses(&whole), &whole, NonZeroUsize::MIN, &|_, _| ());
    let told = AtomicU64::new(0);
    let live = run_live(
        &path,
        &mut chunks(&whole, &bytes),
        |growing: &GrowingTrace| Ok::<_, Infallible>(misses(growing.trace())),
        &|accesses, _| {
            told.fetch_add(accesses, Ordering::Relaxed);
        },
    );
    let Ok(live) = live;
    let tables =
        |findings: &trackway_analysis::Findings| -> Vec<_> { findings.tables.iter().map(to_csv).collect() };
    assert_eq!(tables(&live.findings), tables(&findings));
    assert_eq!(live.findings.answer, findings.answer);
    assert_eq!(live.summary.accesses, summary.accesses);
    assert_eq!(live.summary.events, summary.events);
    assert_eq!(live.summary.chunks, summary.chunks);
    assert_eq!(live.summary.uncertain_accesses, summary.uncertain_accesses);
    assert_eq!(told.into_inner(), summary.accesses);
    assert_eq!(live.trace.trace().streams(), whole.streams());
    assert_eq!(live.trace.trace().end(), whole.end());
}

#[test]
fn an_analysis_that_cannot_start_ends_the_run() {
    let refused =
        run_live::<Misses, &str>(Path::new("t"), &mut std::iter::empty(), |_| Err("no"), &|_, _| ());
    assert_eq!(refused.err(), Some("no"));
}

#[test]
fn sites_of_modules_that_are_loaded_later_are_counted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v1.trackway");
    let (whole, bytes) = (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap());
    let empty = GrowingTrace::new(&path);
    let live = run_live(
        &path,
        &mut chunks(&whole, &bytes),
        |_| Ok::<_, Infallible>(misses(empty.trace())),
        &|_, _| (),
    );
    let Ok(live) = live;
    let (findings, _) = run(&misses(&whole), &whole, NonZeroUsize::MIN, &|_, _| ());
    for (live, whole) in live.findings.tables.iter().zip(&findings.tables) {
        assert_eq!(to_csv(live), to_csv(whole));
    }
}
