//! Every question of every trace that was cut: at each boundary of a chunk and beside it, within headers and payloads, and all
//! along the file; and of traces with a changed bit. Whatever is left is answered, or refused with a message that names the file.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use trackway_answers::analyses::QUESTIONS;
use trackway_answers::questions::ask;
use trackway_answers::reading::Following;
use trackway_interchange::import_perf_script;
use trackway_report::{report_to_json, to_csv, TextStyle};
use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{
    check::{check_structure, Interpreter, Rule, Violation},
    file_header, plain_chunk, ChunkFields, ChunkRef, Trace, FILE_HEADER_LENGTH,
};

/// Positions within a file that are looked at whatever stands there.
const STRIDE: usize = 11;
/// A changed bit may make a loop run for too long.
const ITERATIONS: u64 = 1 << 16;
const CACHES: &str = "--cache=L1=1K,2,64:L2=4K,4,64";
/// A question may be asked in several ways.
const WAYS: &[(&str, &[&str])] = &[
    ("report", &["--by=field,line,kind", CACHES]),
    ("report", &["--by=thread,site,block,allocation", CACHES]),
    ("whatif", &[CACHES]),
    ("whatif", &["--soa=node", CACHES]),
    ("layout", &[CACHES]),
    ("map", &[CACHES]),
    ("map", &[CACHES, "--from=25%", "--to=75%"]),
    ("sharing", &["--to=50%"]),
];

struct Original {
    name: &'static str,
    bytes: Vec<u8>,
}

impl Original {
    fn vector(name: &'static str) -> Original {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../trace/vectors")
            .join(name);
        let bytes = fs::read(path).unwrap();
        Original { name, bytes }
    }

    /// A trace of samples.
    fn sampled() -> Original {
        let folder = tempfile::tempdir().unwrap();
        let (text, trace) = (folder.path().join("perf.txt"), folder.path().join("trace"));
        let sample = |number: u64| {
            format!(
                "prog 7/{} [003] 1.{number:09}: 7 cpu/mem-loads/P: 7f00{number:08x} 68100142 401{number:03x} f+0x1 (/bin/prog)\n",
                7 + number % 2
            )
        };
        fs::write(&text, (0..20).map(sample).collect::<String>()).unwrap();
        import_perf_script(&text, &trace, false).unwrap();
        let bytes = fs::read(trace).unwrap();
        Original {
            name: "samples",
            bytes,
        }
    }

    fn open(&self) -> Trace {
        Trace::from_bytes(Path::new(self.name), self.bytes.clone()).unwrap()
    }

    /// Where to cut.
    fn cuts(&self) -> BTreeSet<usize> {
        let trace = self.open();
        let around = trace.chunks().iter().flat_map(|chunk| {
            let start = chunk.offset as usize;
            let stored = start + HEADER_LENGTH;
            let end = start + chunk.header.chunk_length() as usize;
            [start, start + 8, stored, (stored + end) / 2, end]
        });
        let beside = around.flat_map(|position| [position - 1, position, position + 1]);
        let all_along = (0..self.bytes.len()).step_by(STRIDE);
        let header = 0..=FILE_HEADER_LENGTH + 1;
        let cuts = beside.chain(all_along).chain(header);
        cuts.filter(|cut| *cut < self.bytes.len()).collect()
    }

    /// The trace with another payload of one of its chunks, whose checksum agrees.
    fn with_payload(&self, trace: &Trace, changed: &ChunkRef, payload: &[u8]) -> Vec<u8> {
        let mut bytes = file_header(trace.identity()).to_vec();
        for chunk in trace.chunks() {
            let start = chunk.offset as usize;
            if chunk.offset != changed.offset {
                bytes.extend(&self.bytes[start..start + chunk.header.chunk_length() as usize]);
                continue;
            }
            let header = &chunk.header;
            let fields = ChunkFields {
                flags: header.flags,
                process: header.process,
                stream: header.stream,
                sequence: header.sequence,
                first_ns: header.first_ns,
                last_ns: header.last_ns,
                ..ChunkFields::new(header.kind)
            };
            bytes.extend(plain_chunk(&fields, payload).unwrap().to_bytes());
        }
        bytes
    }
}

/// Asks everything, and has every answer written in every form.
fn ask_all(name: &str, bytes: Vec<u8>, what: &str) {
    let Ok(trace) = Trace::from_bytes(Path::new(name), bytes) else {
        return;
    };
    let ways = QUESTIONS.iter().map(|question| (question.name, &[][..]));
    for (verb, words) in ways.chain(WAYS.iter().copied()) {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let asked = catch_unwind(AssertUnwindSafe(|| {
            let report = ask(verb, &words, &trace, Following::default())?;
            let style = TextStyle {
                width: Some(100),
                ..TextStyle::PLAIN
            };
            style.report(&report);
            report.tables.iter().for_each(|table| drop(to_csv(table)));
            drop(report_to_json(&report));
            Ok::<_, trackway_answers::failure::Failure>(())
        }));
        match asked {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => assert!(!failure.to_string().is_empty(), "{verb} of {name} {what}"),
            Err(_) => panic!("`{verb} {}` of {name} {what} panics", words.join(" ")),
        }
    }
}

