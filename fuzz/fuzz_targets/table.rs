//! Any bytes as the body of a module table: what is accepted survives a round trip and decodes any records.

#![no_main]

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use libfuzzer_sys::fuzz_target;
use testing::file::{repair_table, FileBytes};
use trackway_trace::table::Table;
use trackway_trace::{Codec, Decoder};

fuzz_target!(|input: (&[u8], &[u8])| {
    let (body, records) = input;
    let mut bytes = b"TWTABLE\0\x01\x00\x03\x00".to_vec();
    bytes.resize(32, 0);
    bytes.extend_from_slice(body);
    repair_table(&mut bytes);
    let Ok(table) = Table::parse(&bytes) else { return };
    assert_eq!(Table::parse(&table.encode()).as_ref(), Ok(&table));
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 1, &table).records(0, 1, records);
    let trace = file.open();
    let mut decoder = Decoder::new(&trace);
    let Ok(mut batches) = decoder.decode(&trace.streams()[0].chunks[0]) else {
        return;
    };
    // Loops may stand for more than anyone wants to wait for.
    let _ = (0..64).take_while(|_| matches!(batches.next_batch(), Ok(Some(_)))).count();
});
