//! Decodes a trace on one core and forgets it. Prints the accesses, the bytes of the records, and the CPU time of
//! decoding in nanoseconds, decompression and checksums included. For benchmarks.
//!
//!     cargo run --release -p trackway-trace --example decode_trace -- TRACE

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use trackway_trace::{ChunkKind, Decoder, Trace};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: decode_trace TRACE")?;
    let trace = Trace::open(Path::new(&path))?;
    let mut decoder = Decoder::new(&trace);
    let start = cpu_ns()?;
    let (mut accesses, mut bytes) = (0, 0);
    for chunk in trace.chunks_of(ChunkKind::Records) {
        bytes += u64::from(chunk.header.raw_length);
        let mut batches = decoder.decode(chunk)?;
        while let Some(batch) = batches.next_batch()? {
            accesses += batch.len();
            black_box(batch);
        }
    }
    println!("{accesses} {bytes} {}", cpu_ns()? - start);
    Ok(())
}

/// Time that this thread has run.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or(&text).parse()?)
}
