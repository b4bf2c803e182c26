use std::path::Path;

use trackway_trace::{ChunkKind, WHOLE_PROGRAM};

use super::*;
use crate::analyses::regions::Regions;

const SECOND: u64 = 1_000_000_000;

/// A program whose only module is not known. Times and entries are known, bytes are not.
fn no_tables() -> Trace {
    let header = trackway_trace::file_header([1; 16]).to_vec();
    Trace::from_bytes("synthetic".as_ref(), header).unwrap()
}

struct Scene {
    regions: LiveRegions,
    trace: Trace,
}

impl Scene {
    fn new() -> Self {
        Scene {
            regions: LiveRegions::new(0),
            trace: no_tables(),
        }
    }

    fn see(&mut self, stream: u32, counts: &NodeCounts, seen_ns: u64, is_final: bool) {
        let seen = SeenNode {
            stream,
            process: 0,
            pid: 40,
            first_ns: counts.node.into(),
            seen_ns,
            is_final,
            counts,
        };
        self.regions.see(&seen, &self.trace, &Clock::default());
    }
}

fn outside() -> NodeCounts {
    NodeCounts {
        entries: 1,
        entered_ticks: 1,
        thread: 41,
        ..NodeCounts::default()
    }
}

fn solve(entries: u64, ticks: u64) -> NodeCounts {
    NodeCounts {
        node: 1,
        thread: 41,
        entries,
        counted_entries: entries,
        counted_ticks: ticks,
        name: "solve".into(),
        ..NodeCounts::default()
    }
}

fn only(sample: &Sample) -> Activity {
    assert_eq!(sample.regions.len(), 1);
    sample.regions[0].all
}

#[test]
fn a_sample_is_what_came_since_the_last() {
    let mut scene = Scene::new();
    scene.see(0, &outside(), SECOND, false);
    scene.see(0, &solve(10, SECOND / 2), SECOND, false);
    let first = scene.regions.sample(SECOND);
    assert_eq!((only(&first).entries, only(&first).own_time_ns), (10, SECOND / 2));
    scene.see(0, &outside(), 3 * SECOND, false);
    scene.see(0, &solve(40, SECOND), 3 * SECOND, false);
    let second = scene.regions.sample(3 * SECOND);
    assert_eq!((only(&second).entries, only(&second).time_ns), (30, SECOND / 2));
    assert_eq!(second.per_second(only(&second).entries), Some(15.0));
    assert_eq!(second.time_share(&only(&second)), Some(0.25));
    assert_eq!(second.regions[0].total.entries, 40);
}

#[test]
fn an_open_entry_lasts_until_now() {
    let mut scene = Scene::new();
    let open = NodeCounts {
        counted_entries: 0,
        entered_ticks: SECOND,
        flags: trackway_trace::COUNTED_ENTRY,
        ..solve(1, 0)
    };
    for (seen, expected) in [(2, SECOND), (4, 2 * SECOND)] {
        scene.see(0, &open, seen * SECOND, false);
        assert_eq!(only(&scene.regions.sample(seen * SECOND)).time_ns, expected);
    }
}

#[test]
fn differences_below_0_are_0_and_are_not_made_up_for_twice() {
    let mut scene = Scene::new();
    let times: Vec<u64> = [100, 90, 120]
        .map(|ticks| {
            scene.see(0, &solve(1, ticks), 0, false);
            only(&scene.regions.sample(0)).time_ns
        })
        .to_vec();
    assert_eq!(times, [100, 0, 20]);
}

#[test]
fn a_node_that_is_gone_keeps_what_was_seen() {
    let mut scene = Scene::new();
    scene.see(0, &solve(10, 100), 0, false);
    scene.see(1, &solve(5, 50), 0, false);
    scene.regions.sample(1);
    scene.see(1, &solve(6, 60), 0, false);
    let sample = scene.regions.sample(2);
    assert_eq!((only(&sample).entries, sample.regions[0].total.entries), (1, 16));
    let whole = scene.regions.whole(0);
    assert_eq!((only(&whole).entries, whole.regions[0].threads.len()), (16, 2));
    assert_eq!(
        sample.regions[0].threads.len(),
        1,
        "the other one doesn't count any more"
    );
}

