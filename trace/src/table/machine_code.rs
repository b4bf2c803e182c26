//! The instructions and basic blocks of a table that describes machine code.

use crate::InstructionKind;

/// What a process executed, as it was found there. All `u32` are indices into lists of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCode {
    /// Sites name them by their ordinals.
    pub instructions: Vec<TableInstruction>,
    /// As many as segments, in their order: a record of the segment stands for one execution of the block.
    pub blocks: Vec<TableInstructionRange>,
}

/// An instruction of a loaded object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableInstruction {
    /// Function that stands for the object.
    pub object: u32,
    /// Address less the address at which the object was loaded; for code from no file, the address.
    pub offset: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Offset of the instruction to which a direct branch or call goes; 0: in another object, or unknown.
    pub target: u64,
}

/// The instructions of a basic block, which follow each other in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableInstructionRange {
    pub first: u32,
    /// 0: the segment is no block, but holds data of the thread.
    pub count: u32,
    /// The last root of a record says how often the block was executed again, in a row.
    pub repeats: bool,
}
