//! Builds the player, records it, and reads what it recorded, byte by byte.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use trackway_recorder::{record, Output, RecordOptions, RecordSummary};
use trackway_trace::table::{Count, Table, TableBlock, TableBlocks, TableFunction, TableLocation};
use trackway_trace::{ChunkKind, ChunkRef, Trace};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the player's records: a global id and an address.
const RECORD: usize = 12;
pub const STORE: u64 = 1;
pub const SMALL_BUFFER: u32 = 16 * 1024;

/// Path of the player, built once.
pub fn player() -> &'static Path {
    static PLAYER: OnceLock<PathBuf> = OnceLock::new();
    PLAYER.get_or_init(|| build_player(&[]))
}

/// Path of the program that counts, built once.
pub fn counter() -> &'static Path {
    static COUNTER: OnceLock<PathBuf> = OnceLock::new();
    COUNTER.get_or_init(|| build_program("counter", &[]))
}

/// Compiles the player with further flags.
pub fn build_player(flags: &[&str]) -> PathBuf {
    build_program("player", flags)
}

/// Compiles a hand-written program against the runtime as its Makefile builds it.
fn build_program(source: &str, flags: &[&str]) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(build_runtime).path();
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(format!("{source}{}", flags.concat().replace('/', "_")));
    let compiler = std::env::var_os("TRACKWAY_CLANG").unwrap_or("clang-22".into());
    let mut compile = Command::new(compiler);
    compile
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror", "-pthread"])
        .args(flags)
        .arg("-I")
        .arg(crate_folder.join("../runtime"))
        .arg("-I")
        .arg(crate_folder.join("../ring"))
        .arg("-I")
        .arg(folder)
        .arg(crate_folder.join(format!("tests/recording/{source}.c")))
        .arg(folder.join("libtrackway.a"))
        .arg("-o")
        .arg(&program);
    run_tool(&mut compile);
    program
}

fn build_runtime() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("table.h"), table_header()).unwrap();
    let variable = |name: &str| format!("{name}={}", folder.path().display());
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
    run_tool(Command::new("make").arg("-sC").arg(runtime).args([
        variable("OUT"),
        variable("INCLUDE"),
        variable("OBJ"),
    ]));
    folder
}

