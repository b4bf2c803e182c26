//! Compares traces that drmemtrace recorded with the output of its own tool basic_counts.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use trackway_interchange::{import, ImportOptions, ImportSummary};
use trackway_trace::check::{check_structure, Interpreter};
use trackway_trace::machine::ExecutedBlocks;
use trackway_trace::{Decoder, Piece, Trace};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/drmemtrace")
        .join(name)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    instructions: u64,
    not_fetched: u64,
    loads: u64,
    stores: u64,
}

/// Counts by thread, as basic_counts printed them.
fn printed_counts(folder: &Path) -> BTreeMap<u64, Counts> {
    let text = std::fs::read_to_string(folder.join("basic_counts.txt")).unwrap();
    let mut counts: BTreeMap<u64, Counts> = BTreeMap::new();
    let mut thread = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Thread ") {
            thread = Some(rest.split(' ').next().unwrap().parse().unwrap());
        }
        let Some(thread) = thread else { continue };
        let Some((number, what)) = line.trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        let counts = counts.entry(thread).or_default();
        match what {
            "(fetched) instructions" => counts.instructions = number,
            "non-fetched instructions" => counts.not_fetched = number,
            "data loads" => counts.loads = number,
            "data stores" => counts.stores = number,
            _ => {}
        }
    }
    counts
}

/// What the written trace holds, by stream.
fn counts_of(trace: &Trace) -> Vec<Counts> {
    let program = trace.program();
    let mut all = Vec::new();
    for stream in trace.streams() {
        let mut counts = Counts::default();
        for chunk in &stream.chunks {
            let mut blocks = ExecutedBlocks::of_chunk(trace, chunk).unwrap();
            while let Some(block) = blocks.next_block().unwrap() {
                for instruction in program.instructions_of(block) {
                    match instruction.kind.is_fetched() {
                        true => counts.instructions += 1,
                        false => counts.not_fetched += 1,
                    }
                }
            }
            count_accesses(trace, chunk, &mut counts);
        }
        all.push(counts);
    }
    all
}

fn count_accesses(trace: &Trace, chunk: &trackway_trace::ChunkRef, counts: &mut Counts) {
    let mut decoder = Decoder::new(trace);
    let mut batches = decoder.decode(chunk).unwrap();
    while let Some(batch) = batches.next_batch().unwrap() {
        for piece in batch.pieces() {
            let Piece::Accesses(range) = piece else {
                panic!("only plain accesses were asked for")
            };
            for index in range {
                match trace.program().site(batch.site[index]).kind.writes() {
                    true => counts.stores += 1,
                    false => counts.loads += 1,
                }
            }
        }
    }
}

fn imported(traces: &[PathBuf]) -> (ImportSummary, Trace, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("imported.trackway");
    let options = ImportOptions {
        traces: traces.to_vec(),
        output: output.clone(),
        force: false,
        modules: None,
    };
    let summary = import(&options).unwrap();
    let trace = Trace::open(&output).unwrap();
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    (summary, trace, directory)
}

fn counts_are_exact(name: &str) {
    let folder = folder(name);
    let (summary, trace, _directory) = imported(std::slice::from_ref(&folder));
    let expected = printed_counts(&folder);
    assert_eq!(expected.len(), 3);
    let threads: Vec<u64> = summary
        .threads
        .iter()
        .map(|counts| counts.thread.thread)
        .collect();
    let found: BTreeMap<u64, Counts> = threads.into_iter().zip(counts_of(&trace)).collect();
    assert_eq!(found, expected);
    assert_eq!(trace.meta().program, "fx");
    assert_eq!(trace.processes().len(), 2, "start and exit of one process");
}

#[test]
fn counts_of_an_lz4_trace_are_those_of_basic_counts() {
    counts_are_exact("lz4");
}

#[test]
fn counts_of_a_zip_trace_are_those_of_basic_counts() {
    counts_are_exact("zip");
}

#[test]
fn imported_traces_keep_the_rules_of_the_format() {
    let (_, trace, _directory) = imported(&[folder("zip")]);
    assert_eq!(check_structure(&trace), []);
    for chunk in trace.streams().iter().flat_map(|stream| &stream.chunks) {
        let violations = Interpreter::new(&trace).run(chunk, &mut |_| ()).unwrap();
        assert_eq!(violations, []);
    }
}

