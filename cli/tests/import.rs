//! `trackway import`, and the verbs over what it wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../interchange/tests/drmemtrace")
        .join(name)
}

fn trackway(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trackway"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Standard output of a verb that succeeds.
fn text(arguments: &[&str]) -> String {
    let output = trackway(arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_imported_trace_is_one_like_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("x.trackway");
    let trace = output.to_str().unwrap();
    let imported = text(&["import", fixture("lz4").to_str().unwrap(), "-o", trace]);
    let first = "stream 0: thread 3778 of process 3778: 115,492 instructions (and 423 further iterations of repeated \
                 ones), 26,772 loads, 11,787 stores";
    assert_eq!(imported.lines().next(), Some(first));

    let json = text(&[
        "import",
        "-f",
        "--json",
        fixture("lz4").to_str().unwrap(),
        "-o",
        trace,
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let stream = &json["tables"][0]["rows"][0];
    assert_eq!(
        (&stream["thread"], &stream["loads"]),
        (&3778.into(), &26_772.into()),
        "{json}"
    );

    let info = text(&["info", trace]);
    assert!(
        info.contains("Machine code") && info.contains("[anonymous]"),
        "{info}"
    );

    // As the tool view printed it.
    let dump = text(&["dump", "--stream", "0", "--count", "1", trace]);
    assert!(dump.contains("store      0x7ffdeb6710d8      8 "), "{dump}");
    assert!(dump.trim_end().ends_with("0x7f4d6aa69b73"), "{dump}");

    let report = text(&["report", "--by", "kind", "--csv", trace]);
    let numbers = |kind: &str| {
        let line = report.lines().find(|line| line.starts_with(kind)).unwrap();
        line.split(',').nth(1).unwrap().to_owned()
    };
    assert_eq!(
        (numbers("load"), numbers("store")),
        ("53930".to_owned(), "26398".to_owned())
    );

    let report = text(&["report", trace]);
    assert!(report.starts_with("The instruction at 0x7f"), "{report}");
    assert!(report.contains("Instructions by L2 misses"), "{report}");

    let verified = text(&["verify", trace]);
    assert!(
        verified.contains("invariants: hold for 80,328 accesses"),
        "{verified}"
    );
}

#[test]
fn what_is_no_trace_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("x.trackway");
    let foreign = fixture("program.c");
    let done = trackway(&[
        "import",
        foreign.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
    ]);
    assert_eq!(done.status.code(), Some(2));
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.contains("program.c: it doesn't begin like a converted drmemtrace trace"),
        "{message}"
    );
    assert!(!output.exists());
}
