//! Encodes the records of a trace again, as the recorder would, on one core. Prints their bytes, the bytes that are
//! stored, and the CPU time in nanoseconds. For benchmarks.
//!
//!     cargo run --release -p trackway-trace --example encode_records -- TRACE

use std::error::Error;
use std::path::Path;

use trackway_trace::{ChunkEncoder, ChunkFields, ChunkKind, Codec, Trace};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("usage: encode_records TRACE")?;
    let trace = Trace::open(Path::new(&path))?;
    let mut encoder = ChunkEncoder::new(Codec::Columns)?;
    let mut payload = Vec::new();
    for chunk in trace.chunks_of(ChunkKind::Module) {
        trace.read_payload(chunk, &mut payload)?;
        encoder.encode(&ChunkFields::new(ChunkKind::Module), &payload)?;
    }
    let (mut raw_bytes, mut stored_bytes, mut took_ns) = (0, 0, 0);
    for chunk in trace.chunks_of(ChunkKind::Records) {
        trace.read_payload(chunk, &mut payload)?;
        let start = cpu_ns()?;
        let stored = encoder
            .encode(&ChunkFields::new(ChunkKind::Records), &payload)?
            .stored
            .len();
        took_ns += cpu_ns()? - start;
        raw_bytes += payload.len();
        stored_bytes += stored;
    }
    println!("{raw_bytes} {stored_bytes} {took_ns}");
    Ok(())
}

/// Time that this thread has run.
fn cpu_ns() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or(&text).parse()?)
}
