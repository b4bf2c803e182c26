//! Any bytes as a trace file: whatever of it can be read is read, by both decoders.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trackway_trace::check::{check_structure, Interpreter};
use trackway_trace::oracle::compare;
use trackway_trace::{Decoder, Trace};

/// Loops may stand for more than anyone wants to wait for.
const BATCHES: usize = 64;
const ITERATIONS: u64 = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = Trace::from_bytes("fuzzed".as_ref(), bytes.to_vec()) else {
        return;
    };
    check_structure(&trace);
    let mut decoder = Decoder::new(&trace);
    let mut short = true;
    for chunk in trace.streams().iter().flat_map(|stream| &stream.chunks) {
        if let Ok(mut batches) = decoder.decode(chunk) {
            let taken = (0..BATCHES).take_while(|_| matches!(batches.next_batch(), Ok(Some(_))));
            short &= taken.count() < BATCHES;
        }
        let mut interpreter = Interpreter::new(&trace).with_iteration_limit(ITERATIONS);
        let _ = interpreter.run(chunk, &mut |_| {});
    }
    if short {
        let _ = compare(&trace);
    }
});
