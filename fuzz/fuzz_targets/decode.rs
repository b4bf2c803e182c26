//! Any bytes as a trace file: whatever of it can be read is read, by both decoders.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trackway_trace::check::{check_structure, Interpreter};
use trackway_trace::oracle::compare;
use trackway_trace::{Decoder, Trace};

fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = Trace::from_bytes("fuzzed".as_ref(), bytes.to_vec()) else {
        return;
    };
    check_structure(&trace);
    let mut decoder = Decoder::new(&trace);
    for chunk in trace.streams().iter().flat_map(|stream| &stream.chunks) {
        if let Ok(mut batches) = decoder.decode(chunk) {
            while let Ok(Some(_)) = batches.next_batch() {}
        }
        let _ = Interpreter::new(&trace).run(chunk, &mut |_| {});
    }
    let _ = compare(&trace);
});
