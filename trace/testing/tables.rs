//! Random, valid module tables and random streams of their records.

use super::choices::Choices;
use trackway_trace::table::{
    AllocatedBlock, Encoding, Expression, Operation, Segment, Table, TableAllocationSite, TableFunction,
    TableLocation, TableMember, TableSite, TableSymbol, TableType, Term,
};
use trackway_trace::{
    AccessKind, AllocationOperation, Coverage, MemberKind, Side, StructureKind, Synchronisation,
    Synchroniser, VariableKind,
};

const REGISTERS: u32 = 7;
const SITES: u32 = 5;
const ALLOCATION_SITES: u32 = 2;
const SYMBOLS: u32 = 2;

/// A valid table of one to three functions.
pub fn table(choices: &mut Choices<'_>) -> Table {
    let mut table = frame();
    for function in 0..1 + choices.below(3) {
        add_function(&mut table, function, choices);
    }
    table
}

fn frame() -> Table {
    let text = ["", "random.c", "compiler", "f", "variable", "struct node", "next"];
    Table {
        oracle: true,
        calls: true,
        order: true,
        strings: text.map(str::to_owned).to_vec(),
        source_file: 1,
        producer: 2,
        symbols: vec![
            TableSymbol {
                name: 4,
                type_name: 5,
                size: 64,
                location: 1
            };
            SYMBOLS as usize
        ],
        locations: vec![
            TableLocation::default(),
            TableLocation {
                function: 3,
                file: 1,
                line: 10,
                column: 3,
                parent: None,
            },
            TableLocation {
                function: 3,
                file: 1,
                line: 20,
                column: 5,
                parent: Some(1),
            },
        ],
        sites: (0..SITES).map(site).collect(),
        allocation_sites: (0..ALLOCATION_SITES).map(allocation_site).collect(),
        types: types(),
        ..Table::default()
    }
}

/// A structure with another and a bit-field in it.
fn types() -> Vec<TableType> {
    let member = |kind, offset_bits, size_bits, nested| TableMember {
        name: 6,
        type_name: 5,
        kind,
        offset_bits,
        size_bits,
        alignment: 8,
        nested,
    };
    let structure = |name, size, members| TableType {
        name,
        kind: StructureKind::Struct,
        size,
        alignment: 8,
        members,
    };
    vec![
        structure(0, 8, vec![member(MemberKind::Field, 0, 64, None)]),
        structure(
            5,
            24,
            vec![
                member(MemberKind::Base, 0, 64, Some(0)),
                member(MemberKind::BitField, 67, 5, None),
                member(MemberKind::Field, 128, 64, Some(0)),
            ],
        ),
    ]
}

fn site(number: u32) -> TableSite {
    TableSite {
        function: 0,
        ordinal: number,
        part: 0,
        kind: if number == 0 {
            AccessKind::Load
        } else {
            AccessKind::Store
        },
        size: 1 << number,
        location: number % 3,
        variable: 4,
        variable_kind: VariableKind::Global,
        object_type: 5,
        field: 6,
        value_type: 0,
    }
}

fn allocation_site(number: u32) -> TableAllocationSite {
    TableAllocationSite {
        function: 0,
        ordinal: 100 + number,
        operation: AllocationOperation::Allocate,
        location: 1,
        allocator: 3,
        element_type: 5,
        element_size: 16,
        variable: 4,
    }
}

fn add_function(table: &mut Table, function: u32, choices: &mut Choices<'_>) {
    let first_segment = table.segments.len() as u32;
    let segment_count = 1 + choices.below(6);
    for number in 0..segment_count {
        let operations: Vec<Operation> = (0..choices.below(10)).map(|_| operation(choices, 0)).collect();
        let local_id = if choices.below(4) == 0 {
            0
        } else {
            match choices.flag() {
                true => number as u16 * 3 + 1,
                false => (number as u16 + 1) << 8 | 250,
            }
        };
        let record_length = record_length(&operations);
        table.segments.push(Segment {
            function,
            local_id,
            record_length,
            operations,
        });
    }
    table.functions.push(TableFunction {
        linkage_name: 3,
        name: 3,
        location: 1,
        has_plain_copy: choices.flag(),
        first_segment,
        segment_count,
        register_count: REGISTERS,
        window: 0,
        coverage: Coverage {
            accesses: 9,
            recorded: 7,
            filtered: 1,
            not_recordable: 1,
        },
    });
}

/// The sum of the widths of the roots.
pub fn record_length(operations: &[Operation]) -> u32 {
    let width = |operation: &Operation| match operation {
        Operation::Root { encoding, .. } => u32::from(encoding.width),
        _ => 0,
    };
    operations.iter().map(width).sum()
}

fn expression(choices: &mut Choices<'_>) -> Expression {
    let shape = choices.byte();
    Expression {
        symbol: (shape & 1 == 1).then(|| choices.below(SYMBOLS)),
        constant: choices.number(),
        terms: (0..shape >> 1 & 3).map(|_| term(choices)).collect(),
    }
}

fn term(choices: &mut Choices<'_>) -> Term {
    let register = choices.below(REGISTERS);
    let scale = if choices.flag() { choices.number() } else { 1 };
    Term { register, scale }
}

