//! Any bytes as the payload of a chunk of any kind, whose checksum agrees: names, modules, samples, mappings, allocations, counts
//! and the JSON of start, processes and end. The rest of the trace is sound.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trackway_trace::check::check_structure;
use trackway_trace::{file_header, plain_chunk, ChunkFields, ChunkKind, Decoder, Samples, Trace};

/// A trace with one chunk of each kind that a recorder writes.
const GOLDEN: &[u8] = include_bytes!("../../trace/vectors/golden-v2.trackway");
const BATCHES: usize = 64;

fuzz_target!(|input: &[u8]| {
    let Some((kind, payload)) = input.split_first() else { return };
    let kind = ChunkKind::from(*kind);
    let sound = Trace::from_bytes("golden".as_ref(), GOLDEN.to_vec()).expect("it is sound");
    let mut bytes = file_header(sound.identity()).to_vec();
    let mut is_there = false;
    let fields = ChunkFields::new(kind);
    let own = plain_chunk(&fields, payload).expect("it is short").to_bytes();
    for chunk in sound.chunks() {
        if chunk.header.kind == kind && !is_there {
            is_there = true;
            bytes.extend(&own);
            continue;
        }
        let start = chunk.offset as usize;
        bytes.extend(&GOLDEN[start..start + chunk.header.chunk_length() as usize]);
    }
    if !is_there {
        bytes.extend(&own);
    }
    if let Ok(trace) = Trace::from_bytes("fuzzed".as_ref(), bytes) {
        read(&trace);
    }
});

/// All that readers look at.
fn read(trace: &Trace) {
    check_structure(trace);
    trace.code_names();
    let mut payload = Vec::new();
    for chunk in trace.chunks() {
        if trace.read_payload(chunk, &mut payload).is_ok() && chunk.header.kind == ChunkKind::Samples {
            let _ = Samples::parse(&payload);
        }
    }
    trace.mappings();
    trace.allocating_processes();
    for thread in trace.counting_threads() {
        trace.read_nodes(thread);
    }
    let mut decoder = Decoder::new(trace);
    for chunk in trace.streams().iter().flat_map(|stream| &stream.chunks) {
        if let Ok(mut batches) = decoder.decode(chunk) {
            let _ = (0..BATCHES).take_while(|_| matches!(batches.next_batch(), Ok(Some(_)))).count();
        }
    }
}
