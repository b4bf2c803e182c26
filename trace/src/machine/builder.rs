//! Makes a table of machine code from the blocks that were executed.

use std::collections::HashMap;

use super::definitions::{
    AllocationDefinition, BlockDefinition, BuildError, BuiltCode, InstructionDefinition, Operand,
};
use super::operations::{again, repetitions, root, Registers, ENCODING, FS_BASE, GS_BASE};
use super::UNKNOWN_SIZE;
use crate::table::{
    AllocatedBlock, Expression, MachineCode, Operation, Segment, Table, TableAllocationSite, TableFunction,
    TableInstruction, TableInstructionRange, TableLocation, TableSite, TableSymbol, MAX_REGISTERS,
    SEEN_REGISTERS,
};
use crate::{AccessKind, AllocationOperation, Coverage, VariableKind};

/// Registers of one block at most: each root has one.
const MAX_ROOTS: u32 = MAX_REGISTERS - SEEN_REGISTERS;

/// Takes blocks one by one. Where their definitions come from doesn't matter.
#[derive(Debug)]
pub struct CodeBuilder {
    strings: Vec<String>,
    producer: u32,
    objects: Vec<u32>,
    /// The objects as they were placed in memory.
    symbols: Vec<TableSymbol>,
    known_objects: HashMap<String, u32>,
    instructions: Vec<TableInstruction>,
    /// Blocks that differ in their operands only share their instructions.
    known_runs: HashMap<Vec<TableInstruction>, u32>,
    sites: Vec<TableSite>,
    locations: Vec<TableLocation>,
    allocation_sites: Vec<TableAllocationSite>,
    known_sites: HashMap<(u32, AccessKind, u32), u32>,
    blocks: Vec<(Segment, TableInstructionRange)>,
}

impl CodeBuilder {
    /// `producer` names the tool that found the code, for people.
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
            locations: vec![TableLocation::default()],
            allocation_sites: Vec::new(),
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

