//! Scenes that a hand-written program plays: every access that it made must be in the trace, in order.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::*;
use trackway_recorder::{record, Compression, Output, ProgramEnd, RecordError, RecordOptions, WhenFull};
use trackway_trace::{Codec, GapReason, ProcessEvent, Trace};

const SMALL_BUFFER: u32 = 16 * 1024;

#[test]
fn one_thread() {
    let recorded = record_player(&["count", "200000"], |_| {});
    assert_eq!(all_addresses(&recorded.trace), [run(1, 200_000)]);
    check_oracle(&recorded.trace);
    let summary = &recorded.summary;
    assert_eq!(summary.program_end, ProgramEnd::Exited(0));
    assert_eq!((summary.modules, summary.processes, summary.streams), (1, 1, 1));
    // The last address ends in zero bytes, which a swept buffer does not tell from unused ones.
    assert_eq!(summary.raw_bytes, 200_000 * 12 - 5);
    assert_eq!(summary.chunks, recorded.trace.end().unwrap().chunks + 1);
    assert!(summary.instrumented && summary.write_failure.is_none() && !summary.interrupted);
    assert_eq!(recorded.trace.meta().arguments, ["count", "200000"]);
}

#[test]
fn every_compression_and_several_workers() {
    for (compression, codec) in [
        (Compression::None, Codec::None),
        (Compression::Lz4, Codec::Lz4),
        (Compression::Zstd, Codec::Zstd),
    ] {
        let recorded = record_player(&["count", "30000"], |options| {
            options.compression = compression;
            options.buffer_size = SMALL_BUFFER;
            options.workers = 3;
        });
        assert_eq!(all_addresses(&recorded.trace), [run(1, 30_000)]);
        assert!(recorded.trace.streams()[0]
            .chunks
            .iter()
            .all(|chunk| chunk.header.codec == codec));
    }
}

#[test]
fn a_small_ring_makes_the_program_wait() {
    let recorded = record_player(&["threads", "20000"], |options| {
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let expected: Vec<_> = (1..=8).map(|thread| run(thread << 32, 20_000)).collect();
    assert_eq!(all_addresses(&recorded.trace), expected);
    check_oracle(&recorded.trace);
    assert!(recorded.trace.gaps().is_empty());
}

#[test]
fn more_threads_than_full_buffers() {
    let recorded = record_player(&["many-threads", "10"], |options| {
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let expected: Vec<_> = (1..=200).map(|thread| run(thread << 32, 11)).collect();
    assert_eq!(all_addresses(&recorded.trace), expected);
    check_oracle(&recorded.trace);
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
        let recorded = record_player(&[scene, "500"], |_| {});
        assert_eq!(all_addresses(&recorded.trace), [run(1, 500), run(1, 1000)]);
        check_oracle(&recorded.trace);
        assert_eq!((recorded.summary.modules, recorded.summary.processes), (2, 2));
        assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(0));
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
fn a_killed_program_loses_nothing() {
    let recorded = record_player(&["kill", "50000"], |options| options.buffer_size = SMALL_BUFFER);
    assert_eq!(recorded.summary.program_end, ProgramEnd::Signalled(9));
    assert_eq!(recorded.summary.program_end.shell_status(), 137);
    assert_eq!(recorded.trace.end().unwrap().signal, Some(9));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 50_000)]);
    check_oracle(&recorded.trace);
}

#[test]
fn a_program_that_calls_exit_directly_loses_nothing() {
    let recorded = record_player(&["exit", "5000"], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(9));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 5000)]);
    check_oracle(&recorded.trace);
}

