//! Prints how many accesses a second one core decodes.
//!
//!     cargo run --release -p trackway-trace --example decode_speed [accesses in millions]
//!
//! The made-up program loops over basic blocks of one to three roots and one to six accesses, as compiled code has
//! them; its chunks have 256 KiB.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::choices::Choices;
use testing::file::FileBytes;
use testing::tables::record_length;
use trackway_trace::table::{
    Encoding, Expression, Operation, Segment, Table, TableFunction, TableLocation, TableSite, Term,
};
use trackway_trace::{AccessKind, Codec, Coverage, Decoder, Trace, VariableKind};

const FUNCTIONS: u32 = 100;
const BLOCKS: u32 = 8;
const CHUNK_LENGTH: usize = 256 * 1024;

fn main() {
    let millions = std::env::args()
        .nth(1)
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(300);
    println!(
        "{:<28} {:>10} {:>12} {:>12}",
        "shape", "codec", "bytes/access", "accesses/s"
    );
    for (name, table) in [
        ("pointer + constant", near_table()),
        ("base + index * scale", linear_table()),
    ] {
        for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
            measure(name, &table, codec, millions * 1_000_000);
        }
    }
}

fn measure(name: &str, table: &Table, codec: Codec, wanted: u64) {
    let mut file = FileBytes::new(codec);
    file.module(0, 1, table);
    for sequence in 0..16 {
        file.records(sequence, 0, &stream(table, sequence));
    }
    let trace = file.open();
    let mut decoder = Decoder::new(&trace);
    let start = cpu_seconds();
    let (mut accesses, mut bytes, mut sum) = (0u64, 0u64, 0u64);
    while accesses < wanted {
        decode_all(&trace, &mut decoder, &mut accesses, &mut sum);
        bytes += trace.streams()[0]
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.header.raw_length))
            .sum::<u64>();
    }
    let seconds = cpu_seconds() - start;
    let codec = format!("{codec:?}");
    println!(
        "{name:<28} {codec:>10} {:>12.2} {:>10.1} M   (checksum {sum:x})",
        bytes as f64 / accesses as f64,
        accesses as f64 / seconds / 1e6
    );
}

/// Time that this thread has run, which other load on the machine does not stretch.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = schedstat
        .split(' ')
        .next()
        .and_then(|text| text.parse::<f64>().ok());
    nanoseconds.expect("a number") / 1e9
}

fn decode_all(trace: &Trace, decoder: &mut Decoder<'_>, accesses: &mut u64, sum: &mut u64) {
    for chunk in &trace.streams()[0].chunks {
        let mut batches = decoder.decode(chunk).expect("a valid chunk");
        while let Some(batch) = batches.next_batch().expect("valid records") {
            *accesses += batch.len() as u64;
            *sum = batch
                .address
                .iter()
                .fold(*sum, |sum, address| sum.wrapping_add(*address));
        }
    }
}

/// Loops of a few blocks in one function after the other.
fn stream(table: &Table, seed: u64) -> Vec<u8> {
    let noise: Vec<u8> = (0..1 << 16)
        .map(|number: u64| ((number + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
        .collect();
    let mut bytes = Vec::with_capacity(CHUNK_LENGTH);
    let mut choices = Choices::new(&noise);
    let mut pointer = 0x7f00_0000_0000u64;
    while bytes.len() < CHUNK_LENGTH - 4096 {
        if choices.is_empty() {
            choices = Choices::new(&noise);
        }
        let first = choices.below(FUNCTIONS) * BLOCKS;
        bytes.extend_from_slice(&((1 + first) << 8).to_le_bytes());
        push_roots(&table.segments[first as usize], &mut pointer, &mut bytes);
        for _ in 0..8 + choices.below(64) {
            let segment = &table.segments[(first + choices.below(3)) as usize];
            bytes.push(segment.local_id);
            push_roots(segment, &mut pointer, &mut bytes);
        }
    }
    bytes
}

fn push_roots(segment: &Segment, pointer: &mut u64, bytes: &mut Vec<u8>) {
    for operation in &segment.operations {
        if let Operation::Root { encoding, .. } = operation {
            *pointer = pointer.wrapping_add(64);
            bytes.extend_from_slice(&pointer.to_le_bytes()[..usize::from(encoding.width)]);
        }
    }
}

fn near_table() -> Table {
    table(|root, index| Expression::register(root, i64::from(index) * 8))
}

fn linear_table() -> Table {
    table(|root, index| {
        let terms = [
            Term {
                register: root,
                scale: 1,
            },
            Term {
                register: 3,
                scale: 8,
            },
        ];
        Expression {
            symbol: None,
            constant: i64::from(index) * 4,
            terms: Box::new(terms),
        }
    })
}

fn table(address: impl Fn(u32, u32) -> Expression) -> Table {
    let mut table = Table {
        strings: vec![String::new()],
        locations: vec![TableLocation::default()],
        ..Table::default()
    };
    for function in 0..FUNCTIONS {
        for block in 0..BLOCKS {
            let operations = operations(
                &mut table,
                function,
                1 + (function + block) % 3,
                1 + block % 6,
                &address,
            );
            let record_length = record_length(&operations);
            table.segments.push(Segment {
                function,
                local_id: 1 + block as u8,
                record_length,
                operations,
            });
        }
        table.functions.push(TableFunction {
            first_segment: function * BLOCKS,
            segment_count: BLOCKS,
            register_count: 4,
            coverage: Coverage::default(),
            ..TableFunction::default()
        });
    }
    table
}

fn operations(
    table: &mut Table,
    function: u32,
    roots: u32,
    accesses: u32,
    address: &impl Fn(u32, u32) -> Expression,
) -> Vec<Operation> {
    let encoding = |root| Encoding {
        width: if root == 0 { 8 } else { 4 },
        signed: root == 1,
    };
    let mut operations = Vec::new();
    for number in 0..accesses.max(roots) {
        if number < roots {
            operations.push(Operation::Root {
                register: number,
                encoding: encoding(number),
            });
        }
        if number < accesses {
            let site = table.sites.len() as u32;
            table.sites.push(site_of(function, site));
            operations.push(Operation::Access {
                site,
                address: address(number % roots, number),
            });
        }
    }
    operations
}

fn site_of(function: u32, ordinal: u32) -> TableSite {
    TableSite {
        function,
        ordinal,
        part: 0,
        kind: AccessKind::Load,
        size: 8,
        location: 0,
        variable: 0,
        variable_kind: VariableKind::Unknown,
        object_type: 0,
        field: 0,
        value_type: 0,
    }
}
