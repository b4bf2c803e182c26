//! Valid tables and mostly valid records drawn from the input: both decoders see the same accesses.

#![no_main]

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use libfuzzer_sys::fuzz_target;
use testing::choices::Choices;
use testing::file::FileBytes;
use testing::tables;
use trackway_trace::check::{Decoded, Interpreter, Rule};
use trackway_trace::{Codec, Decoder};

/// Of one record: loops may stand for more than anyone wants to wait for.
const ITERATIONS: u64 = 1 << 12;

fuzz_target!(|input: (&[u8], &[u8], bool)| {
    let (table_bytes, record_bytes, tail) = input;
    let table = tables::table(&mut Choices::new(table_bytes));
    let records = tables::stream(&[(1, &table)], &mut Choices::new(record_bytes));
    let mut file = FileBytes::new(Codec::Lz4);
    file.module(0, 1, &table).records(0, u16::from(tail), &records);
    let trace = file.open();
    assert!(trace.damage().is_empty());
    let chunk = &trace.streams()[0].chunks[0];

    let mut expected = Vec::new();
    let mut take = |event| {
        if let Decoded::Access {
            site,
            address,
            length,
        } = event
        {
            expected.push((site, address, length));
        }
    };
    let violations = Interpreter::new(&trace)
        .with_iteration_limit(ITERATIONS)
        .run(chunk, &mut take)
        .expect("a whole chunk");
    let cut = violations
        .iter()
        .any(|violation| matches!(violation.rule, Rule::Iterations { .. }));

    let mut found = Vec::new();
    let mut decoder = Decoder::new(&trace);
    let mut batches = decoder.decode(chunk).expect("a whole chunk");
    while !cut || found.len() < expected.len() {
        let Ok(Some(batch)) = batches.next_batch() else { break };
        found.extend(
            (0..batch.len()).map(|index| (batch.site[index], batch.address[index], batch.length(index))),
        );
    }
    if cut {
        found.truncate(expected.len());
    }
    assert_eq!(found, expected);
});
