//! A live run over the chunks of the golden trace equals a run over its file.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::Misses;
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::{run, run_live, Analysis, Findings, LiveChunk, Order};
use trackway_report::to_csv;
use trackway_trace::chunk::FLAG_LAST;
use trackway_trace::{Batch, ChunkHeader, ChunkKind, GrowingTrace, Trace};

const GROUPINGS: [Grouping; 3] = [Grouping::Field, Grouping::Kind, Grouping::Site];

fn misses() -> Misses {
    let caches: Caches = "L1=128,1,64:L2=256,2,64".parse().unwrap();
    Misses::new(caches, GROUPINGS.to_vec(), Measure::Misses(0), 10)
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    let (whole, bytes) = (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap());
    let (findings, summary) = run(&misses(), &whole, NonZeroUsize::MIN, &|_, _| ());
    let told = AtomicU64::new(0);
    let live = run_live(
        &path,
        &mut chunks(&whole, &bytes),
        |_: &GrowingTrace| Ok::<_, Infallible>(misses()),
        &|accesses, _| {
            told.fetch_add(accesses, Ordering::Relaxed);
        },
    );
    let Ok(live) = live;
    let tables = |findings: &Findings| -> Vec<_> { findings.tables.iter().map(to_csv).collect() };
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    let (whole, bytes) = (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap());
    let live = run_live(
        &path,
        &mut chunks(&whole, &bytes),
        |_| Ok::<_, Infallible>(misses()),
        &|_, _| (),
    );
    let Ok(live) = live;
    let (findings, _) = run(&misses(), &whole, NonZeroUsize::MIN, &|_, _| ());
    for (live, whole) in live.findings.tables.iter().zip(&findings.tables) {
        assert_eq!(to_csv(live), to_csv(whole));
    }
}

/// Counts the shards that took anything.
struct Shards;

impl Analysis for Shards {
    type Shard = u64;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn start_shard(&self) -> u64 {
        0
    }

    fn take_batch(&self, shard: &mut u64, _: &Batch) {
        *shard = 1;
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
fn ended_threads_may_record_a_little_more() {
    const STREAMS: u32 = 40;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway");
    let (whole, bytes) = (Trace::open(&path).unwrap(), std::fs::read(&path).unwrap());
    for (late_ns, shards) in [(500_000_000, STREAMS), (5_000_000_000, STREAMS + 1)] {
        let (mut definitions, mut records) = (Vec::new(), Vec::new());
        for chunk in chunks(&whole, &bytes) {
            match chunk.header.kind {
                ChunkKind::Records => records.push(chunk),
                _ => definitions.push(chunk),
            }
        }
        let of_stream = |stream, last_ns| LiveChunk {
            header: ChunkHeader {
                stream,
                last_ns,
                flags: FLAG_LAST,
                ..records[0].header
            },
            bytes: records[0].bytes.clone(),
        };
        let ends = (0..STREAMS).map(|stream| of_stream(stream, 1));
        // The second chunk tells the time, too.
        let late = [of_stream(1, late_ns), of_stream(0, late_ns)];
        let live = run_live(
            &path,
            &mut definitions.into_iter().chain(ends).chain(late),
            |_| Ok::<_, Infallible>(Shards),
            &|_, _| (),
        );
        let Ok(live) = live;
        assert!(live.summary.damage.is_empty());
        assert_eq!(live.findings.answer, Some(shards.to_string()));
    }
}