/// The first instructions and references, as the tool view printed them.
#[test]
fn instructions_and_references_are_those_of_view() {
    let folder = folder("lz4");
    let text = std::fs::read_to_string(folder.join("view.txt")).unwrap();
    let (_, trace, _directory) = imported(&[folder]);
    let hexadecimal = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let mut fetched = Vec::new();
    let mut accessed = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, _, _, "ifetch", _, _, "@", address, ..] => fetched.push(hexadecimal(address)),
            [_, _, _, kind @ ("read" | "write"), size, _, "@", address, "by", "PC", by] => {
                let size: u32 = size.parse().unwrap();
                accessed.push((kind == "write", size, hexadecimal(address), hexadecimal(by)));
            }
            _ => {}
        }
    }
    assert!(
        fetched.len() > 40 && accessed.len() > 15,
        "{} {}",
        fetched.len(),
        accessed.len()
    );
    let program = trace.program();
    let chunk = &trace.streams()[0].chunks[0];
    let mut found = Vec::new();
    let mut blocks = ExecutedBlocks::of_chunk(&trace, chunk).unwrap();
    while found.len() < fetched.len() {
        let block = blocks.next_block().unwrap().unwrap();
        let instructions = program.instructions_of(block).iter();
        found.extend(
            instructions
                .filter(|one| one.kind.is_fetched())
                .map(|one| one.offset),
        );
    }
    assert_eq!(found[..fetched.len()], fetched);
    let mut decoder = Decoder::new(&trace);
    let mut batches = decoder.decode(chunk).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    let references = (0..accessed.len()).map(|index| {
        let site = program.site(batch.site[index]);
        let instruction = program.instruction(program.instruction_of_site(batch.site[index]).unwrap());
        (
            site.kind.writes(),
            site.size,
            batch.address[index],
            instruction.offset,
        )
    });
    assert_eq!(references.collect::<Vec<_>>(), accessed);
}

/// The entries of one thread's file, decompressed.
fn entries(name: &str) -> Vec<u8> {
    let file = std::fs::File::open(folder("lz4").join(name)).unwrap();
    let mut bytes = Vec::new();
    lz4_flex::frame::FrameDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

const THREADS: [&str; 2] = [
    "drmemtrace.fx.03780.8429.trace.lz4",
    "drmemtrace.fx.03781.1854.trace.lz4",
];

/// The counts of `bytes`, a file of both threads or of one of them.
fn counts_of_file(bytes: &[u8]) -> Vec<Counts> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.trace");
    std::fs::write(&file, bytes).unwrap();
    let (_, trace, _directory) = imported(&[file]);
    counts_of(&trace)
}

#[test]
fn gzip_and_plain_files_hold_the_same() {
    let plain = entries(THREADS[0]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let expected = printed_counts(&folder("lz4")).remove(&3780);
    let expected: Vec<Counts> = expected.into_iter().collect();
    assert_eq!(counts_of_file(&plain), expected);
    assert_eq!(counts_of_file(&gzip.finish().unwrap()), expected);
}

/// Threads take turns within one file, as they may where drmemtrace sorted by processor.
#[test]
fn a_file_of_several_threads_is_taken_apart() {
    let turn = 12 * 5000;
    let [first, second] = THREADS.map(entries);
    let (mut first_turns, mut second_turns) = (first.chunks(turn), second.chunks(turn));
    let thread = |number: u64| {
        [
            &22u16.to_le_bytes()[..],
            &8u16.to_le_bytes(),
            &number.to_le_bytes(),
        ]
        .concat()
    };
    let mut file = Vec::new();
    loop {
        let (first, second) = (first_turns.next(), second_turns.next());
        if first.is_none() && second.is_none() {
            break;
        }
        for (number, entries) in [(3780, first), (3781, second)] {
            if let Some(entries) = entries {
                // The header comes first, before any thread.
                if !file.is_empty() {
                    file.extend(thread(number));
                }
                file.extend(entries);
            }
        }
    }
    let mut expected = printed_counts(&folder("lz4"));
    expected.remove(&3778);
    assert_eq!(counts_of_file(&file), expected.into_values().collect::<Vec<_>>());
}