#[test]
fn what_was_handed_over_is_the_last_word() {
    let mut scene = Scene::new();
    scene.see(0, &solve(12, 120), 0, true);
    scene.see(0, &solve(10, 100), 0, false);
    assert_eq!(only(&scene.regions.sample(1)).entries, 12);
    // A thread that counts again after its end has a node of the same number.
    let again = SeenNode {
        stream: 0,
        process: 0,
        pid: 40,
        first_ns: 99,
        seen_ns: 0,
        is_final: false,
        counts: &solve(3, 30),
    };
    scene.regions.see(&again, &scene.trace, &Clock::default());
    assert_eq!(only(&scene.regions.sample(2)).entries, 3);
}

#[test]
fn entries_that_passed_take_as_long_as_those_that_were_timed() {
    let mut scene = Scene::new();
    let sampled = NodeCounts {
        entries: 100,
        timed_entries: 10,
        timed_ticks: 50,
        ..solve(10, 100)
    };
    scene.see(0, &sampled, 0, false);
    let activity = only(&scene.regions.sample(1));
    assert_eq!((activity.entries, activity.time_ns), (100, 500));
}

#[test]
fn threads_are_compared_within_the_interval() {
    let mut scene = Scene::new();
    scene.see(0, &solve(1, 30), 0, false);
    scene.see(1, &solve(1, 10), 0, false);
    let sample = scene.regions.sample(1);
    assert_eq!(
        sample.regions[0].imbalance(|activity| activity.time_ns),
        Some(1.5)
    );
    assert_eq!(sample.regions[0].imbalance(Activity::bytes), None);
}

#[test]
fn a_program_without_regions_is_one() {
    let mut scene = Scene::new();
    let whole = NodeCounts {
        flags: WHOLE_PROGRAM | trackway_trace::COUNTED_ENTRY,
        ..outside()
    };
    scene.see(0, &whole, SECOND, false);
    let sample = scene.regions.sample(SECOND);
    assert_eq!(sample.regions[0].name, "(whole program)");
    assert!(sample.time_share(&only(&sample)).unwrap() > 0.99);
}

#[test]
fn the_series_has_a_row_for_each_thread() {
    let mut scene = Scene::new();
    scene.see(0, &solve(1, 30), 0, false);
    scene.see(1, &solve(2, 10), 0, false);
    let samples = [scene.regions.sample(SECOND)];
    let table = series(&samples, 0, false);
    let csv = trackway_report::to_csv(&table);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("time_s,interval_s,region,process,thread,stream,entries,"));
    assert_eq!(
        lines[1..],
        [
            "1,1,solve,40,41,0,1,30,30,,,1,,,",
            "1,1,solve,40,41,1,2,10,10,,,2,,,"
        ]
    );
}

/// The trace has derived variables, counted amounts, nested regions and several threads.
#[test]
fn what_was_handed_over_adds_up_to_the_report() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/counts-v2.trackway");
    let trace = Trace::open(&path).unwrap();
    let mut live = LiveRegions::new(0);
    let mut payload = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::Counts) {
        trace.read_payload(chunk, &mut payload).unwrap();
        let seen = SeenNode {
            stream: chunk.header.stream,
            process: chunk.header.process,
            pid: 1,
            first_ns: chunk.header.first_ns,
            seen_ns: chunk.header.last_ns,
            is_final: true,
            counts: &NodeCounts::from_bytes(&payload),
        };
        live.see(&seen, &trace, &trace.clock());
    }
    let sample = live.sample(1);
    assert_eq!(live.whole(0), sample);
    let report = Regions::read(&trace);
    assert_eq!(sample.regions.len(), report.regions.len());
    for region in &report.regions {
        let found = sample
            .regions
            .iter()
            .find(|found| found.name == region.name)
            .unwrap();
        let totals = region.totals();
        let expected = Activity {
            entries: totals.entries,
            time_ns: totals.time_ns,
            own_time_ns: totals.own_time_ns,
            bytes_read: totals.accesses.bytes_read,
            bytes_written: totals.accesses.bytes_written,
        };
        assert_eq!(found.all, expected, "{}", region.name);
        assert_eq!(found.threads.len(), region.threads.len(), "{}", region.name);
    }
}
