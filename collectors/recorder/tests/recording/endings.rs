//! Ends before time: of the program, of the recorder, of the disk.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use trackway_recorder::{record, Output, ProgramEnd, RecordError};
use trackway_trace::{GapReason, Trace};

use crate::support::*;

#[test]
fn a_killed_program_loses_nothing() {
    let recorded = record_player(&["kill", "50000"], |options| options.buffer_size = SMALL_BUFFER);
    assert_eq!(recorded.summary.program_end, ProgramEnd::Signalled(9));
    assert_eq!(recorded.summary.program_end.shell_status(), 137);
    assert_eq!(recorded.trace.end().unwrap().signal, Some(9));
    assert_eq!(recorded.summary.interrupted_streams, 1);
    assert_eq!(recorded.summary.interrupted_in_children, 0);
    assert_eq!(all_addresses(&recorded.trace), [run(1, 50_000)]);
    check_oracle(&recorded.trace);
}

#[test]
fn a_thread_that_ends_with_its_process_is_not_interrupted() {
    let recorded = record_player(&["outlive", "1000"], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(0));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 1000), run(1 << 32, 1000)]);
    assert_eq!(recorded.summary.interrupted_streams, 0);
}

#[test]
fn a_program_that_calls_exit_directly_loses_nothing() {
    let recorded = record_player(&["exit", "5000"], |_| {});
    assert_eq!(recorded.summary.program_end, ProgramEnd::Exited(9));
    assert_eq!(all_addresses(&recorded.trace), [run(1, 5000)]);
    check_oracle(&recorded.trace);
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

pub struct Running {
    pub recorder: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

fn start_recorder(trace: &Path, arguments: &[&str]) -> Running {
    start_recorder_of(player(), trace, arguments)
}

pub fn start_recorder_of(program: &Path, trace: &Path, arguments: &[&str]) -> Running {
    let mut recorder = Command::new(recorder())
        .arg(trace)
        .arg(program)
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
    pub fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    pub fn signal(&self, signal: i32) {
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
        message.contains("built for runtime interface 11, but the recorder has 999"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}
