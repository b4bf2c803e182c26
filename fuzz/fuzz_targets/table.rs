//! Any bytes as the body of a module table: what is accepted survives a round trip and decodes any records, or evaluates any
//! counters. And any bytes as names of machine code.

#![no_main]

#[path = "../../trace/testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use libfuzzer_sys::fuzz_target;
use testing::file::{repair_table, FileBytes};
use trackway_trace::table::{CodeNames, Table};
use trackway_trace::{Codec, Decoder, ImageCounters, NodeCounts};

/// The flag of tables that count.
const COUNTS: u8 = 8;

fuzz_target!(|input: (bool, &[u8], &[u8])| {
    let (counts, body, records) = input;
    if let Ok(names) = CodeNames::parse(body) {
        assert_eq!(CodeNames::parse(&names.encode()).as_ref(), Ok(&names));
    }
    let mut bytes = b"TWTABLE\0\x01\x00\x03\x00".to_vec();
    if counts {
        bytes[10] |= COUNTS;
    }
    bytes.resize(32, 0);
    bytes.extend_from_slice(body);
    repair_table(&mut bytes);
    let Ok(table) = Table::parse(&bytes) else { return };
    assert_eq!(Table::parse(&table.encode()).as_ref(), Ok(&table));
    if counts {
        return evaluate(&table, records);
    }
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

/// Evaluates the table's blocks with a node of any bytes.
fn evaluate(table: &Table, node: &[u8]) {
    let node = NodeCounts::from_bytes(node);
    let place = ImageCounters { image: node.image, first: node.parent };
    let mut file = FileBytes::new(Codec::None);
    file.counting_module(0, 1, table, place).node(0, 0, 1, &node);
    let trace = file.open();
    let (nodes, _) = trace.read_nodes(&trace.counting_threads()[0]);
    let program = trace.program();
    for id in trace.counting_modules(0, node.image) {
        let variables = program.module(id).variables_of(&nodes[0].counters);
        let sums = program.blocks.iter().map(|block| block.executions.value(&variables));
        let steps = program.module(id).steps.iter().map(|step| step.times.value(&variables));
        sums.chain(steps).fold(0, u64::wrapping_add);
    }
}