#[test]
fn dropped_buffers_leave_gaps() {
    let recorded = record_player(&["count", "2000000"], |options| {
        options.when_full = WhenFull::Drop;
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let gaps = recorded.trace.gaps();
    assert!(recorded.summary.dropped_buffers > 0);
    assert_eq!(
        gaps.iter().map(|gap| gap.dropped_buffers).sum::<u64>(),
        recorded.summary.dropped_buffers
    );
    assert!(gaps
        .iter()
        .all(|gap| gap.reason == GapReason::RingFull && gap.stream == 0));
    check_that_accesses_are_missing_only_at_gaps(&recorded.trace);
}

/// Addresses grow by 1 from access to access.
fn check_that_accesses_are_missing_only_at_gaps(trace: &Trace) {
    let mut next = 1;
    for chunk in &trace.streams()[0].chunks {
        let addresses = chunk_addresses(trace, chunk);
        let has_gap = trace
            .gaps()
            .iter()
            .any(|gap| gap.before_sequence == chunk.header.sequence);
        assert_eq!(addresses[0] != next, has_gap, "chunk {}", chunk.header.sequence);
        assert_eq!(addresses, run(addresses[0], addresses.len() as u64));
        next = addresses[0] + addresses.len() as u64;
    }
}

#[test]
fn the_oracle_dumps_its_records() {
    let recorded = record_player(&["threads", "3000"], |options| {
        options.dump_oracle = true;
        options.buffer_size = SMALL_BUFFER;
    });
    for stream in recorded.trace.streams() {
        let mut payload = Vec::new();
        let mut dumped = Vec::new();
        for chunk in &stream.oracle_chunks {
            recorded.trace.read_payload(chunk, &mut payload).unwrap();
            dumped.extend_from_slice(&payload);
        }
        let addresses = dumped
            .chunks_exact(32)
            .map(|entry| u64::from_le_bytes(entry[16..24].try_into().unwrap()));
        assert_eq!(
            addresses.collect::<Vec<_>>(),
            stream_addresses(&recorded.trace, stream.id)
        );
        let (what, size) = (&dumped[8..16], &dumped[24..32]);
        assert_eq!(
            (what, size),
            (
                &[0, 0, 0, 0, 0, STORE as u8, 0, 0][..],
                &[8, 0, 0, 0, 0, 0, 0, 0][..]
            )
        );
    }
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

#[test]
fn a_discarded_recording_still_counts() {
    let summary = record(options(Output::Discard, &["count", "100000"])).unwrap();
    assert_eq!((summary.raw_bytes / 12, summary.stored_bytes), (99_999, 0));
}

#[test]
fn a_program_that_cannot_be_started_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.trackway");
    let output = || Output::File {
        path: path.clone(),
        force: false,
    };
    let missing = record(RecordOptions::new("/nowhere/at-all", output())).unwrap_err();
    assert!(matches!(missing, RecordError::ProgramNotFound { .. }));
    let not_executable = record(RecordOptions::new("/etc/passwd", output())).unwrap_err();
    assert!(matches!(not_executable, RecordError::Start { .. }));
    assert!(!path.exists());
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    std::fs::write(&path, "precious").unwrap();
    let attempt = |force| {
        record(options(
            Output::File {
                path: path.clone(),
                force,
            },
            &["count"],
        ))
    };
    assert!(matches!(attempt(false), Err(RecordError::OutputExists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    attempt(true).unwrap();
    assert_eq!(all_addresses(&open(&path)), [run(1, 1000)]);
}

#[test]
fn impossible_options_are_refused() {
    let attempt = |adjust: fn(&mut RecordOptions)| {
        let mut options = options(Output::Discard, &["count"]);
        adjust(&mut options);
        record(options).unwrap_err().to_string()
    };
    assert!(attempt(|options| options.buffer_size = 5000).contains("buffer size is 5000"));
    assert!(attempt(|options| options.buffer_count = 1).contains("number of buffers is 1"));
    assert!(attempt(|options| options.workers = 0).contains("number of workers is 0"));
}

#[test]
fn a_full_disk_stops_the_recording_but_not_the_program() {
    let summary = record(options(
        Output::File {
            path: "/dev/full".into(),
            force: true,
        },
        &["count", "100000"],
    ));
    // The header of the file doesn't fit either: nothing was started.
    assert!(matches!(summary, Err(RecordError::Trace { .. })));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.trackway");
    let output = limited_recorder(76 << 20)
        .arg(&path)
        .arg(player())
        .args(["count", "8000000"])
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert!(messages.contains("File too large"), "{messages}");
    let trace = Trace::open(&path).unwrap();
    assert!(trace.end().is_none());
    let addresses = stream_addresses(&trace, 0);
    assert_eq!(addresses, run(1, addresses.len() as u64));
    assert!(addresses.len() > 1_000_000);
}

/// The example that records, under a limit on the size of files, with small uncompressed buffers.
fn limited_recorder(bytes: u64) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -f {}; exec \"$@\"", bytes / 512);
    command
        .args(["-c", &script, "sh"])
        .arg(recorder())
        .arg("--plain-small-buffers");
    command
}

/// The example `record`, which cargo builds with the tests.
fn recorder() -> std::path::PathBuf {
    let tests = std::env::current_exe().unwrap();
    let recorder = tests.ancestors().nth(2).unwrap().join("examples/record");
    assert!(recorder.exists(), "run `cargo build --examples` first");
    recorder
}

struct Running {
    recorder: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

fn start_recorder(trace: &Path, arguments: &[&str]) -> Running {
    let mut recorder = Command::new(recorder())
        .arg(trace)
        .arg(player())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(recorder.stdout.take().unwrap()).lines();
    Running { recorder, lines }
}

impl Running {
    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the recorder has not been waited for.
        assert_eq!(unsafe { libc::kill(self.recorder.id() as i32, signal) }, 0);
    }
}

#[test]
fn signals_to_the_recorder_go_to_the_program() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signal.trackway");
        let mut running = start_recorder(&path, &["signal", "100"]);
        assert_eq!(running.line(), "ready");
        running.signal(signal);
        assert_eq!(running.recorder.wait().unwrap().code(), Some(signal));
        assert_eq!(all_addresses(&open(&path)), [run(1, 100).repeat(2)]);
    }
}

#[test]
fn a_signal_ends_the_wait_for_children_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left.trackway");
    let mut running = start_recorder(&path, &["leave-ready", "100"]);
    assert_eq!(running.line(), "ready");
    std::thread::sleep(std::time::Duration::from_millis(200)); // the program itself ends meanwhile
    running.signal(libc::SIGINT);
    assert_eq!(running.recorder.wait().unwrap().code(), Some(3));
    let trace = open(&path);
    assert_eq!(trace.end().unwrap().reason, "interrupted");
    assert_eq!(all_addresses(&trace), [run(1, 100)]);
    assert_eq!(trace.gaps()[0].reason, GapReason::RecordingStopped);
}

