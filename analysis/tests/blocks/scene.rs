//! Random traces of threads that allocate, access and release the same few addresses.

use serde_json::json;
use trackway_trace::table::{
    AllocatedBlock, Expression, Operation, Segment, Table, TableAllocationSite, TableSite, TableSymbol,
};
use trackway_trace::{AccessKind, AllocationOperation, ChunkFields, ChunkKind, Codec, Trace, VariableKind};

use crate::testing::choices::Choices;
use crate::testing::file::FileBytes;
use crate::testing::loops::{access, count_root, repeat, step, table_of};
use crate::testing::tables::record_length;

/// Names of the allocation sites.
pub const SITES: [&str; 3] = ["first, malloc", "second, malloc", "third, malloc"];
pub const STATICS: [(&str, u64); 2] = [("table", 0x40_0000), ("counter", 0x40_1000)];
pub const STATIC_BYTES: u64 = 96;
const HEAP: u64 = 0x10_0000;
const STACKS: u64 = 0x7fff_0000_0000;

const LOAD: u32 = 1;
const STORE: u32 = 2;
const LOCAL: u32 = 3;
const FILL: u32 = 4;
const FIRST: u32 = 5;
const SECOND: u32 = 6;
const FREE: u32 = 7;
const MOVE: u32 = 8;
const LOOP: u32 = 9;
const NEST: u32 = 10;

fn table() -> Table {
    let block = |address, bytes| AllocatedBlock {
        address: Expression::register(address, 0),
        element_size: Expression::constant(1),
        count: Expression::register(bytes, 0),
    };
    let allocate = |site| {
        let block = Box::new(block(0, 1));
        vec![count_root(0), count_root(1), Operation::Allocate { site, block }]
    };
    let mut table = table_of(vec![count_root(0), access(0, 0, 0)]);
    let fill = Operation::Block {
        site: 3,
        address: Expression::register(0, 0),
        length: Expression::register(1, 0),
    };
    let free = Operation::Free {
        site: 0,
        address: Expression::register(0, 0),
    };
    let reallocate = Operation::Reallocate {
        site: 2,
        old: Expression::register(0, 0),
        block: Box::new(block(1, 2)),
    };
    let down = vec![access(0, 0, 0), access(2, 0, -70), access(1, 2, 3), step(0, -24)];
    let along = vec![access(1, 3, 0), access(0, 3, 4), step(3, 8)];
    let start_of_row = Operation::Set {
        register: 3,
        value: Expression::register(0, 0),
    };
    let rows = vec![start_of_row, repeat(2, along), access(2, 0, 0), step(0, 160)];
    for operations in [
        vec![count_root(0), access(1, 0, 0)],
        vec![count_root(0), access(2, 0, 0)],
        vec![count_root(0), count_root(1), fill],
        allocate(0),
        allocate(1),
        vec![count_root(0), free],
        vec![count_root(0), count_root(1), count_root(2), reallocate],
        vec![count_root(0), count_root(1), count_root(2), repeat(1, down)],
        vec![count_root(0), count_root(1), count_root(2), repeat(1, rows)],
    ] {
        table.segments.push(Segment {
            function: 0,
            local_id: table.segments.len() as u16 + 1,
            record_length: record_length(&operations),
            operations,
        });
    }
    table.functions[0].segment_count = table.segments.len() as u32;
    let text = ["", "first", "second", "third", "malloc", "table", "counter"];
    table.strings = text.map(str::to_owned).to_vec();
    table.sites[1].kind = AccessKind::Store;
    table.sites[2].kind = AccessKind::Store;
    table.sites[2].variable_kind = VariableKind::Local;
    table.sites.push(TableSite {
        ordinal: 3,
        kind: AccessKind::Fill,
        size: 0,
        ..table.sites[0].clone()
    });
    table.allocation_sites = (0..3).map(allocation_site).collect();
    table.symbols = [5, 6].map(symbol).to_vec();
    table
}

fn allocation_site(number: u32) -> TableAllocationSite {
    TableAllocationSite {
        function: 0,
        ordinal: 100 + number,
        operation: AllocationOperation::Allocate,
        location: 0,
        allocator: 4,
        element_type: 0,
        element_size: 1,
        variable: 1 + number,
    }
}