fn block(choices: &mut Choices<'_>) -> Box<AllocatedBlock> {
    let (address, element_size, count) = (expression(choices), expression(choices), expression(choices));
    Box::new(AllocatedBlock {
        address,
        element_size,
        count,
    })
}

/// A loop of few iterations, or of as many as a register says; now and then of too many.
fn repetition(choices: &mut Choices<'_>, depth: u32) -> Operation {
    let count = match choices.below(32) {
        0..=29 => Expression::constant(i64::from(choices.below(9))),
        30 => Expression::constant((1 << 40) + choices.number()),
        _ => Expression::register(choices.below(REGISTERS), i64::from(choices.below(3)) - 1),
    };
    let body = (0..choices.below(5)).map(|_| operation(choices, depth + 1));
    let body = body.filter(Operation::may_repeat).collect();
    Operation::Loop { count, body }
}

/// An operation inside `depth` loops.
fn operation(choices: &mut Choices<'_>, depth: u32) -> Operation {
    let register = choices.below(REGISTERS);
    let site = choices.below(SITES);
    let allocation_site = choices.below(ALLOCATION_SITES);
    match choices.below(20) {
        0..=3 => {
            let encoding = Encoding {
                width: 1 << choices.below(4),
                signed: choices.flag(),
            };
            Operation::Root { register, encoding }
        }
        4..=7 => Operation::Access {
            site,
            address: expression(choices),
        },
        8 if depth > 0 && choices.flag() => Operation::Set {
            register,
            value: Expression::register(register, choices.number()),
        },
        8 => Operation::Set {
            register,
            value: expression(choices),
        },
        9 => Operation::Block {
            site,
            address: expression(choices),
            length: expression(choices),
        },
        10 => Operation::Masked {
            site,
            address: expression(choices),
            mask: register,
            lanes: 1 + choices.below(64) as u8,
            packed: choices.flag(),
            stride: choices.number() as u64,
        },
        11 => Operation::Gather {
            site,
            mask: register,
            lanes: 1 + choices.below(4) as u8,
            first_register: choices.below(3),
        },
        12 => Operation::Allocate {
            site: allocation_site,
            block: block(choices),
        },
        13 => Operation::Free {
            site: allocation_site,
            address: expression(choices),
        },
        14 => Operation::Reallocate {
            site: allocation_site,
            old: expression(choices),
            block: block(choices),
        },
        15 => Operation::Order {
            synchronisation: Synchronisation {
                side: if choices.flag() {
                    Side::Acquire
                } else {
                    Side::Release
                },
                by: Synchroniser::Lock,
            },
            location: choices.below(3),
            address: expression(choices),
            stamp: expression(choices),
        },
        18 => Operation::Region {
            depth: expression(choices),
            name: expression(choices),
        },
        16..=17 if depth < 4 => repetition(choices, depth),
        _ if choices.flag() => Operation::Enter,
        _ => Operation::Exit,
    }
}

/// Records of the tables' segments; each table comes with the id of its first segment. Now and then a local id that
/// may not exist, or any byte.
pub fn stream(tables: &[(u32, &Table)], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut current: Option<(&Table, u32)> = None;
    while !choices.is_empty() && bytes.len() < 20_000 {
        let form = choices.below(32);
        let record_length = match current {
            Some((table, function)) if form > 4 => local_record(table, function, choices, &mut bytes),
            _ if form == 1 => 1,
            _ => {
                let (first_id, table) = tables[choices.below(tables.len() as u32) as usize];
                let index = choices.below(table.segments.len() as u32);
                bytes.extend_from_slice(&((first_id + index) << 8).to_le_bytes());
                let segment = &table.segments[index as usize];
                current = Some((table, segment.function));
                segment.record_length
            }
        };
        bytes.extend((0..record_length).map(|_| choices.byte()));
    }
    bytes
}

/// Records that a module might have written, again and again, so that splitting makes them shorter.
pub fn repeated_records(first_id: u32, table: &Table, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut function = None;
    for _ in 0..12 {
        let index = choices.below(table.segments.len() as u32);
        let Some(segment) = table.segments.get(index as usize) else {
            break;
        };
        match segment.local_id {
            1.. if function == Some(segment.function) => push_local_id(segment, &mut bytes),
            _ => bytes.extend_from_slice(&((first_id + index) << 8).to_le_bytes()),
        }
        function = Some(segment.function);
        bytes.extend((0..segment.record_length).map(|_| choices.byte()));
    }
    bytes.repeat(6)
}

/// Writes a local id and returns the length of its record.
fn local_record(table: &Table, function: u32, choices: &mut Choices<'_>, bytes: &mut Vec<u8>) -> u32 {
    let is_local = |segment: &&Segment| segment.function == function && segment.local_id != 0;
    let segments: Vec<&Segment> = table.segments.iter().filter(is_local).collect();
    let Some(segment) = segments.get(choices.below(segments.len() as u32) as usize) else {
        bytes.push(choices.byte());
        return 0;
    };
    push_local_id(segment, bytes);
    segment.record_length
}

fn push_local_id(segment: &Segment, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&segment.local_id.to_le_bytes()[..segment.local_id_length()]);
}
