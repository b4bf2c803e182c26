//! Each version of the format that the reader accepts has golden files, which stay readable; a writer that would make
//! others needs a new version.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use trackway_trace::table::TABLE_MAGIC;
use trackway_trace::{AccessKind, ChunkKind, Decoder, Trace, TraceError, FORMAT_VERSION};

const MOST_BYTES: u64 = 100 << 10;

/// JSON, or what isn't.
type Payload = Result<Json, Vec<u8>>;
type Access = (u32, AccessKind, u64, u64);

/// What must be decoded from stream 0 of the golden trace of a version. It never changes.
fn accesses_of(version: u16) -> &'static [Access] {
    match version {
        1 | 2 => &testing::golden::ACCESSES,
        _ => panic!("say what golden-v{version}.trackway holds"),
    }
}

/// The chunks of counts in the golden file of a version. It never changes.
fn nodes_of(version: u16) -> usize {
    match version {
        1 | 2 => 6,
        _ => panic!("say what counts-v{version}.trackway holds"),
    }
}

fn vector(name: &str, version: u16) -> PathBuf {
    let file = format!("vectors/{name}-v{version}.trackway");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn open(name: &str, version: u16) -> Trace {
    let path = vector(name, version);
    let trace = Trace::open(&path).unwrap_or_else(|error| panic!("version {version} is accepted: {error}"));
    assert!(trace.damage().is_empty(), "{}", path.display());
    assert!(trace.file_length() <= MOST_BYTES, "{}", path.display());
    trace
}

fn version_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([bytes[offset], bytes[offset + 1]])
}

/// The versions of all module tables in a trace.
fn versions_of_tables(trace: &Trace) -> Vec<u16> {
    let version = |chunk| {
        let mut payload = Vec::new();
        trace.read_payload(chunk, &mut payload).unwrap();
        let is_table = |window: &[u8]| window == TABLE_MAGIC;
        let table = payload.windows(TABLE_MAGIC.len()).position(is_table).unwrap();
        version_at(&payload, table + TABLE_MAGIC.len())
    };
    trace.chunks_of(ChunkKind::Module).map(version).collect()
}

fn decoded(trace: &Trace) -> Vec<Access> {
    let mut decoder = Decoder::new(trace);
    let mut accesses = Vec::new();
    for chunk in &trace.streams()[0].chunks {
        let mut batches = decoder.decode(chunk).unwrap();
        while let Some(batch) = batches.next_batch().unwrap() {
            accesses.extend((0..batch.len()).map(|index| {
                let site = trace.program().site(batch.site[index]);
                (site.ordinal, site.kind, batch.address[index], batch.length(index))
            }));
        }
    }
    accesses
}

#[test]
fn each_accepted_version_has_golden_files_of_that_version() {
    for version in 1..=FORMAT_VERSION {
        for name in ["golden", "counts"] {
            let trace = open(name, version);
            let bytes = std::fs::read(trace.path()).unwrap();
            assert_eq!(version_at(&bytes, 8), version, "{name} of version {version}");
            let tables = versions_of_tables(&trace);
            assert!(!tables.is_empty());
            assert!(tables.iter().all(|table| *table == version), "{tables:?}");
        }
    }
}

#[test]
fn each_golden_file_decodes_to_what_it_holds() {
    for version in 1..=FORMAT_VERSION {
        assert_eq!(decoded(&open("golden", version)), accesses_of(version));
        let counts = open("counts", version);
        assert_eq!(counts.chunks_of(ChunkKind::Counts).count(), nodes_of(version));
        assert_eq!(counts.counting_threads().len(), 2);
    }
}

/// Kind, stream, sequence and payload of all chunks. JSON counts by its content, as the order of its keys depends on
/// what else is compiled; payloads are decompressed, as compressors change.
fn content(trace: &Trace) -> Vec<(ChunkKind, u32, u64, Payload)> {
    let chunks = trace.chunks().iter();
    let content = chunks.map(|chunk| {
        let mut payload = Vec::new();
        trace.read_payload(chunk, &mut payload).unwrap();
        let header = &chunk.header;
        let payload = serde_json::from_slice(&payload).map_err(|_| payload);
        (header.kind, header.stream, header.sequence, payload)
    });
    content.collect()
}

/// Fails where what a trace holds changes without a new version.
fn is_what_the_writer_writes(name: &str, write: fn(&Path) -> Result<(), TraceError>) {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh.trackway");
    write(&fresh).unwrap();
    assert!(
        content(&Trace::open(&fresh).unwrap()) == content(&open(name, FORMAT_VERSION)),
        "the writer writes another {name} trace than version {FORMAT_VERSION} has: raise FORMAT_VERSION"
    );
}

#[test]
fn the_golden_files_of_the_present_version_are_what_the_writer_writes() {
    is_what_the_writer_writes("golden", testing::golden::write);
    is_what_the_writer_writes("counts", testing::counted_scene::write);
}