    /// Sets how many bytes of memory an object took. [`crate::encode_module`] needs the address of each object that was
    /// placed, in the order of these calls.
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
        self.push(first.object, block.roots, operations, range);
        Ok(())
    }

    /// Adds a segment that isn't a block. Its record has two roots: the thread's bases of fs and gs from there on.
    pub fn add_segment_bases(&mut self, object: u32) {
        let roots = [FS_BASE, GS_BASE].map(|register| Operation::Root {
            register,
            encoding: ENCODING,
        });
        self.push(
            object,
            roots.len() as u32,
            roots.to_vec(),
            TableInstructionRange::default(),
        );
    }

    /// Adds a segment that isn't a block: an allocator's call. The roots of its record depend on the operation. An
    /// allocation has the address and the size in bytes; a free, the address; a reallocation, the old address, the new
    /// one and the size.
    pub fn add_allocation(&mut self, allocation: &AllocationDefinition) {
        let site = self.allocation_sites.len() as u32;
        let registers = [0, 1, 2].map(|root| Expression::register(SEEN_REGISTERS + root, 0));
        let [first, second, third] = registers;
        let (operation, roots) = match allocation.operation {
            AllocationOperation::Allocate => (
                Operation::Allocate {
                    site,
                    block: allocated(first, second),
                },
                2,
            ),
            AllocationOperation::Free => (Operation::Free { site, address: first }, 1),
            AllocationOperation::Reallocate => (
                Operation::Reallocate {
                    site,
                    old: first,
                    block: allocated(second, third),
                },
                3,
            ),
        };
        let (location, allocator) = (
            self.location(&allocation.place),
            self.string(&allocation.allocator),
        );
        self.allocation_sites.push(TableAllocationSite {
            function: allocation.object,
            ordinal: allocation.last_byte,
            operation: allocation.operation,
            location,
            allocator,
            element_type: 0,
            element_size: 0,
            variable: 0,
        });
        let operations = (0..roots).map(root).chain([operation]).collect();
        self.push(
            allocation.object,
            roots,
            operations,
            TableInstructionRange::default(),
        );
    }

    fn string(&mut self, text: &str) -> u32 {
        let known = self.strings.iter().position(|string| string == text);
        known.unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        }) as u32
    }

    /// Adds a location without file and line. Instead of a function, it names where the call is.
    fn location(&mut self, place: &str) -> u32 {
        let function = self.string(place);
        self.locations.push(TableLocation {
            function,
            ..TableLocation::default()
        });
        self.locations.len() as u32 - 1
    }

    fn push(&mut self, object: u32, roots: u32, operations: Vec<Operation>, range: TableInstructionRange) {
        let segment = Segment {
            function: object,
            local_id: 0,
            record_length: roots * u32::from(ENCODING.width),
            operations,
        };
        self.blocks.push((segment, range));
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
        let repeats = block.repeats.is_some();
        let first = match self.known_runs.get(&run) {
            Some(first) => *first,
            None => {
                let first = self.instructions.len() as u32;
                self.instructions.extend_from_slice(&run);
                self.known_runs.insert(run, first);
                first
            }
        };
        TableInstructionRange {
            first,
            count,
            repeats,
        }
    }

    /// Operations of a block: all roots, then all accesses.
    fn operations_of(&mut self, block: &BlockDefinition, first: u32) -> Result<Vec<Operation>, &'static str> {
        if block.roots > MAX_ROOTS / 2 {
            return Err("it has too many roots");
        }
        let mut operations: Vec<Operation> = (0..block.roots).map(root).collect();
        let mut registers = Registers {
            roots: block.roots,
            next: SEEN_REGISTERS + block.roots,
        };
        let own = operations.len();
        for (ordinal, instruction) in (first..).zip(&block.instructions) {
            let mut repeated = Vec::new();
            for operand in &instruction.operands {
                let site = self.site(instruction.object, ordinal, operand);
                match registers.repetition(operand)? {
                    Some(repetition) => repeated.push((site, repetition)),
                    None => operations.push(registers.access(site, operand)?),
                }
            }
            operations.append(&mut repetitions(repeated));
        }
        if let Some(steps) = &block.repeats {
            let again = again(steps, block.roots, &operations[own..])?;
            operations.push(again);
        }
        match registers.next > MAX_REGISTERS {
            true => Err("it has too many repeated operands"),
            false => Ok(operations),
        }
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

    /// The table of all blocks. Those of one object stand together, so their order may differ from that in which they
    /// were added.
    pub fn finish(self) -> BuiltCode {
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by_key(|block| self.blocks[*block].0.function);
        let mut segments = vec![0; self.blocks.len()];
        for (segment, block) in order.iter().enumerate() {
            segments[*block] = segment as u32;
        }
        let mut functions = self.functions();
        for function in &mut functions {
            function.register_count = SEEN_REGISTERS;
        }
        let mut blocks: Vec<_> = self.blocks.into_iter().enumerate().collect();
        blocks.sort_by_key(|(block, _)| segments[*block]);
        for (position, (_, (segment, _))) in blocks.iter().enumerate() {
            let function = &mut functions[segment.function as usize];
            if function.segment_count == 0 {
                function.first_segment = position as u32;
            }
            function.segment_count += 1;
            function.register_count = function.register_count.max(registers_of(segment));
        }
        let (table_segments, ranges) = blocks.into_iter().map(|(_, block)| block).unzip();
        let table = Table {
            strings: self.strings,
            producer: self.producer,
            symbols: self.symbols,
            locations: self.locations,
            functions,
            sites: self.sites,
            allocation_sites: self.allocation_sites,
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

fn allocated(address: Expression, size: Expression) -> Box<AllocatedBlock> {
    Box::new(AllocatedBlock {
        address,
        element_size: size,
        count: Expression::constant(1),
    })
}

/// The registers that a segment needs.
fn registers_of(segment: &Segment) -> u32 {
    let above = |operation: &Operation| match operation {
        Operation::Root { register, .. } | Operation::Set { register, .. } => register + 1,
        _ => 0,
    };
    let most = segment.operations.iter().map(above).max().unwrap_or(0);
    most.max(SEEN_REGISTERS)
}