fn cut_everywhere(original: &Original) {
    for cut in original.cuts() {
        ask_all(
            original.name,
            original.bytes[..cut].to_vec(),
            &format!("cut to {cut} bytes"),
        );
    }
}

#[test]
fn cut_traces_of_accesses_are_answered() {
    cut_everywhere(&Original::vector("golden-v2.trackway"));
}

#[test]
fn cut_traces_of_counts_are_answered() {
    cut_everywhere(&Original::vector("counts-v2.trackway"));
}

#[test]
fn cut_traces_of_samples_are_answered() {
    cut_everywhere(&Original::sampled());
}

/// Whether all of its loops end soon.
fn is_short(bytes: &[u8]) -> bool {
    let Ok(trace) = Trace::from_bytes(Path::new("changed"), bytes.to_vec()) else {
        return true;
    };
    check_structure(&trace);
    let mut chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
    chunks.all(|chunk| {
        let mut interpreter = Interpreter::new(&trace).with_iteration_limit(ITERATIONS);
        let violations = interpreter.run(chunk, &mut |_| {}).unwrap_or_default();
        let is_long = |violation: &Violation| matches!(violation.rule, Rule::Iterations { .. });
        !violations.iter().any(is_long)
    })
}

fn change_bits(original: &Original) {
    let trace = original.open();
    let mut payload = Vec::new();
    for chunk in trace.chunks() {
        trace.read_payload(chunk, &mut payload).unwrap();
        for position in (0..payload.len()).step_by(STRIDE) {
            let mut changed = payload.clone();
            changed[position] ^= 1 << (position % 8);
            let bytes = original.with_payload(&trace, chunk, &changed);
            let kind = chunk.header.kind;
            if is_short(&bytes) {
                ask_all(
                    original.name,
                    bytes,
                    &format!("with a changed bit in byte {position} of {kind:?}"),
                );
            }
        }
    }
}

#[test]
fn changed_traces_of_accesses_are_answered() {
    change_bits(&Original::vector("golden-v2.trackway"));
}

#[test]
fn changed_traces_of_counts_are_answered() {
    change_bits(&Original::vector("counts-v2.trackway"));
}

#[test]
fn changed_traces_of_samples_are_answered() {
    change_bits(&Original::sampled());
}

fn trackway(words: &[&str], trace: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackway"));
    command.args(words).arg(trace).output().unwrap()
}

/// Asks the command line what isn't asked in the process itself, for traces cut at the ends of chunks.
#[test]
fn the_command_line_answers_cut_traces() {
    let folder = tempfile::tempdir().unwrap();
    let output: PathBuf = folder.path().join("output");
    let output = output.to_str().unwrap();
    let verbs: &[&[&str]] = &[
        &["info"],
        &["info", "--json"],
        &["dump"],
        &["dump", "--json", "--merged"],
        &["verify"],
        &["view", "-q", "-f", "-o", output],
        &["export", "-q", "-f", "--to", "callgrind", "-o", output],
        &["export", "-q", "-f", "--to", "pprof", "-o", output],
        &["export", "-q", "-f", "--to", "perfetto", "-o", output],
        &["export", "-q", "-f", "--to", "csv", "-o", output],
        &["export", "-q", "-f", "--to", "perf-script", "-o", output],
        &["check", "-q", "-f", "--write-budget", output],
        &["whatif", "-q", "--huge-pages"],
    ];
    let originals = [
        Original::vector("golden-v2.trackway"),
        Original::vector("counts-v2.trackway"),
        Original::sampled(),
    ];
    for original in &originals {
        let path = folder.path().join(original.name);
        let ends = original.open();
        let ends = ends
            .chunks()
            .iter()
            .map(|chunk| (chunk.offset + chunk.header.chunk_length()) as usize);
        for cut in ends
            .flat_map(|end| [end - 5, end])
            .chain([0, 31, FILE_HEADER_LENGTH])
        {
            fs::write(&path, &original.bytes[..cut.min(original.bytes.len())]).unwrap();
            for words in verbs {
                let done = trackway(words, &path);
                let error = String::from_utf8_lossy(&done.stderr);
                let what = format!("{words:?} of {} cut to {cut} bytes: {error}", original.name);
                let is_failure = match done.status.code() {
                    Some(0) => false,
                    // A finding is an answer.
                    Some(1) if words[0] == "verify" => false,
                    Some(2) => true,
                    status => panic!("{status:?} {what}"),
                };
                assert!(!error.contains("panicked"), "{what}");
                assert!(!is_failure || error.contains("trackway: "), "{what}");
            }
        }
    }
}
