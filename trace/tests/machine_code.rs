//! Tables of machine code: what the builder makes, what a reader refuses, and the walk over executed blocks.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::{repair_table, FileBytes};
use trackway_trace::check::Interpreter;
use trackway_trace::machine::{
    Address, BlockDefinition, BuiltCode, CodeBuilder, CodeStep, CodeSteps, ExecutedBlocks,
    InstructionDefinition, Operand, OperandAccesses, OperandCounts, ANONYMOUS,
};
use trackway_trace::table::Table;
use trackway_trace::{AccessKind, Codec, Decoder, InstructionKind, Piece, SiteId, Trace};

fn instruction(
    object: u32,
    offset: u64,
    kind: InstructionKind,
    operands: &[Operand],
) -> InstructionDefinition {
    InstructionDefinition {
        object,
        offset,
        length: 4,
        kind,
        target: if kind.is_direct() { 0x40 } else { 0 },
        operands: operands.to_vec(),
    }
}

/// An access at the first root and a distance.
fn operand(kind: AccessKind, size: u32, distance: i64) -> Operand {
    Operand {
        kind,
        size,
        accesses: OperandAccesses::One(Address::root(0, distance)),
    }
}

/// Three blocks: two of a library, which share their instructions, and between them one of no file.
fn code() -> BuiltCode {
    let mut builder = CodeBuilder::new("test");
    let library = builder.object("/lib/libx.so");
    let nowhere = builder.object(ANONYMOUS);
    let add = [
        operand(AccessKind::Load, 8, 0),
        operand(AccessKind::Store, 8, 0),
        operand(AccessKind::Load, 2, -16),
    ];
    let block = |operands: &[Operand]| BlockDefinition {
        roots: u32::from(!operands.is_empty()),
        instructions: vec![
            instruction(library, 0x40, InstructionKind::Other, operands),
            instruction(library, 0x44, InstructionKind::ConditionalBranch, &[]),
        ],
        repeats: None,
    };
    let call = BlockDefinition {
        roots: 1,
        instructions: vec![instruction(
            nowhere,
            0x7f00_0000_0000,
            InstructionKind::IndirectCall,
            &[operand(AccessKind::Store, 8, 0)],
        )],
        repeats: None,
    };
    builder.add(&block(&add)).unwrap();
    builder.add(&call).unwrap();
    builder.add(&block(&[])).unwrap();
    builder.finish()
}

/// The first block twice, then the others.
fn trace(code: &BuiltCode) -> Trace {
    let mut records = Vec::new();
    for (block, roots) in [(0, &[0x1000u64][..]), (0, &[0x2000]), (1, &[0x3000]), (2, &[])] {
        records.extend(((7 + code.segments[block]) << 8).to_le_bytes());
        roots.iter().for_each(|root| records.extend(root.to_le_bytes()));
    }
    let mut file = FileBytes::new(Codec::Columns);
    file.module(0, 7, &code.table).records(0, 0, &records);
    file.open()
}

fn accesses(trace: &Trace) -> Vec<(SiteId, u64)> {
    let mut found = Vec::new();
    for chunk in &trace.streams()[0].chunks {
        let mut decoder = Decoder::new(trace);
        let mut batches = decoder.decode(chunk).unwrap();
        while let Some(batch) = batches.next_batch().unwrap() {
            for piece in batch.pieces() {
                let Piece::Accesses(range) = piece else {
                    panic!("only plain accesses were asked for")
                };
                found.extend(range.map(|index| (batch.site[index], batch.address[index])));
            }
        }
    }
    found
}

#[test]
fn blocks_are_grouped_by_object_and_share_instructions() {
    let code = code();
    assert_eq!(code.segments, [0, 2, 1]);
    assert_eq!(Table::parse(&code.table.encode()).unwrap(), code.table);
    let machine_code = code.table.machine_code.as_ref().unwrap();
    assert_eq!(machine_code.instructions.len(), 3);
    assert_eq!(machine_code.blocks[0], machine_code.blocks[1]);
}

#[test]
fn accesses_belong_to_instructions() {
    let trace = trace(&code());
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    let program = trace.program();
    let found: Vec<_> = accesses(&trace)
        .into_iter()
        .map(|(site, address)| {
            let instruction = program.instruction_of_site(site).unwrap();
            let site = program.site(site);
            (program.place_of(instruction), site.kind, site.size, address)
        })
        .collect();
    let add = |kind, size, address| ("libx.so+0x40".to_owned(), kind, size, address);
    let call = "0x7f0000000000".to_owned();
    assert_eq!(
        found,
        [
            add(AccessKind::Load, 8, 0x1000),
            add(AccessKind::Store, 8, 0x1000),
            add(AccessKind::Load, 2, 0xff0),
            add(AccessKind::Load, 8, 0x2000),
            add(AccessKind::Store, 8, 0x2000),
            add(AccessKind::Load, 2, 0x1ff0),
            (call, AccessKind::Store, 8, 0x3000),
        ]
    );
}

#[test]
fn executed_blocks_come_in_order() {
    let trace = trace(&code());
    let program = trace.program();
    let mut blocks = ExecutedBlocks::of_chunk(&trace, &trace.streams()[0].chunks[0]).unwrap();
    let mut offsets = Vec::new();
    while let Some(block) = blocks.next_block().unwrap() {
        offsets.extend(
            program
                .instructions_of(block)
                .iter()
                .map(|instruction| instruction.offset),
        );
    }
    assert_eq!(offsets, [0x40, 0x44, 0x40, 0x44, 0x7f00_0000_0000, 0x40, 0x44]);
}

