//! Verbs about slices of the golden trace, to which windows and marks were added.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{
    encode_marks, Chunk, ChunkFields, ChunkKind, Codec, MarkInfo, MarkKind, Trace, TraceWriter,
};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors/golden-v2.trackway")
}

/// Two windows that overlap, a third one that stays open, and three marks. The records are from 1000 to 3000 ns, the
/// recording from 500 to 4000 ns.
fn marks() -> Vec<MarkInfo> {
    let window = |ns, kind, number| MarkInfo {
        ns,
        kind,
        window: Some(number),
        cause: "program".into(),
        ..MarkInfo::default()
    };
    let mark = |ns, text: &str| MarkInfo {
        ns,
        text: Some(text.into()),
        cause: "control".into(),
        pid: Some(4711),
        ..MarkInfo::default()
    };
    vec![
        window(1000, MarkKind::Opens, 1),
        window(1500, MarkKind::Opens, 2),
        window(1750, MarkKind::Closes, 1),
        window(2000, MarkKind::Closes, 2),
        window(2000, MarkKind::Opens, 3),
        mark(1500, "half"),
        mark(2000, "half"),
        mark(2500, "late"),
    ]
}

/// The golden trace with them, in a file that is removed with the folder.
struct Marked {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Marked {
    fn new() -> Marked {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marked.trackway");
        let bytes = fs::read(golden()).unwrap();
        let trace = Trace::open(&golden()).unwrap();
        let mut writer = TraceWriter::create(&path, false, Codec::Lz4).unwrap();
        for chunk in trace.chunks() {
            let begin = chunk.offset as usize + HEADER_LENGTH;
            let stored = &bytes[begin..begin + chunk.header.stored_length as usize];
            let header = chunk.header;
            writer.append(&Chunk { header, stored }).unwrap();
        }
        writer
            .write_chunk(&ChunkFields::new(ChunkKind::Marks), &encode_marks(&marks()))
            .unwrap();
        writer.close().unwrap();
        Marked {
            _folder: folder,
            path,
        }
    }

    fn ask(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_trackway"))
            .env("TRACKWAY_FRESH", "1")
            .args(line.split_whitespace())
            .arg(&self.path)
            .output()
            .unwrap()
    }

