//! Making a table of machine code from the blocks that were executed.

use std::collections::HashMap;

use super::{InstructionKind, UNKNOWN_SIZE};
use crate::table::{
    Encoding, Expression, MachineCode, Operation, Segment, Table, TableFunction, TableInstruction,
    TableInstructionRange, TableLocation, TableSite, TableSymbol, MAX_REGISTERS, STREAM_REGISTERS,
};
use crate::{AccessKind, Coverage, VariableKind};

/// Roots of one block at most: each has a register.
const MAX_ROOTS: usize = (MAX_REGISTERS - STREAM_REGISTERS) as usize;
/// Bytes of a root.
const ROOT_WIDTH: u32 = 8;

/// A basic block as it was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDefinition {
    /// Of one object; at least one.
    pub instructions: Vec<InstructionDefinition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionDefinition {
    /// As [`CodeBuilder::object`] numbered it.
    pub object: u32,
    /// Address less the address at which the object was loaded; of code from no file the address.
    pub offset: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Offset to which a direct branch or call goes, in the same object; 0 if elsewhere or unknown.
    pub target: u64,
    /// In the order of the accesses.
    pub operands: Vec<Operand>,
}

/// An access that each execution of the instruction makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub kind: AccessKind,
    /// Bytes; 0 if unknown, which then counts as 1.
    pub size: u32,
    pub address: OperandAddress,
}

/// From what the address of an operand follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandAddress {
    /// The record holds it: 8 bytes, in the order of the block's operands.
    Root,
    /// The address of an earlier operand of the block (counted from 0 over all its instructions) that has a root of its
    /// own, and a distance in bytes.
    Near { operand: u32, distance: i64 },
}

/// Why a block is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid block of machine code at offset {offset:#x}: {what}")]
pub struct BuildError {
    pub offset: u64,
    pub what: &'static str,
}

/// A finished table.
#[derive(Debug)]
pub struct BuiltCode {
    pub table: Table,
    /// The segment of each block, in the order in which the blocks were added.
    pub segments: Vec<u32>,
}

/// Takes blocks one by one. Where their definitions come from doesn't matter.
#[derive(Debug)]
pub struct CodeBuilder {
    strings: Vec<String>,
    producer: u32,
    objects: Vec<u32>,
    /// Where objects lay.
    symbols: Vec<TableSymbol>,
    known_objects: HashMap<String, u32>,
    instructions: Vec<TableInstruction>,
    /// Blocks that differ in their operands only share their instructions.
    known_runs: HashMap<Vec<TableInstruction>, u32>,
    sites: Vec<TableSite>,
    known_sites: HashMap<(u32, AccessKind, u32), u32>,
    blocks: Vec<(Segment, TableInstructionRange)>,
}

impl CodeBuilder {
    /// `producer` says who found the code, for people.
    pub fn new(producer: &str) -> Self {
        CodeBuilder {
            strings: vec![String::new(), producer.to_owned()],
            producer: 1,
            objects: Vec::new(),
            symbols: Vec::new(),
            known_objects: HashMap::new(),
            instructions: Vec::new(),
            known_runs: HashMap::new(),
            sites: Vec::new(),
            known_sites: HashMap::new(),
            blocks: Vec::new(),
        }
    }

    /// The number of an object, whose code is from the file `path`, or from none ([`super::ANONYMOUS`]).
    pub fn object(&mut self, path: &str) -> u32 {
        if let Some(object) = self.known_objects.get(path) {
            return *object;
        }
        let object = self.objects.len() as u32;
        self.objects.push(self.strings.len() as u32);
        self.strings.push(path.to_owned());
        self.known_objects.insert(path.to_owned(), object);
        object
    }

    /// Says how many bytes of memory an object took. Where they began is for [`crate::encode_module`] to say, of which
    /// each object that was placed needs an address, in the order of these calls.
    pub fn place(&mut self, object: u32, size: u64) {
        self.symbols.push(TableSymbol {
            name: self.objects[object as usize],
            size,
            ..TableSymbol::default()
        });
    }

    /// Adds a block. Blocks are told apart by their order: the caller adds each once.
    pub fn add(&mut self, block: &BlockDefinition) -> Result<(), BuildError> {
        let Some(first) = block.instructions.first() else {
            return Err(BuildError {
                offset: 0,
                what: "it has no instructions",
            });
        };
        let error = |what| BuildError {
            offset: first.offset,
            what,
        };
        self.check(block).map_err(error)?;
        let range = self.instructions_of(block);
        let operations = self.operations_of(block, range.first).map_err(error)?;
        let roots = operations
            .iter()
            .filter(|operation| matches!(operation, Operation::Root { .. }));
        let record_length = roots.count() as u32 * ROOT_WIDTH;
        let segment = Segment {
            function: first.object,
            local_id: 0,
            record_length,
            operations,
        };
        self.blocks.push((segment, range));
        Ok(())
    }

