//! Machine code whose records stand for a number of accesses that depends on the execution.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::FileBytes;
use trackway_trace::check::Interpreter;
use trackway_trace::machine::{
    Address, AddressBase, BlockDefinition, BuiltCode, CodeBuilder, CodeStep, CodeSteps, ExecutedBlocks,
    InstructionDefinition, Operand, OperandAccesses, OperandCounts, ANONYMOUS,
};
use trackway_trace::{AccessKind, Codec, InstructionKind, Trace};

const FIRST_ID: u32 = 7;

fn operand(kind: AccessKind, size: u32, accesses: OperandAccesses) -> Operand {
    Operand { kind, size, accesses }
}

fn instruction(offset: u64, kind: InstructionKind, operands: Vec<Operand>) -> InstructionDefinition {
    InstructionDefinition {
        object: 0,
        offset,
        length: 4,
        kind,
        target: if kind.is_direct() { 0x40 } else { 0 },
        operands,
    }
}

/// The segment bases; a block that repeats and loads 8 bytes from its first root and 2 from 16 × its second; a string
/// instruction that copies words; a gather of four lanes; and a load from a thread's own memory.
fn code() -> BuiltCode {
    let mut builder = CodeBuilder::new("test");
    let object = builder.object(ANONYMOUS);
    let one = |address| OperandAccesses::One(address);
    let repeated = |root| OperandAccesses::Repeated {
        first: Address::root(root, 0),
        times: 0,
        direction: 1,
    };
    builder.add_segment_bases(object);
    let walk = vec![
        operand(AccessKind::Load, 8, one(Address::root(0, 4))),
        operand(
            AccessKind::Load,
            2,
            one(Address {
                constant: 0,
                terms: vec![(AddressBase::Root(1), 16)],
            }),
        ),
    ];
    let back = instruction(0x44, InstructionKind::ConditionalBranch, vec![]);
    let blocks = [
        BlockDefinition {
            roots: 3,
            instructions: vec![instruction(0x40, InstructionKind::Other, walk), back],
            repeats: Some(vec![8, -1]),
        },
        BlockDefinition {
            roots: 4,
            instructions: vec![instruction(
                0x50,
                InstructionKind::Other,
                vec![
                    operand(AccessKind::Load, 4, repeated(2)),
                    operand(AccessKind::Store, 4, repeated(3)),
                ],
            )],
            repeats: None,
        },
        BlockDefinition {
            roots: 5,
            instructions: vec![instruction(
                0x60,
                InstructionKind::Other,
                vec![operand(
                    AccessKind::Load,
                    4,
                    OperandAccesses::Gathered {
                        mask: 0,
                        first: 1,
                        lanes: 4,
                    },
                )],
            )],
            repeats: None,
        },
        BlockDefinition {
            roots: 0,
            instructions: vec![instruction(
                0x70,
                InstructionKind::Other,
                vec![operand(
                    AccessKind::Load,
                    8,
                    one(Address {
                        constant: 0x28,
                        terms: vec![(AddressBase::FsBase, 1)],
                    }),
                )],
            )],
            repeats: None,
        },
    ];
    for block in &blocks {
        builder.add(block).unwrap();
    }
    builder.finish()
}

/// Each record: the block, as `code` added it, and its roots.
fn trace(records: &[(u32, &[u64])]) -> Trace {
    let mut payload = Vec::new();
    for (block, roots) in records {
        payload.extend(((FIRST_ID + block) << 8).to_le_bytes());
        payload.extend(roots.iter().flat_map(|root| root.to_le_bytes()));
    }
    let mut file = FileBytes::new(Codec::Columns);
    file.module(0, FIRST_ID, &code().table).records(0, 0, &payload);
    let trace = file.open();
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    trace
}

/// Instructions by their offsets, and accesses as (address, length), in the order of the execution.
fn steps(trace: &Trace) -> Vec<(u64, u64)> {
    let counts = OperandCounts::of(trace);
    let mut steps = CodeSteps::new(trace, &trace.streams()[0].chunks, &counts);
    let mut found = Vec::new();
    while let Some(step) = steps.next_step().unwrap() {
        found.push(match step {
            CodeStep::Instruction(id) => (trace.program().instruction(id).offset, 0),
            CodeStep::Access { address, length, .. } => (address, length),
        });
    }
    for chunk in &trace.streams()[0].chunks {
        let mut count = 0;
        let violations = Interpreter::new(trace).run(chunk, &mut |_| count += 1).unwrap();
        assert!(violations.is_empty(), "{violations:?}");
        assert_eq!(count, found.iter().filter(|(_, length)| *length > 0).count());
    }
    found
}

#[test]
fn a_block_is_executed_again_with_roots_that_move_on() {
    let trace = trace(&[(1, &[0x1000, 0x200, 2]), (1, &[0x5000, 0x300, 0])]);
    let time = |first: u64, second: u64| [(0x40, 0), (first, 8), (second, 2), (0x44, 0)];
    let expected = [
        time(0x1004, 0x2000),
        time(0x100c, 0x1ff0),
        time(0x1014, 0x1fe0),
        time(0x5004, 0x3000),
    ];
    assert_eq!(steps(&trace), expected.concat());
    let mut blocks = ExecutedBlocks::of_chunk(&trace, &trace.streams()[0].chunks[0]).unwrap();
    let mut count = 0;
    while blocks.next_block().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn more_repetitions_than_can_be_are_damage() {
    let trace = trace(&[(1, &[0x1000, 0x200, 1 << 41])]);
    let mut blocks = ExecutedBlocks::of_chunk(&trace, &trace.streams()[0].chunks[0]).unwrap();
    let error = blocks.next_block().unwrap_err().to_string();
    assert!(error.contains("2199023255552 times again"), "{error}");
}

#[test]
fn string_instructions_take_turns_and_may_go_backwards() {
    let down = -1i64 as u64;
    let trace = trace(&[
        (2, &[2, 1, 0x1000, 0x2000]),
        (2, &[0, 1, 0x1000, 0x2000]),
        (2, &[2, down, 0x3004, 0x4004]),
    ]);
    let expected = [
        (0x50, 0),
        (0x1000, 4),
        (0x2000, 4),
        (0x1004, 4),
        (0x2004, 4),
        // The next two executions are one after the other, and the former accesses nothing.
        (0x3004, 4),
        (0x4004, 4),
        (0x3000, 4),
        (0x4000, 4),
        (0x50, 0),
        (0x50, 0),
    ];
    assert_eq!(steps(&trace), expected);
}

#[test]
fn gathers_take_the_lanes_of_their_mask_and_segments_have_bases() {
    let trace = trace(&[
        (0, &[0x7000, 0x9000]),
        (4, &[]),
        (3, &[0b1001, 0x10, 0x20, 0x30, 0x40]),
        (4, &[]),
    ]);
    let expected = [
        (0x70, 0),
        (0x7028, 8),
        (0x60, 0),
        (0x10, 4),
        (0x40, 4),
        (0x70, 0),
        (0x7028, 8),
    ];
    assert_eq!(steps(&trace), expected);
}
