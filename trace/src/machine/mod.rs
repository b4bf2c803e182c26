//! Machine code as it was executed: instructions and basic blocks of programs that no compiler pass has seen.
//!
//! A module of machine code has no translation unit: its functions are loaded objects, its segments are basic blocks,
//! and its sites are operands of instructions (`docs/format.md`, section 2, lists 13 and 14). [`CodeBuilder`] makes its
//! table; [`ExecutedBlocks`] walks over the blocks that a stream executed.

mod builder;
mod definitions;
mod in_step;
mod naming;
mod operations;
mod walk;

pub use builder::CodeBuilder;
pub use definitions::{
    Address, AddressBase, AllocationDefinition, BlockDefinition, BuildError, BuiltCode,
    InstructionDefinition, Operand, OperandAccesses,
};
pub use in_step::{CodeStep, CodeSteps, InstructionsInStep, OperandCounts};
pub(crate) use naming::apply;
pub use walk::ExecutedBlocks;

use std::ops::Range;

use crate::table::MachineCode;
use crate::table_enum::table_enum;
use crate::{
    FunctionId, InstructionId, LocationId, MachineBlockId, Module, Program, Site, SiteId, VariableKind,
};

/// The object of code that is from no file.
pub const ANONYMOUS: &str = "[anonymous]";
/// Bit of the part of sites whose size is not known; it is given as 1 byte.
const UNKNOWN_SIZE: u8 = 1 << 1;

table_enum! {
    /// What an instruction does with the flow of control.
    InstructionKind {
        Other = 0 "other",
        ConditionalBranch = 1 "conditional branch",
        DirectJump = 2 "direct jump",
        IndirectJump = 3 "indirect jump",
        DirectCall = 4 "direct call",
        IndirectCall = 5 "indirect call",
        Return = 6 "return",
        SystemCall = 7 "system call",
        Repetition = 8 "repetition",
    }
}

impl InstructionKind {
    /// Whether the instruction itself says where it goes.
    pub fn is_direct(self) -> bool {
        matches!(
            self,
            Self::ConditionalBranch | Self::DirectJump | Self::DirectCall
        )
    }

    /// Whether the processor fetches the instruction; further iterations of a repeated one are executed only.
    pub fn is_fetched(self) -> bool {
        self != Self::Repetition
    }

    /// Whether a basic block ends with it.
    pub fn ends_block(self) -> bool {
        self != Self::Other
    }
}

/// An instruction of a loaded object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Stands for the object, whose path is its linkage name.
    pub object: FunctionId,
    /// Address less the address at which the object was loaded; for [`ANONYMOUS`], the address.
    pub offset: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Where a direct branch or call goes, in the same object; none if elsewhere or unknown.
    pub target: Option<u64>,
    /// Its place in the source.
    pub location: LocationId,
}

/// A basic block as it was executed: one entry, one exit at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineBlock {
    /// Its instructions in [`Program::instructions`]. If there are none, it is no block, but holds data of the thread.
    pub instructions: Range<u32>,
    /// The last 8 bytes of a record say how often the block was executed again, in a row.
    pub repeats: bool,
}

/// Where a table's lists went.
pub(crate) struct MergedCode {
    pub(crate) instructions: Range<u32>,
    pub(crate) blocks: Range<u32>,
}

/// Appends a table's instructions and blocks to the program's.
pub(crate) fn merge(program: &mut Program, code: MachineCode, first_function: u32) -> MergedCode {
    let first_instruction = program.instructions.len() as u32;
    let first_block = program.machine_blocks.len() as u32;
    program
        .instructions
        .extend(code.instructions.iter().map(|entry| Instruction {
            object: FunctionId(first_function + entry.object),
            offset: entry.offset,
            length: entry.length,
            kind: entry.kind,
            target: Some(entry.target).filter(|target| *target != 0),
            location: LocationId(0),
        }));
    program.machine_blocks.extend(code.blocks.iter().map(|block| {
        let first = first_instruction + block.first;
        MachineBlock {
            instructions: first..first + block.count,
            repeats: block.repeats,
        }
    }));
    MergedCode {
        instructions: first_instruction..program.instructions.len() as u32,
        blocks: first_block..program.machine_blocks.len() as u32,
    }
}

impl Program {
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    pub fn machine_block(&self, id: MachineBlockId) -> &MachineBlock {
        &self.machine_blocks[id.index()]
    }

    /// The instructions of a block of machine code, in their order.
    pub fn instructions_of(&self, block: MachineBlockId) -> &[Instruction] {
        let range = &self.machine_block(block).instructions;
        &self.instructions[range.start as usize..range.end as usize]
    }

    /// The instruction whose operand the site is, if it is one of machine code.
    pub fn instruction_of_site(&self, site: SiteId) -> Option<InstructionId> {
        // Modules stand in the order of their sites, except for those that were loaded again.
        let holds = |module: &&Module| module.sites.contains(&site.0) && !module.instructions.is_empty();
        let behind = self
            .modules
            .partition_point(|module| module.sites.start <= site.0);
        let near = self.modules[..behind].iter().rev().take(2).find(holds);
        let module = near.or_else(|| self.modules.iter().find(holds))?;
        Some(InstructionId(module.instructions.start + self.site(site).ordinal))
    }

    /// Whether it is unknown how many bytes the site accesses; the site then counts as 1 byte.
    pub fn is_size_unknown(&self, site: SiteId) -> bool {
        self.site(site).part & UNKNOWN_SIZE != 0
    }

    /// Whether all modules are of machine code.
    pub fn is_machine_code(&self) -> bool {
        let is_code = |module: &Module| !module.machine_blocks.is_empty();
        !self.modules.is_empty() && self.modules.iter().all(is_code)
    }

    /// The addresses at which the object lay, as far as the trace says it; for [`ANONYMOUS`], all of memory.
    pub fn extent_of_object(&self, object: FunctionId) -> Option<Range<u64>> {
        let function = self.function(object);
        if self.string(function.linkage_name) == ANONYMOUS {
            return Some(0..u64::MAX);
        }
        let module = self
            .modules
            .iter()
            .find(|module| module.functions.contains(&object.0))?;
        let symbols = &self.symbols[module.symbols.start as usize..module.symbols.end as usize];
        let symbol = symbols
            .iter()
            .find(|symbol| symbol.name == function.linkage_name)?;
        let start = symbol.address?;
        Some(start..start.saturating_add(symbol.size))
    }

    /// Whether it is machine code without any known name: there are instructions, but no variables and lines.
    pub fn is_nameless(&self) -> bool {
        let has_name = |site: &Site| {
            self.location(site.location).line > 0 || site.variable_kind != VariableKind::Unknown
        };
        self.is_machine_code() && !self.sites.iter().any(has_name)
    }

    /// Where an instruction is, for people: `libc.so.6+0x1234`, or its address.
    pub fn place_of(&self, id: InstructionId) -> String {
        let instruction = self.instruction(id);
        match self.function_name(instruction.object) {
            ANONYMOUS => format!("{:#x}", instruction.offset),
            path => {
                let name = path.rsplit('/').next().unwrap_or(path);
                format!("{name}+{:#x}", instruction.offset)
            }
        }
    }
}
