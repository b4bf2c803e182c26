//! Scenes that a hand-written program plays: every access that it made must be in the trace, in order.

use trackway_recorder::{record, Output, ProgramEnd, RecordOptions};
use trackway_trace::ProcessEvent;

use crate::support::*;

#[test]
fn one_thread() {
    let recorded = record_player(&["count", "200000"], |_| {});
    assert_eq!(all_addresses(&recorded.trace), [run(1, 200_000)]);
    check_oracle(&recorded.trace);
    let summary = &recorded.summary;
    assert_eq!(summary.program_end, ProgramEnd::Exited(0));
    assert_eq!((summary.modules, summary.processes, summary.streams), (1, 1, 1));
    assert_eq!(summary.interrupted_streams, 0, "it ended in order");
    // The last address ends in zero bytes, which a swept buffer does not tell from unused ones.
    assert_eq!(summary.raw_bytes, 200_000 * 12 - 5);
    assert_eq!(summary.chunks, recorded.trace.end().unwrap().chunks + 1);
    assert!(summary.instrumented && summary.write_failure.is_none() && !summary.interrupted);
    assert_eq!(recorded.trace.meta().arguments, ["count", "200000"]);
}

#[test]
fn threads_hand_over_their_last_buffer() {
    let recorded = record_player(&["threads", "10"], |_| {});
    let chunks = recorded.trace.streams().iter().flat_map(|stream| &stream.chunks);
    assert!(chunks
        .clone()
        .all(|chunk| !chunk.header.is_tail() && chunk.header.flags == 2));
    assert_eq!(chunks.count(), 8);
}

#[test]
fn destructors_record_after_the_thread() {
    let recorded = record_player(&["late", "100"], |_| {});
    let late = (1..=4).rev().flat_map(|round| run(0xdead_0000 + round, 10));
    assert_eq!(
        all_addresses(&recorded.trace),
        [[run(1, 100), late.collect()].concat()]
    );
    check_oracle(&recorded.trace);
}

#[test]
fn threads_that_end_unnoticed_lose_nothing() {
    let recorded = record_player(&["lose-threads", "100"], |_| {});
    assert_eq!(all_addresses(&recorded.trace), vec![run(1, 100); 101]);
    check_oracle(&recorded.trace);
}

#[test]
fn a_forked_child_is_a_stream_of_its_own() {
    let recorded = record_player(&["fork", "500"], |_| {});
    let parent = [run(1, 500), run(2_000_000, 500)].concat();
    assert_eq!(all_addresses(&recorded.trace), [parent, run(1_000_000, 500)]);
    check_oracle(&recorded.trace);
    let processes = recorded.trace.processes();
    let starts: Vec<_> = processes
        .iter()
        .filter(|(_, info)| info.event == ProcessEvent::Start)
        .collect();
    let parents: Vec<_> = starts
        .iter()
        .map(|(number, info)| (*number, info.parent))
        .collect();
    assert_eq!(parents, [(0, None), (1, Some(0))]);
    let program = processes.iter().rfind(|(number, _)| *number == 0).unwrap();
    assert_eq!(
        (program.1.event, program.1.exit_status),
        (ProcessEvent::Exit, Some(0))
    );
}

#[test]
fn buffers_of_ended_children_are_used_again() {
    let recorded = record_player(&["fork-often"], |options| options.buffer_size = SMALL_BUFFER);
    let mut expected = vec![run(1, 10); 300];
    expected.push(run(1, 10).repeat(300));
    assert_eq!(all_addresses(&recorded.trace), expected);
    check_oracle(&recorded.trace);
    assert_eq!(recorded.summary.processes, 301);
}

#[test]
fn the_recorder_waits_for_children_left_behind() {
    let recorded = record_player(&["leave", "100"], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(3));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 100).repeat(3)]);
    check_oracle(&recorded.trace);
}

#[test]
fn exec_attaches_anew() {
    for scene in ["exec", "exec-closed"] {
        let recorded = record_player(&[scene, "500"], |options| options.buffer_size = SMALL_BUFFER);
        assert_eq!(all_addresses(&recorded.trace), [run(1, 500), run(1, 10_000)]);
        check_oracle(&recorded.trace);
        assert_eq!((recorded.summary.modules, recorded.summary.processes), (2, 2));
        assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(0));
        // The former image's buffer is freed at once, not when the process ends.
        let streams = recorded.trace.streams();
        assert!(streams[0].chunks[0].offset < streams[1].chunks[0].offset);
    }
}

#[test]
fn one_runtime_serves_program_and_shared_objects() {
    let library = build_player(&["-shared", "-fPIC"]);
    let exporting = build_player(&["-Wl,--export-dynamic-symbol=__trackway_*"]);
    let library = library.to_str().unwrap();
    let recorded = record_player(&["library", "0", library], |options| {
        options.program = exporting.into()
    });
    assert_eq!(recorded.summary.modules, 2);
    assert_eq!(all_addresses(&recorded.trace), [run(0, 2000)]);
    check_oracle(&recorded.trace);

    // A program that doesn't export its runtime: each copy has streams of its own.
    let recorded = record_player(&["library", "0", library], |_| {});
    assert_eq!(recorded.summary.modules, 2);
    let turns = |first: u64| {
        (0..10)
            .flat_map(move |turn| run(turn * 200 + first, 100))
            .collect::<Vec<_>>()
    };
    assert_eq!(all_addresses(&recorded.trace), [turns(0), turns(100)]);
    check_oracle(&recorded.trace);
}

#[test]
fn a_runtime_may_be_unloaded() {
    // The flag gives it a file of its own, beside that of the test above.
    let library = build_player(&["-shared", "-fPIC", "-DUNLOADED"]);
    let recorded = record_player(&["unload", "0", library.to_str().unwrap()], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(0));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 100)]);
    check_oracle(&recorded.trace);
}

#[test]
fn programs_that_a_shell_starts_are_recorded() {
    let script = format!("{0} count 100 | cat; {0} threads 10; exit 4", player().display());
    let recorded = record_player(&["-c", &script], |options| options.program = "sh".into());
    let expected = std::iter::once(run(1, 100)).chain((1..=8).map(|thread| run(thread << 32, 10)));
    assert_eq!(all_addresses(&recorded.trace), expected.collect::<Vec<_>>());
    check_oracle(&recorded.trace);
    assert_eq!((recorded.summary.modules, recorded.summary.processes), (2, 2));
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(4));
}

#[test]
fn a_static_program() {
    let player = build_player(&["-static"]);
    let recorded = record_player(&["threads", "5000"], |options| options.program = player.into());
    assert_eq!(recorded.summary.streams, 8);
    check_oracle(&recorded.trace);
}

#[test]
fn a_program_without_instrumentation_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("true.trackway");
    let summary = record(RecordOptions::new(
        "true",
        Output::File {
            path: path.clone(),
            force: false,
        },
    ))
    .unwrap();
    assert!(!summary.instrumented);
    assert_eq!((summary.modules, summary.streams, summary.raw_bytes), (0, 0, 0));
    assert!(open(&path).streams().is_empty());
}
