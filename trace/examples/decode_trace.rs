//! Decodes a trace on one core and forgets it. Prints the accesses, the bytes of the records, and the CPU time of
//! decoding in nanoseconds: as events, and with the runs of affine loops as such. Decompression and checksums are
//! included. For benchmarks.
//!
//!     cargo run --release -p trackway-trace --example decode_trace -- TRACE

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use trackway_trace::{ChunkKind, ChunkRef, Decoder, Trace};

/// Short traces are decoded again until this much CPU time has passed: the kernel counts it in steps of some
/// milliseconds.
const LEAST_NS: u64 = 100_000_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("usage: decode_trace TRACE")?;
    let trace = Trace::open(Path::new(&path))?;
    let (accesses, events_ns) = repeat(&trace, Decoder::new(&trace))?;
    let (_, runs_ns) = repeat(&trace, Decoder::new(&trace).with_runs())?;
    let bytes = ChunkRef::raw_bytes(trace.chunks_of(ChunkKind::Records));
    println!("{accesses} {bytes} {events_ns} {runs_ns}");
    Ok(())
}

/// Accesses of the trace, and CPU time to decode it once.
fn repeat(trace: &Trace, mut decoder: Decoder<'_>) -> Result<(u64, u64)> {
    let start = cpu_ns()?;
    let (mut accesses, mut times) = (0, 0);
    loop {
        accesses += decode(trace, &mut decoder)?;
        times += 1;
        let passed = cpu_ns()? - start;
        if passed >= LEAST_NS {
            return Ok((accesses / times, passed / times));
        }
    }
}

fn decode(trace: &Trace, decoder: &mut Decoder<'_>) -> Result<u64> {
    let mut accesses = 0;
    for chunk in trace.chunks_of(ChunkKind::Records) {
        let mut batches = decoder.decode(chunk)?;
        while let Some(batch) = batches.next_batch()? {
            accesses += black_box(batch).access_count();
        }
    }
    Ok(accesses)
}

/// Time that this thread has run.
fn cpu_ns() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or(&text).parse()?)
}