#[test]
fn the_program_outlives_a_killed_recorder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.trackway");
    let mut running = start_recorder(&path, &["input", "3000000"]);
    assert_eq!(running.line(), "ready");
    running.signal(libc::SIGKILL);
    // Not waited for yet: for the program, a dead recorder is dead though it is still a zombie.
    drop(running.recorder.stdin.take());
    assert_eq!(running.line(), "done");
    running.recorder.wait().unwrap();
    let trace = Trace::open(&path).unwrap();
    let addresses = stream_addresses(&trace, 0);
    assert!(!addresses.is_empty());
    assert_eq!(addresses, run(1, addresses.len() as u64));
}

#[test]
fn without_a_recorder_the_program_runs_plainly() {
    for ring in [None, Some("3:1:2:1"), Some("nonsense"), Some("")] {
        let mut command = Command::new(player());
        command.args(["count"]).env_remove("TRACKWAY_RING");
        command.envs(ring.map(|ring| ("TRACKWAY_RING", ring)));
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
    }
}

#[test]
fn another_interface_version_is_named() {
    let stranger = build_player(&["-DTRACKWAY_TEST_FOREIGN_RING"]);
    let output = Command::new(stranger).arg("count").output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    assert!(
        message.contains("built for runtime interface 1, but the recorder has 999"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}
