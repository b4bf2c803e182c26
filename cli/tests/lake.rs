//! What `trackway` passes on to the program `trackway-lake` beside it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Command lines that need the other program.
const LINES: [&[&str]; 5] = [
    &["query", "-q", "x.trackway", "SELECT  'a b'"],
    &["export", "x.trackway", "--parquet", "tables"],
    &["diff", "s3://runs/before", "after"],
    &["diff", "before", "s3://runs/after"],
    &["check", "s3://runs", "--budget", "x.toml"],
];

/// Folders of a `trackway`, one alone, and one with a `trackway-lake` beside it that prints how it is called.
struct Folders {
    alone: PathBuf,
    both: PathBuf,
}

/// Made before anything is started: a script that is open for writing, if only in another thread's child, can't be.
static FOLDERS: LazyLock<Folders> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lake");
    let _ = fs::remove_dir_all(&root);
    let folders = ["alone", "both"].map(|name| root.join(name));
    for folder in &folders {
        fs::create_dir_all(folder).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_trackway"), folder.join("trackway")).unwrap();
    }
    let [alone, both] = folders;
    let lake = both.join("trackway-lake");
    fs::write(&lake, "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&lake, Permissions::from_mode(0o700)).unwrap();
    Folders { alone, both }
});

fn trackway(folder: &Path, words: &[&str]) -> Output {
    Command::new(folder.join("trackway"))
        .args(words)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn where_it_is_missing_the_remedy_is_named() {
    let folder = &FOLDERS.alone;
    for words in LINES {
        let output = trackway(folder, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let error = text(&output.stderr);
        let start = format!(
            "trackway: {}: not found; ",
            folder.join("trackway-lake").display()
        );
        assert!(error.starts_with(&start) && error.contains("`make`"), "{error}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn it_takes_the_words_as_they_are_and_gives_the_exit_status() {
    for words in LINES {
        let output = trackway(&FOLDERS.both, words);
        let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
        assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(7), "{words:?}");
    }
}

#[test]
fn help_mistakes_and_paths_do_not_need_it() {
    let folder = &FOLDERS.both;
    let help = trackway(folder, &["query", "--help"]);
    assert!(help.status.success());
    assert!(text(&help.stdout).contains("Usage: trackway query"), "{help:?}");
    let mistake = trackway(folder, &["query", "--no-such-option"]);
    assert_eq!(mistake.status.code(), Some(2));
    assert!(text(&mistake.stderr).contains("--no-such-option"));
    let paths = trackway(folder, &["diff", "before", "after"]);
    assert_eq!(paths.status.code(), Some(2));
    assert!(text(&paths.stderr).starts_with("trackway: before: "), "{paths:?}");
}
