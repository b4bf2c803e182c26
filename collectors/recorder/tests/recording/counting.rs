//! A program that counts: every node must be in the trace with all that was counted.

use trackway_recorder::{CountsSummary, ProgramEnd};
use trackway_trace::check::check_structure;
use trackway_trace::{ModuleId, Node, Trace};

use crate::endings::start_recorder_of;
use crate::support::*;

/// Stream by stream.
fn nodes(trace: &Trace) -> Vec<Vec<Node>> {
    let threads = trace.counting_threads().iter();
    let nodes = threads.map(|thread| {
        let (nodes, damage) = trace.read_nodes(thread);
        assert!(damage.is_empty(), "{damage:?}");
        nodes
    });
    assert_eq!(check_structure(trace), []);
    nodes.collect()
}

/// Name, parent, entries and the first counter; the second one must be twice as much.
fn summary(nodes: &[Node]) -> Vec<(&str, u32, u64, u64)> {
    let counted = nodes.iter().filter(|node| node.number != 0);
    counted
        .map(|node| {
            let counter = |index: usize| node.counters.get(index).copied().unwrap_or(0);
            assert_eq!(counter(1), 2 * counter(0));
            (node.name.as_str(), node.parent, node.entries, counter(0))
        })
        .collect()
}

const NESTED: [(&str, u32, u64, u64); 2] = [("outer", 0, 1, 11), ("inner", 1, 1, 5)];

#[test]
fn threads_hand_over_their_nodes() {
    let recorded = record_program(counter(), &["threads"], |_| {});
    let threads = nodes(&recorded.trace);
    assert_eq!(threads.len(), 4);
    for nodes in &threads {
        assert_eq!(summary(nodes), [("outer", 0, 3, 33), ("inner", 1, 3, 15)]);
        assert!(nodes.iter().all(|node| !node.is_open && !node.is_tail));
        assert!(nodes[0].timed_time_ns >= nodes[1].counted_time_ns);
        assert_eq!(recorded.trace.counting_modules(0, nodes[0].image), [ModuleId(0)]);
    }
    let expected = CountsSummary {
        regions: 2,
        threads: 4,
        nodes: 12,
    };
    let summary = &recorded.summary;
    assert_eq!(
        (summary.counts, summary.raw_bytes, summary.instrumented),
        (expected, 0, true)
    );
    assert!(recorded.trace.holds_only_counts() && recorded.trace.gaps().is_empty());
}

#[test]
fn a_killed_program_leaves_its_nodes() {
    let recorded = record_program(counter(), &["kill"], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Signalled(9));
    let threads = nodes(&recorded.trace);
    assert_eq!(
        summary(&threads[0]),
        [&NESTED[..], &[("inner", 0, 1, 2)]].concat()
    );
    let open: Vec<bool> = threads[0].iter().map(|node| node.is_open).collect();
    assert_eq!(open, [true, false, false, true]);
    assert!(threads[0].iter().all(|node| node.is_tail));
}

#[test]
fn a_forked_child_has_nodes_of_its_own() {
    let recorded = record_program(counter(), &["fork"], |_| {});
    let threads = nodes(&recorded.trace);
    assert_eq!(threads.len(), 2);
    assert_eq!(summary(&threads[0]), [("outer", 0, 2, 11), NESTED[1]]);
    assert_eq!(summary(&threads[1]), [("outer", 0, 1, 7)]);
    let [parent, child] = [&threads[0][0], &threads[1][0]];
    assert_eq!((parent.image, parent.process, child.process), (child.image, 0, 1));
    assert_eq!(recorded.trace.counting_modules(1, child.image), [ModuleId(0)]);
}

#[test]
fn the_image_before_exec_is_another() {
    let recorded = record_program(counter(), &["exec"], |_| {});
    let threads = nodes(&recorded.trace);
    assert_eq!(threads.len(), 5);
    assert_eq!(summary(&threads[0]), NESTED);
    let [before, after] = [&threads[0][0], &threads[4][0]];
    assert_ne!(before.image, after.image);
    assert_eq!(
        recorded.trace.counting_modules(after.process, after.image),
        [ModuleId(1)]
    );
}

#[test]
fn ending_the_recording_takes_what_was_counted_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left.trackway");
    let mut running = start_recorder_of(counter(), &path, &["leave"]);
    assert_eq!(running.line(), "ready");
    std::thread::sleep(std::time::Duration::from_millis(200)); // the program itself ends meanwhile
    running.signal(libc::SIGINT);
    assert_eq!(running.recorder.wait().unwrap().code(), Some(3));
    let trace = open(&path);
    assert_eq!(trace.end().unwrap().reason, "interrupted");
    let threads = nodes(&trace);
    let child = threads.last().unwrap();
    assert_eq!(summary(child), [("outer", 0, 1, 7)]);
    assert!(child[1].is_open && child[1].is_tail && child[1].counted_time_ns > 0);
    assert!(trace.gaps().is_empty());
}

/// Counters speak of the counted entries alone, in whichever nodes these are.
#[test]
fn entries_may_be_timed_in_place_of_counted() {
    let recorded = record_program(counter(), &["often"], |options| options.count_every = 8);
    let threads = nodes(&recorded.trace);
    let outer: Vec<&Node> = threads[0].iter().filter(|node| node.name == "outer").collect();
    let sum = |number: fn(&Node) -> u64| -> u64 { outer.iter().map(|node| number(node)).sum() };
    let counted = sum(|node| node.counted_entries);
    assert_eq!(sum(|node| node.entries), 1000);
    assert!(counted > 0 && counted < 1000);
    assert!(counted + sum(|node| node.timed_entries) <= 1000);
    for node in &outer {
        let counter = node.counters.first().copied().unwrap_or(0);
        assert_eq!(counter, 11 * node.counted_entries);
    }
}

#[test]
fn every_compression_keeps_the_counts() {
    use trackway_recorder::Compression;
    for compression in [Compression::None, Compression::Zstd, Compression::Columns] {
        let recorded = record_program(counter(), &["threads"], |options| {
            options.compression = compression;
            options.buffer_size = SMALL_BUFFER;
        });
        assert_eq!(nodes(&recorded.trace).len(), 4);
    }
}
