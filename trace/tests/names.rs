//! Names of machine code: what a chunk of them gives to a program, and what a reader refuses.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::FileBytes;
use trackway_trace::machine::{
    Address, AllocationDefinition, BlockDefinition, CodeBuilder, InstructionDefinition, Operand,
    OperandAccesses,
};
use trackway_trace::table::{CodeNames, InstructionNames, ObjectNames, OperandName, Table, TableLocation};
use trackway_trace::{
    AccessKind, AllocationOperation, ChunkFields, ChunkKind, Codec, InstructionKind, Trace, VariableKind,
};

const PATH: &str = "/lib/libx.so";

/// Two instructions, the first of which reads and writes.
fn code() -> Table {
    let mut builder = CodeBuilder::new("test");
    let object = builder.object(PATH);
    let operand = |kind| Operand {
        kind,
        size: 8,
        accesses: OperandAccesses::One(Address::root(0, 0)),
    };
    let instruction = |offset, operands| InstructionDefinition {
        object,
        offset,
        length: 4,
        kind: InstructionKind::Other,
        target: 0,
        operands,
    };
    let block = BlockDefinition {
        roots: 1,
        instructions: vec![
            instruction(0x40, vec![operand(AccessKind::Load), operand(AccessKind::Store)]),
            instruction(0x44, vec![operand(AccessKind::Load)]),
        ],
        repeats: None,
    };
    builder.add(&block).unwrap();
    builder.finish().table
}

fn names() -> CodeNames {
    let strings = ["", PATH, "work", "inner", "x.c", "arc", "ident", "long", "arcs"];
    let place = |function, line, parent| TableLocation {
        function,
        file: 4,
        line,
        column: 3,
        parent,
    };
    let instruction = |offset, location, read, written| InstructionNames {
        offset,
        location,
        read,
        written,
    };
    CodeNames {
        strings: strings.map(String::from).to_vec(),
        locations: vec![
            TableLocation::default(),
            place(2, 10, None),
            place(3, 20, Some(1)),
        ],
        types: Vec::new(),
        operands: vec![
            OperandName::default(),
            OperandName {
                variable: 8,
                variable_kind: VariableKind::Parameter,
                object_type: 5,
                field: 6,
                value_type: 7,
            },
        ],
        objects: vec![ObjectNames {
            path: 1,
            instructions: vec![instruction(0x40, 2, 1, 0), instruction(0x44, 1, 0, 1)],
        }],
        source_checksums: Vec::new(),
    }
}

fn trace(payload: &[u8]) -> Trace {
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 7, &code());
    file.chunk(&ChunkFields::new(ChunkKind::Names), payload);
    file.open()
}

#[test]
fn sites_of_named_instructions_have_names() {
    let names = names();
    assert_eq!(CodeNames::parse(&names.encode()), Ok(names.clone()));
    let trace = trace(&names.encode());
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    let program = trace.program();
    let described: Vec<_> = program
        .sites
        .iter()
        .map(|site| {
            let location = program.location(site.location);
            let text = |id| program.string(id);
            let stack = program.inline_stack(site.location).count();
            (
                text(location.function),
                location.line,
                stack,
                text(site.variable),
                text(site.field),
            )
        })
        .collect();
    let expected = [
        ("inner", 20, 2, "arcs", "ident"),
        ("inner", 20, 2, "", ""), // only what it reads is known
        ("work", 10, 1, "", ""),  // only what it writes is known
    ];
    assert_eq!(described, expected);
    let function = program.function(program.sites[0].function);
    assert_eq!(program.string(function.linkage_name), "work");
    assert_eq!(program.string(function.source_file), PATH);
    assert_eq!(program.sites[0].variable_kind, VariableKind::Parameter);
    assert_eq!(program.location(program.instructions[1].location).line, 10);
    assert!(program.is_machine_code() && !program.is_nameless());
}

/// Two calls of malloc, in a module without any instruction.
fn calls() -> Table {
    let mut builder = CodeBuilder::new("test");
    let object = builder.object(PATH);
    for (place, last_byte) in [("libx.so+0x47", 0x47), ("libx.so+0x99", 0x99)] {
        builder.add_allocation(&AllocationDefinition {
            object,
            place: place.into(),
            last_byte,
            operation: AllocationOperation::Allocate,
            allocator: "malloc".into(),
        });
    }
    builder.finish().table
}

#[test]
fn calls_of_allocators_are_named_by_their_last_bytes() {
    let mut names = names();
    names.objects[0].instructions.push(InstructionNames {
        offset: 0x47,
        location: 2,
        ..InstructionNames::default()
    });
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 7, &calls());
    file.chunk(&ChunkFields::new(ChunkKind::Names), &names.encode());
    let trace = file.open();
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    let program = trace.program();
    let found: Vec<_> = program
        .allocation_sites
        .iter()
        .map(|site| {
            let location = program.location(site.location);
            let function = program.function(site.function);
            (
                program.string(location.function),
                location.line,
                program.string(function.linkage_name),
            )
        })
        .collect();
    assert_eq!(found, [("inner", 20, "work"), ("libx.so+0x99", 0, PATH)]);
}

#[test]
fn other_objects_get_no_names() {
    let mut names = names();
    names.strings[1] = "/lib/liby.so".into();
    let trace = trace(&names.encode());
    assert!(trace.damage().is_empty());
    assert!(trace.program().is_nameless());
}

#[test]
fn damaged_names_cost_the_names_only() {
    let whole = names().encode();
    for length in 0..whole.len() {
        let trace = trace(&whole[..length]);
        assert_eq!(trace.damage().len(), 1, "{length}");
        assert_eq!(trace.program().sites.len(), 3);
    }
    for position in 0..whole.len() {
        for flipped in [1, 0x40, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[position] ^= flipped;
            let trace = trace(&bytes);
            assert!(trace.damage().len() <= 1);
            trace.program().sites.iter().for_each(|site| {
                let _ = (
                    trace.program().string(site.field),
                    trace.program().location(site.location),
                );
            });
        }
    }
}

#[test]
fn instructions_stand_in_order() {
    let mut names = names();
    names.objects[0].instructions[1].offset = 0x40;
    let error = CodeNames::parse(&names.encode()).unwrap_err();
    assert!(error.what.contains("order"), "{error}");
}
