//! Random traces of threads that call functions, leave some without an exit, and access memory in loops.

use trackway_trace::table::{Expression, Operation, Segment, Table, TableFunction, TableSite};
use trackway_trace::{AccessKind, ChunkFields, ChunkKind, Codec, Trace};

use crate::testing::choices::Choices;
use crate::testing::file::FileBytes;
use crate::testing::loops::{access, count_root, repeat, step, table_of};
use crate::testing::tables::record_length;

pub const FUNCTIONS: u32 = 3;

/// What each function's segments do, in this order.
const KINDS: u32 = 6;
const ENTER: u32 = 0;
const EXIT: u32 = 1;
const ACCESS: u32 = 2;
const LOOP: u32 = 3;
const NEST: u32 = 4;
/// A loop with accesses of another function, too.
const MIXED: u32 = 5;

/// Each function has a load of 8 bytes and a store of 4.
fn load_of(function: u32) -> u32 {
    function * 2
}

fn store_of(function: u32) -> u32 {
    function * 2 + 1
}

fn segments_of(function: u32) -> [Vec<Operation>; KINDS as usize] {
    let (load, store) = (load_of(function), store_of(function));
    let other = store_of((function + 1) % FUNCTIONS);
    let roots = |operation| vec![count_root(0), count_root(1), count_root(2), operation];
    let start_of_row = Operation::Set {
        register: 3,
        value: Expression::register(0, 0),
    };
    let columns = vec![access(load, 3, 0), access(store, 3, 4), step(3, 8)];
    let rows = vec![
        start_of_row,
        repeat(2, columns),
        access(store, 0, 0),
        step(0, 160),
    ];
    let along = vec![access(load, 0, 0), access(store, 2, 0), step(0, 12)];
    let mixed = vec![access(load, 0, 0), access(other, 0, 64), step(0, -40)];
    [
        vec![Operation::Enter],
        vec![Operation::Exit],
        vec![count_root(0), access(store, 0, 0)],
        roots(repeat(1, along)),
        roots(repeat(1, rows)),
        roots(repeat(1, mixed)),
    ]
}

fn table() -> Table {
    let mut table = table_of(vec![]);
    let site = table.sites[0].clone();
    table.sites = (0..FUNCTIONS * 2)
        .map(|number| TableSite {
            function: number / 2,
            ordinal: number % 2,
            kind: [AccessKind::Load, AccessKind::Store][number as usize % 2],
            size: [8, 4][number as usize % 2],
            ..site.clone()
        })
        .collect();
    let segments = (0..FUNCTIONS).flat_map(|function| {
        let segments = segments_of(function).into_iter().zip(1..);
        segments.map(move |(operations, local_id)| Segment {
            function,
            local_id,
            record_length: record_length(&operations),
            operations,
        })
    });
    table.segments = segments.collect();
    let function = table.functions[0].clone();
    table.functions = (0..FUNCTIONS)
        .map(|number| TableFunction {
            linkage_name: 1 + number,
            first_segment: number * KINDS,
            segment_count: KINDS,
            ..function.clone()
        })
        .collect();
    table
        .strings
        .extend((0..FUNCTIONS).map(|number| format!("f{number}")));
    table
}

fn record(function: u32, kind: u32, values: &[u64], bytes: &mut Vec<u8>) {
    let segment = 1 + function * KINDS + kind;
    bytes.extend_from_slice(&(segment << 8).to_le_bytes());
    values
        .iter()
        .for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

fn add_record(choices: &mut Choices<'_>, bytes: &mut Vec<u8>) {
    let function = choices.below(FUNCTIONS);
    let mut address = || 0x10_0000 + u64::from(choices.byte()) * 16;
    let (one, other) = (address(), address());
    match choices.below(10) {
        0..=2 => record(function, ENTER, &[], bytes),
        3 | 4 => record(function, EXIT, &[], bytes),
        5 => record(function, ACCESS, &[one], bytes),
        6 => record(function, LOOP, &[one, u64::from(choices.byte()), other], bytes),
        7 => {
            let [rows, columns] = [6, 40].map(|limit| u64::from(choices.below(limit)));
            record(function, NEST, &[one, rows, columns], bytes);
        }
        8 => record(
            function,
            MIXED,
            &[one, u64::from(choices.below(20)), other],
            bytes,
        ),
        // Longer than what is counted together.
        _ => record(
            function,
            LOOP,
            &[one, 2000 + 20 * u64::from(choices.byte()), other],
            bytes,
        ),
    }
}

/// One thread or two.
pub fn trace(bytes: &[u8]) -> Trace {
    let mut choices = Choices::new(bytes);
    let mut file = FileBytes::new(Codec::Lz4);
    file.module(0, 1, &table());
    for stream in 0..1 + choices.below(2) {
        for sequence in 0..u64::from(choices.below(4)) {
            let mut payload = Vec::new();
            (0..choices.below(60)).for_each(|_| add_record(&mut choices, &mut payload));
            let first_ns = 1000 + sequence * 100_000;
            let fields = ChunkFields {
                stream,
                sequence,
                first_ns,
                last_ns: first_ns + 90_000,
                ..ChunkFields::new(ChunkKind::Records)
            };
            file.chunk(&fields, &payload);
        }
    }
    file.open()
}
