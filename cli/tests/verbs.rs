//! The verbs over the golden trace. The expected output stands beside, in `expected/`; run with UPDATE_EXPECTED=1 to
//! write it anew, and look at the difference.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOLDEN: &str = "golden-v2.trackway";
const COUNTS: &str = "counts-v2.trackway";

fn folder_of_traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/vectors")
}

fn trackway(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackway"));
    command
        .args(line.split_whitespace())
        .current_dir(folder_of_traces());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command and compares status, output and errors with `expected/NAME.txt`.
fn check(name: &str, line: &str) {
    let output = trackway(line);
    let status = output.status.code().unwrap();
    let actual = format!(
        "$ trackway {line}\n{}{}status {status}\n",
        text(&output.stdout),
        text(&output.stderr)
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(format!("{name}.txt"));
    if env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "{}", path.display());
}

#[test]
fn info() {
    check("info", &format!("info {GOLDEN}"));
}

#[test]
fn report() {
    check("report", &format!("report {GOLDEN}"));
}

#[test]
fn report_by_site_with_other_caches() {
    check(
        "report-sites",
        &format!("report --by site --top 2 --sort L2 --cache L1=128,1,64:L2=256,2,64 {GOLDEN}"),
    );
}

#[test]
fn report_csv() {
    check("report-csv", &format!("report --csv --by line {GOLDEN}"));
}

#[test]
fn report_json() {
    check("report-json", &format!("report --json --by field {GOLDEN}"));
}

#[test]
fn dump() {
    check("dump", &format!("dump {GOLDEN}"));
}

#[test]
fn dump_json_of_a_range() {
    check(
        "dump-json",
        &format!("dump --json --stream 0 --from 5 --count 4 {GOLDEN}"),
    );
}

#[test]
fn dump_of_a_function() {
    check(
        "dump-function",
        &format!("dump --function wa*k --count 2 {GOLDEN}"),
    );
    assert!(trackway(&format!("dump --function other {GOLDEN}"))
        .stdout
        .is_empty());
}

#[test]
fn verify_tells_what_a_gap_leaves_open() {
    check("verify", &format!("verify {GOLDEN}"));
}

#[test]
fn mistakes_are_explained() {
    check("no-such-stream", &format!("dump --stream 7 {GOLDEN}"));
    check("no-such-level", &format!("report --sort L3 {GOLDEN}"));
    check("no-such-file", "report missing.trackway");
    check(
        "several-tables-as-csv",
        &format!("report --csv --by line,field {GOLDEN}"),
    );
}

#[test]
fn counts_have_reports_of_their_own() {
    check("counts-report", &format!("report {COUNTS}"));
    check("counts-info", &format!("info {COUNTS}"));
    check("counts-verify", &format!("verify {COUNTS}"));
    check("counts-csv", &format!("report --csv --top 1 {COUNTS}"));
    check(
        "counts-blocks",
        &format!("report --csv --table blocks --sort accesses {COUNTS}"),
    );
    check("counts-by", &format!("report --by line,thread --top 2 {COUNTS}"));
    check("counts-json", &format!("report --json --by field {COUNTS}"));
    check("counts-diff", &format!("diff --by line {COUNTS} {COUNTS}"));
}

#[test]
fn verbs_that_need_accesses_say_so_of_counts() {
    for verb in [
        "dump", "reuse", "patterns", "sharing", "map", "memory", "layout", "whatif", "last",
    ] {
        let output = trackway(&format!("{verb} {COUNTS}"));
        assert_eq!(output.status.code(), Some(2), "{verb}");
        let error = text(&output.stderr);
        assert!(
            error.contains("holds counts, no accesses: `trackway report`"),
            "{verb}: {error}"
        );
        assert!(output.stdout.is_empty(), "{verb}");
    }
    for (line, complaint) in [
        ("report --sort L2", "say nothing of misses"),
        ("report --by kind", "counts have tables by field, line and thread"),
        ("report --csv --table x", "there is no table"),
    ] {
        let output = trackway(&format!("{line} {COUNTS}"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(complaint), "{line}");
    }
}

#[test]
fn counts_are_exported_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blocks.csv");
    let export = |trace, form| trackway(&format!("export {trace} {form} -o {}", path.display()));
    assert_eq!(export(COUNTS, "--to csv").status.code(), Some(0));
    let csv = fs::read_to_string(&path).unwrap();
    assert!(csv.starts_with("region,block,function,file,line,column,executions,"));
    assert_eq!(csv.trim_end().lines().count(), 7);
    let calls = export(COUNTS, "-f --to csv --table external_calls");
    assert_eq!(calls.status.code(), Some(0));
    assert!(fs::read_to_string(&path).unwrap().contains("solve,puts,81"));
    for (trace, form, complaint) in [
        (
            COUNTS,
            "-f --to csv --table x",
            "there are regions, regions_by_thread",
        ),
        (COUNTS, "-f --to folded", "holds counts, no accesses"),
        (GOLDEN, "-f --to csv", "holds no counts"),
    ] {
        assert!(text(&export(trace, form).stderr).contains(complaint), "{form}");
    }
}

#[test]
fn foreign_and_torn_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let golden = fs::read(folder_of_traces().join(GOLDEN)).unwrap();
    let path = folder.path().join("file");
    let run = |verb: &str| trackway(&format!("{verb} {}", path.display()));
    fs::write(&path, "no trace at all, but a text of some length").unwrap();
    for verb in ["info", "report", "dump", "verify"] {
        let output = run(verb);
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert!(text(&output.stderr).contains("is not a Trackway trace"), "{verb}");
    }
    for length in (32..golden.len()).step_by(61) {
        fs::write(&path, &golden[..length]).unwrap();
        for verb in ["info", "report", "dump", "verify"] {
            let output = run(verb);
            assert!(
                matches!(output.status.code(), Some(0..=2)),
                "{verb} of {length} bytes: {output:?}"
            );
            assert!(
                !text(&output.stderr).contains("panicked"),
                "{verb} of {length} bytes"
            );
        }
        assert_eq!(run("verify").status.code(), Some(1), "{length} bytes");
    }
}

#[test]
fn an_executable_without_instrumentation_is_called_so() {
    let output = trackway(&format!("info {}", env!("CARGO_BIN_EXE_trackway")));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("not instrumented"));
    assert!(text(&output.stdout).contains("trackway cc"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trackway"))
        .args(["dump", GOLDEN])
        .current_dir(folder_of_traces())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        !text(&output.stderr).contains("panicked"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn version_names_format_and_runtime_interface() {
    let version = env!("CARGO_PKG_VERSION");
    let format = trackway_trace::FORMAT_VERSION;
    let interface = trackway_recorder::ABI;
    assert_eq!(
        text(&trackway("--version").stdout),
        format!("trackway {version}\ntrace format {format}\nruntime interface {interface}\n")
    );
    assert_eq!(text(&trackway("-V").stdout), format!("trackway {version}\n"));
}

#[test]
fn completions_name_the_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&trackway(&format!("completions {shell}")).stdout);
        for verb in ["record", "report", "verify"] {
            assert!(script.contains(verb), "{shell} {verb}");
        }
    }
}

#[test]
fn compilers_pass_questions_through() {
    let clang = Command::new("clang-22").arg("--version").output().unwrap();
    let ours = trackway("cc --version");
    assert_eq!(
        (ours.stdout, ours.status.code()),
        (clang.stdout, clang.status.code())
    );
    let missing = trackway("cc --clang=/no/such/clang -dumpmachine");
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("apt-get install clang-22"));
}