    /// Blocks so far.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn check(&self, block: &BlockDefinition) -> Result<(), &'static str> {
        let object = block.instructions[0].object;
        if object as usize >= self.objects.len() {
            return Err("its object is unknown");
        }
        for instruction in &block.instructions {
            let end = instruction.offset.checked_add(u64::from(instruction.length));
            if instruction.length == 0 || end.is_none() {
                return Err("an instruction has no bytes, or bytes beyond the end of memory");
            }
            if instruction.object != object {
                return Err("it reaches from one object into another");
            }
            if instruction.target != 0 && !instruction.kind.is_direct() {
                return Err("an instruction with a target is no direct branch");
            }
        }
        Ok(())
    }

    fn instructions_of(&mut self, block: &BlockDefinition) -> TableInstructionRange {
        let entry = |instruction: &InstructionDefinition| TableInstruction {
            object: instruction.object,
            offset: instruction.offset,
            length: instruction.length,
            kind: instruction.kind,
            target: instruction.target,
        };
        let run: Vec<TableInstruction> = block.instructions.iter().map(entry).collect();
        let count = run.len() as u32;
        let first = match self.known_runs.get(&run) {
            Some(first) => *first,
            None => {
                let first = self.instructions.len() as u32;
                self.instructions.extend_from_slice(&run);
                self.known_runs.insert(run, first);
                first
            }
        };
        TableInstructionRange { first, count }
    }

    /// All roots, then all accesses.
    fn operations_of(&mut self, block: &BlockDefinition, first: u32) -> Result<Vec<Operation>, &'static str> {
        let mut roots = Vec::new();
        let mut accesses = Vec::new();
        let mut register_of_operand: Vec<Option<u32>> = Vec::new();
        for (index, instruction) in block.instructions.iter().enumerate() {
            for operand in &instruction.operands {
                let (register, distance) = match operand.address {
                    OperandAddress::Root => (STREAM_REGISTERS + roots.len() as u32, 0),
                    OperandAddress::Near { operand, distance } => {
                        let register = register_of_operand.get(operand as usize).copied().flatten();
                        (
                            register.ok_or("an operand is near one that has no root")?,
                            distance,
                        )
                    }
                };
                let own = operand.address == OperandAddress::Root;
                register_of_operand.push(own.then_some(register));
                if own {
                    let encoding = Encoding {
                        width: ROOT_WIDTH as u8,
                        signed: false,
                    };
                    roots.push(Operation::Root { register, encoding });
                }
                accesses.push(Operation::Access {
                    site: self.site(instruction.object, first + index as u32, operand),
                    address: Expression::register(register, distance),
                });
            }
        }
        if roots.len() > MAX_ROOTS {
            return Err("it has too many operands");
        }
        roots.append(&mut accesses);
        Ok(roots)
    }

    /// Operands of one instruction that do the same to as many bytes are one site.
    fn site(&mut self, object: u32, ordinal: u32, operand: &Operand) -> u32 {
        let sites = &mut self.sites;
        let unknown_size = if operand.size == 0 { UNKNOWN_SIZE } else { 0 };
        *self
            .known_sites
            .entry((ordinal, operand.kind, operand.size))
            .or_insert_with(|| {
                sites.push(TableSite {
                    function: object,
                    ordinal,
                    part: u8::from(!operand.kind.reads()) | unknown_size,
                    kind: operand.kind,
                    size: operand.size.max(1),
                    location: 0,
                    variable: 0,
                    variable_kind: VariableKind::Unknown,
                    object_type: 0,
                    field: 0,
                    value_type: 0,
                });
                sites.len() as u32 - 1
            })
    }

    /// The table of all blocks. Those of one object stand together, so that their order may differ from that in which
    /// they were added.
    pub fn finish(self) -> BuiltCode {
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by_key(|block| self.blocks[*block].0.function);
        let mut segments = vec![0; self.blocks.len()];
        for (segment, block) in order.iter().enumerate() {
            segments[*block] = segment as u32;
        }
        let mut functions = self.functions();
        for function in &mut functions {
            function.register_count = STREAM_REGISTERS;
        }
        let mut blocks: Vec<_> = self.blocks.into_iter().enumerate().collect();
        blocks.sort_by_key(|(block, _)| segments[*block]);
        for (position, (_, (segment, _))) in blocks.iter().enumerate() {
            let function = &mut functions[segment.function as usize];
            if function.segment_count == 0 {
                function.first_segment = position as u32;
            }
            function.segment_count += 1;
            let registers = STREAM_REGISTERS + segment.record_length / ROOT_WIDTH;
            function.register_count = function.register_count.max(registers);
        }
        let (table_segments, ranges) = blocks.into_iter().map(|(_, block)| block).unzip();
        let table = Table {
            strings: self.strings,
            producer: self.producer,
            symbols: self.symbols,
            locations: vec![TableLocation::default()],
            functions,
            sites: self.sites,
            segments: table_segments,
            machine_code: Some(MachineCode {
                instructions: self.instructions,
                blocks: ranges,
            }),
            ..Table::default()
        };
        BuiltCode { table, segments }
    }

    fn functions(&self) -> Vec<TableFunction> {
        let mut functions: Vec<TableFunction> = self
            .objects
            .iter()
            .map(|name| TableFunction {
                linkage_name: *name,
                ..TableFunction::default()
            })
            .collect();
        for site in &self.sites {
            let coverage: &mut Coverage = &mut functions[site.function as usize].coverage;
            coverage.accesses += 1;
            coverage.recorded += 1;
        }
        functions
    }
}