    fn text(&self, line: &str) -> String {
        let output = self.ask(line);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What is said instead of an answer.
    fn refusal(&self, line: &str) -> String {
        let output = self.ask(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The row of the table `trace` in JSON.
    fn audit(&self, line: &str) -> serde_json::Value {
        let report: serde_json::Value = serde_json::from_str(&self.text(&format!("{line} --json"))).unwrap();
        let tables = report["tables"].as_array().unwrap();
        let audit = tables.iter().find(|table| table["name"] == "trace");
        audit.unwrap()["rows"][0].clone()
    }

    fn accesses(&self, line: &str) -> u64 {
        self.audit(line)["accesses"].as_u64().unwrap()
    }
}

#[test]
fn parts_of_the_time_hold_all_accesses_together() {
    let marked = Marked::new();
    let whole = marked.accesses("report");
    assert!(whole > 5);
    for verb in ["report", "sharing", "layout", "reuse", "patterns", "map"] {
        let first = marked.accesses(&format!("{verb} --to 1us"));
        let middle = marked.accesses(&format!("{verb} --from 1us --to mark:late"));
        let last = marked.accesses(&format!("{verb} --after-mark late"));
        assert_eq!(first + middle + last, whole, "{verb}: {first}, {middle}, {last}");
        assert!(
            first > 0 && middle > 0 && last > 0,
            "{verb}: {first}, {middle}, {last}"
        );
    }
}

#[test]
fn moments_are_durations_parts_and_marks() {
    let marked = Marked::new();
    let from = |when: &str| marked.accesses(&format!("report --from {when}"));
    assert_eq!(from("1us"), from("mark:half"));
    assert_eq!(from("mark:half"), from("mark:half#1"));
    assert_eq!(from("1500ns"), from("mark:half#2"));
    assert_eq!(from("1750ns"), from("50%"));
    assert!(from("mark:half#2") < from("mark:half"));
}

#[test]
fn windows_are_chosen_by_number() {
    let marked = Marked::new();
    let of = |windows: &str| marked.accesses(&format!("report --windows {windows}"));
    let whole = marked.accesses("report");
    assert_eq!(of("1-3"), whole);
    assert_eq!(of("1-2") + of("3"), whole);
    assert_eq!(of("1 --window 2 --window 3"), whole, "they overlap");
    assert!(of("1") < of("1-2"));
    let audit = marked.audit("report --windows 1");
    assert_eq!(audit["recorded"], "in 3 windows that make up 85.7 % of its time");
    let slice = audit["slice"].as_str().unwrap();
    assert!(slice.starts_with("500 ns to 1.25 us of 3.5 us: "), "{slice}");
}

#[test]
fn functions_are_chosen_by_their_names() {
    let marked = Marked::new();
    let audit = marked.audit("report --function w*lk --function nothing");
    assert!(audit["slice"].as_str().unwrap().contains(" sites: "), "{audit}");
    let refusal = marked.refusal("report --function nothing");
    assert!(
        refusal.contains("no function that accesses memory has such a name; there are walk"),
        "{refusal}"
    );
}

#[test]
fn what_there_is_not_is_refused_with_what_there_is() {
    let marked = Marked::new();
    for (line, message) in [
        ("report --thread 9", "--thread: there is no thread 9; there are 0"),
        (
            "report --windows 7",
            "--windows: there is none of that number; windows 1 to 3",
        ),
        (
            "report --from mark:early",
            "--from: the trace has no mark with the text \"early\"; it has \"half\", \"late\"",
        ),
        (
            "report --from mark:half#3",
            "--from: the trace has only 2 marks with the text \"half\"",
        ),
        ("report --from 2us --to 1us", "--from is not before --to"),
        (
            "report --from 9s",
            "the trace goes from 0 s to 3.5 us, of threads 0, in windows 1 to 3",
        ),
        (
            "report --to 1ns",
            "the slice holds nothing; the trace goes from 0 s to 3.5 us",
        ),
        ("report --to soon", "expected a time such as"),
        ("branches --to 1us", "only --thread can be obeyed here"),
        ("dump --allocations --to 1us", "can't be chosen by time or thread"),
    ] {
        let refusal = marked.refusal(line);
        assert!(refusal.contains(message), "{line}: {refusal}");
    }
}

#[test]
fn marks_are_listed_and_dumped() {
    let marked = Marked::new();
    let info = marked.text("info");
    for part in [
        "in 3 windows that make up 85.7 % of its time",
        "program",
        "half",
        "late",
        "control",
    ] {
        assert!(info.contains(part), "{part}: {info}");
    }
    let dump = marked.text("dump");
    let lines: Vec<&str> = dump.lines().filter(|line| line.contains(" control ")).collect();
    assert_eq!(lines.len(), 3, "{dump}");
    let of_slice = marked.text("dump --from 1us --to mark:late");
    assert!(of_slice.lines().count() < dump.lines().count());
    assert_eq!(
        of_slice.lines().filter(|line| line.contains(" control ")).count(),
        2
    );
    assert!(marked.text("dump --json").contains(r#""mark":"opens""#));
    let indexed = marked.text("dump --from 3 --count 2 --function walk");
    assert_eq!(indexed.lines().count(), 2, "an index is no time");
}

#[test]
fn pages_and_exports_obey() {
    let marked = Marked::new();
    let page = marked.text("view --json --to 1us");
    assert!(
        page.contains("0 s to 1 us of 3.5 us: 4 accesses") && !page.contains("\"Allocations\""),
        "{page}"
    );
    let folder = tempfile::tempdir().unwrap();
    let exported = |options: &str| {
        let file = folder.path().join("out.din");
        let line = format!("export -f --to din --line 0 -o {} {options}", file.display());
        marked.text(&line);
        fs::read_to_string(file).unwrap().lines().count() as u64
    };
    let whole = exported("");
    assert_eq!(exported("--until 1us") + exported("--from 1us"), whole);
}

/// Answers are kept by the options, those of slices among them.
#[test]
fn a_kept_answer_is_that_of_its_slice() {
    let marked = Marked::new();
    let cache = tempfile::tempdir().unwrap();
    let ask = |options: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_trackway"))
            .env_remove("TRACKWAY_FRESH")
            .env("XDG_CACHE_HOME", cache.path())
            .args(["report", "--json"])
            .args(options.split_whitespace())
            .arg(&marked.path)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let slices = [
        "",
        "--to 1us",
        "--to mark:late",
        "--windows 1",
        "--function walk",
        "--thread 0",
    ];
    let first: Vec<String> = slices.into_iter().map(ask).collect();
    let again: Vec<String> = slices.into_iter().map(ask).collect();
    assert_eq!(first, again);
    for (number, answer) in first.iter().enumerate() {
        assert!(
            first[..number].iter().all(|other| other != answer),
            "{}",
            slices[number]
        );
    }
}