#[test]
fn the_checking_decoder_agrees() {
    let trace = trace(&code());
    let mut count = 0;
    for chunk in &trace.streams()[0].chunks {
        let violations = Interpreter::new(&trace).run(chunk, &mut |_| count += 1).unwrap();
        assert!(violations.is_empty(), "{violations:?}");
    }
    assert_eq!(count, 7);
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    let mut builder = CodeBuilder::new("test");
    let object = builder.object("a");
    let other = builder.object("b");
    let refused = |builder: &mut CodeBuilder, instructions: Vec<InstructionDefinition>| {
        builder
            .add(&BlockDefinition {
                instructions,
                ..BlockDefinition::default()
            })
            .unwrap_err()
            .to_string()
    };
    let plain = |object| instruction(object, 8, InstructionKind::Other, &[]);
    assert!(refused(&mut builder, vec![]).contains("no instructions"));
    assert!(refused(&mut builder, vec![plain(9)]).contains("unknown"));
    assert!(refused(&mut builder, vec![plain(object), plain(other)]).contains("from one object into another"));
    let near = operand(AccessKind::Load, 8, 8);
    let reads_itself = instruction(object, 8, InstructionKind::Other, &[near]);
    assert!(refused(&mut builder, vec![reads_itself]).contains("a root that there isn't"));
    let high = InstructionDefinition {
        offset: u64::MAX,
        ..plain(object)
    };
    assert!(refused(&mut builder, vec![high]).contains("beyond the end"));
    assert_eq!(builder.block_count(), 0);
}

/// What a reader says of the table after a change.
fn refusal(change: impl FnOnce(&mut Table)) -> String {
    let mut table = code().table;
    change(&mut table);
    match Table::parse(&table.encode()) {
        Ok(_) => panic!("the table was accepted"),
        Err(error) => error.what,
    }
}

#[test]
fn tables_that_contradict_themselves_are_refused() {
    let code_of = |table: &mut Table| table.machine_code.take().unwrap();
    let with = |change: fn(&mut trackway_trace::table::MachineCode)| {
        refusal(|table| {
            let mut code = code_of(table);
            change(&mut code);
            table.machine_code = Some(code);
        })
    };
    assert!(with(|code| code.blocks[0].count = 9).contains("a block of 9 instructions"));
    assert!(with(|code| code.blocks[0].count = 0).contains("a block of 0 instructions"));
    assert!(with(|code| code.blocks[0].first = 3).contains("from instruction 3 of 3"));
    assert!(with(|code| code.blocks[0].first = 2).contains("a block of 2 instructions"));
    assert!(with(|code| code.blocks[2].first = 0).contains("block 2 has an instruction of another object"));
    assert!(with(|code| code.blocks.truncate(2)).contains("but 3 segments"));
    assert!(with(|code| code.instructions[0].length = 0).contains("0 bytes"));
    assert!(with(|code| code.instructions[0].offset = u64::MAX - 1).contains("4 bytes at offset"));
    assert!(with(|code| code.instructions[0].target = 5).contains("no direct branch"));
    assert!(with(|code| code.instructions[0].object = 7).contains("function 7"));
    assert!(refusal(|table| table.sites[0].ordinal = 3).contains("a site of instruction 3"));
    assert!(refusal(|table| table.segments[0].local_id = 1).contains("local id"));
}

#[test]
fn no_change_of_a_byte_makes_a_reader_panic() {
    let bytes = code().table.encode();
    for position in 32..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[position] = value;
            repair_table(&mut changed);
            if let Ok(table) = Table::parse(&changed) {
                assert_eq!(Table::parse(&table.encode()).as_ref(), Ok(&table));
            }
        }
    }
}

/// A block that is executed twice, and one whose last instruction accesses nothing.
#[test]
fn instructions_stand_in_step_with_their_accesses() {
    let trace = trace(&code());
    let counts = OperandCounts::of(&trace);
    let mut steps = CodeSteps::new(&trace, &trace.streams()[0].chunks, &counts);
    let mut found = Vec::new();
    while let Some(step) = steps.next_step().unwrap() {
        found.push(match step {
            CodeStep::Instruction(id) => trace.program().instruction(id).offset,
            CodeStep::Access { address, length, .. } => address << 8 | length,
        });
    }
    let accesses = |address: u64| [address << 8 | 8, address << 8 | 8, (address - 16) << 8 | 2];
    let mut expected = Vec::new();
    for address in [0x1000, 0x2000] {
        expected.push(0x40);
        expected.extend(accesses(address));
        expected.push(0x44);
    }
    expected.extend([0x7f00_0000_0000, 0x3000 << 8 | 8, 0x40, 0x44]);
    assert_eq!(found, expected);
}

#[test]
fn sizes_may_be_unknown_and_objects_have_places() {
    let mut builder = CodeBuilder::new("test");
    let library = builder.object("/lib/libx.so");
    builder.place(library, 0x1000);
    let unknown = operand(AccessKind::Load, 0, 0);
    let known = operand(AccessKind::Load, 1, 0);
    let definition = BlockDefinition {
        roots: 1,
        instructions: vec![instruction(
            library,
            0x40,
            InstructionKind::Other,
            &[unknown, known],
        )],
        repeats: None,
    };
    builder.add(&definition).unwrap();
    let code = builder.finish();
    assert_eq!(code.table.symbols.len(), 1);
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 7, &code.table);
    let trace = file.open();
    let program = trace.program();
    let sites = [0, 1].map(|site| {
        (
            program.site(SiteId(site)).size,
            program.is_size_unknown(SiteId(site)),
        )
    });
    assert_eq!(sites, [(1, true), (1, false)]);
    let object = program.instructions[0].object;
    assert_eq!(program.extent_of_object(object), Some(0x40_0000..0x40_1000));
}