fn symbol(name: u32) -> TableSymbol {
    TableSymbol {
        name,
        type_name: 0,
        size: STATIC_BYTES,
        location: 0,
    }
}

fn record(segment: u32, values: &[u64], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(segment << 8).to_le_bytes());
    values
        .iter()
        .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// Mostly where blocks are, sometimes in a static variable, on a stack, or anywhere.
fn address(choices: &mut Choices<'_>) -> u64 {
    let offset = u64::from(choices.byte()) * 16;
    match choices.below(16) {
        0..=8 => HEAP + offset,
        9 => HEAP + 0x1000 + offset * 8 + 3,
        10 | 11 => STATICS[choices.below(2) as usize].1 + offset % 256,
        12 | 13 => STACKS + (u64::from(choices.below(3)) << 23) - offset,
        14 => u64::MAX - offset % 64,
        _ => choices.number() as u64,
    }
}

fn bytes_of_block(choices: &mut Choices<'_>) -> u64 {
    match choices.below(12) {
        0 => 0,
        1 => 4000 + u64::from(choices.byte()) * 64,
        2 => 1 << 40,
        _ => u64::from(choices.below(200)),
    }
}

fn start_of_block(choices: &mut Choices<'_>) -> u64 {
    match choices.below(12) {
        0 => 0,
        1 => u64::MAX,
        2 => address(choices),
        _ => HEAP + u64::from(choices.below(40)) * 64,
    }
}

fn add_record(choices: &mut Choices<'_>, bytes: &mut Vec<u8>) {
    match choices.below(18) {
        0..=2 => record(LOAD, &[address(choices)], bytes),
        3..=5 => record(STORE, &[address(choices)], bytes),
        6 => record(LOCAL, &[address(choices)], bytes),
        7 => record(FILL, &[address(choices), u64::from(choices.byte()) * 2], bytes),
        8..=10 => record(FIRST, &[start_of_block(choices), bytes_of_block(choices)], bytes),
        11 => record(SECOND, &[start_of_block(choices), bytes_of_block(choices)], bytes),
        12 | 13 => record(FREE, &[start_of_block(choices)], bytes),
        14 => {
            let moved = [
                start_of_block(choices),
                start_of_block(choices),
                bytes_of_block(choices),
            ];
            record(MOVE, &moved, bytes);
        }
        15 => {
            let (start, fixed) = (address(choices), address(choices));
            record(LOOP, &[start, u64::from(choices.below(50)), fixed], bytes);
        }
        16 => {
            let [rows, columns] = [6, 30].map(|limit| u64::from(choices.below(limit)));
            record(NEST, &[address(choices), rows, columns], bytes);
        }
        _ => {
            // The same access many times, so that time passes.
            let address = address(choices);
            (0..choices.byte()).for_each(|_| record(LOAD, &[address], bytes));
        }
    }
}

/// Up to three threads; the last one is of a forked process.
pub fn trace(bytes: &[u8]) -> Trace {
    let mut choices = Choices::new(bytes);
    let mut file = FileBytes::new(Codec::Lz4);
    for (process, parent) in [(0, None), (1, Some(0))] {
        let info = json!({"pid": 100 + process, "parent": parent, "event": "start", "monotonic_ns": 900});
        let fields = ChunkFields {
            process,
            ..ChunkFields::new(ChunkKind::Process)
        };
        file.chunk(&fields, info.to_string().as_bytes());
    }
    file.module(0, 1, &table());
    for stream in 0..1 + choices.below(3) {
        let mut time_ns = 1000 + u64::from(choices.byte());
        for sequence in 0..u64::from(choices.below(5)) {
            let first_ns = time_ns + u64::from(choices.below(100));
            time_ns = first_ns + u64::from(choices.byte()) * u64::from(choices.byte());
            let mut payload = Vec::new();
            (0..choices.below(100)).for_each(|_| add_record(&mut choices, &mut payload));
            let fields = ChunkFields {
                process: stream / 2,
                stream,
                sequence,
                first_ns,
                last_ns: time_ns,
                ..ChunkFields::new(ChunkKind::Records)
            };
            file.chunk(&fields, &payload);
        }
    }
    file.open()
}