fn run_tool(command: &mut Command) {
    let output = command.output().expect("clang-22 and make must be installed");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn function_hash() -> u64 {
    let name = b"player.c\0play";
    name.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// One function with one segment: an 8-byte store through a root of 8 bytes.
fn table() -> Vec<u8> {
    let mut body = vec![3, 0, 8];
    body.extend_from_slice(b"player.c");
    body.push(4);
    body.extend_from_slice(b"play");
    body.extend_from_slice(&[1, 0]); // module
    body.push(0); // symbols
    body.extend_from_slice(&[1, 0, 0, 0, 0, 0]); // locations
    body.extend_from_slice(&[1, 2, 2, 0, 0, 0, 1, 1, 1, 1, 0, 0]); // functions
    body.extend_from_slice(&[1, 0, 0, 0, STORE as u8, 8, 0, 0, 0, 0, 0, 0]); // sites
    body.push(0); // allocation sites
    body.extend_from_slice(&[1, 0, 0, 8, 2, 1, 0, 8, 3, 0, 2, 0, 0, 2]); // segments
    body.push(0); // types
    let mut table = b"TWTABLE\0\x01\0\x01\0\0\0\0\0".to_vec();
    table.extend_from_slice(&xxh3_64(&body).to_le_bytes());
    table.extend_from_slice(&(body.len() as u64).to_le_bytes());
    table.extend_from_slice(&body);
    table
}

fn table_header() -> String {
    let mut header = format!("#define play_function UINT64_C({})\n", function_hash());
    for (name, bytes) in [("table", table()), ("counting_table", counting_table())] {
        write!(
            header,
            "__attribute__((unused)) static const unsigned char {name}[] = {{"
        )
        .unwrap();
        for byte in bytes {
            write!(header, "{byte},").unwrap();
        }
        header.push_str("};\n");
    }
    header
}

/// One function with one block, executed as often as the first of two counters says.
fn counting_table() -> Vec<u8> {
    let block = TableBlock {
        executions: Count::of(0),
        ..TableBlock::default()
    };
    let table = Table {
        strings: vec![String::new()],
        locations: vec![TableLocation::default()],
        functions: vec![TableFunction::default()],
        blocks: Some(TableBlocks {
            counter_count: 2,
            blocks: vec![block],
            ..TableBlocks::default()
        }),
        ..Table::default()
    };
    table.encode()
}

/// A recording and the folder that holds its file.
pub struct Recorded {
    pub summary: RecordSummary,
    pub trace: Trace,
    _folder: TempDir,
}

/// Options that record `arguments` of the player.
pub fn options(output: Output, arguments: &[&str]) -> RecordOptions {
    let mut options = RecordOptions::new(player(), output);
    options.arguments = arguments.iter().map(Into::into).collect();
    options
}

pub fn record_player(arguments: &[&str], adjust: impl FnOnce(&mut RecordOptions)) -> Recorded {
    record_program(player(), arguments, adjust)
}

pub fn record_program(
    program: &Path,
    arguments: &[&str],
    adjust: impl FnOnce(&mut RecordOptions),
) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("player.trackway");
    let mut options = options(
        Output::File {
            path: path.clone(),
            force: false,
        },
        arguments,
    );
    options.program = program.into();
    adjust(&mut options);
    let summary = record(options).unwrap();
    Recorded {
        summary,
        trace: open(&path),
        _folder: folder,
    }
}

pub fn open(path: &Path) -> Trace {
    let trace = Trace::open(path).unwrap();
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    trace
}

/// The addresses that a chunk of records holds, up to its end or the id 0.
pub fn chunk_addresses(trace: &Trace, chunk: &ChunkRef) -> Vec<u64> {
    let mut payload = Vec::new();
    trace.read_payload(chunk, &mut payload).unwrap();
    let records = payload.chunks_exact(RECORD);
    let is_tail = chunk.header.is_tail();
    assert!(is_tail || records.remainder().is_empty());
    records
        .take_while(|record| record[..4] != [0; 4])
        .inspect(|record| assert_eq!(record[0], 0))
        .map(|record| u64::from_le_bytes(record[4..].try_into().unwrap()))
        .collect()
}

/// The addresses of a stream, in order; checks that no chunk of it is missing.
pub fn stream_addresses(trace: &Trace, stream: u32) -> Vec<u64> {
    let chunks = &trace.stream(stream).unwrap().chunks;
    for (sequence, chunk) in (0..).zip(chunks) {
        assert_eq!(chunk.header.sequence, sequence);
    }
    chunks
        .iter()
        .flat_map(|chunk| chunk_addresses(trace, chunk))
        .collect()
}

/// All streams' addresses, sorted by their first one.
pub fn all_addresses(trace: &Trace) -> Vec<Vec<u64>> {
    let streams = trace
        .streams()
        .iter()
        .map(|stream| stream_addresses(trace, stream.id));
    let mut streams: Vec<_> = streams.filter(|addresses| !addresses.is_empty()).collect();
    streams.sort();
    streams
}

/// Compares each stream with what the oracle counted and hashed.
pub fn check_oracle(trace: &Trace) {
    let mut checked = 0;
    for chunk in trace.chunks_of(ChunkKind::OracleSummary) {
        let mut payload = Vec::new();
        trace.read_payload(chunk, &mut payload).unwrap();
        for entry in payload.chunks_exact(24) {
            let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
            let addresses = stream_addresses(trace, word(0) as u32);
            assert_eq!(
                (word(8), word(16)),
                (addresses.len() as u64, oracle_hash(&addresses))
            );
            checked += 1;
        }
    }
    assert_eq!(checked, all_addresses(trace).len());
}

fn oracle_hash(addresses: &[u64]) -> u64 {
    let words = addresses
        .iter()
        .flat_map(|&address| [function_hash() ^ STORE, address, 8]);
    words.fold(0, |hash: u64, word| {
        (hash ^ word).rotate_left(29).wrapping_mul(0x9FB2_1C65_1E98_DF25)
    })
}

/// `count` addresses from `first` on, as the player plays them.
pub fn run(first: u64, count: u64) -> Vec<u64> {
    (first..first + count).collect()
}
