//! What is known of executed machine code, before it is a table.

use super::InstructionKind;
use crate::table::Table;
use crate::{AccessKind, AllocationOperation};

/// A basic block as it was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDefinition {
    /// Numbers of 8 bytes that a record of the block holds.
    pub roots: u32,
    /// At least one; all belong to one object.
    pub instructions: Vec<InstructionDefinition>,
    /// Present if the record stands for several executions in a row. The last root then says how often the block was
    /// executed again, and each time the other roots change by these amounts.
    pub repeats: Option<Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionDefinition {
    /// The number that [`super::CodeBuilder::object`] returned.
    pub object: u32,
    /// Address less the address at which the object was loaded; for code from no file, the address.
    pub offset: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Offset to which a direct branch or call goes, in the same object; 0 if elsewhere or unknown.
    pub target: u64,
    /// Operands in the order of the accesses.
    pub operands: Vec<Operand>,
}

/// What an instruction accesses each time that it is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub kind: AccessKind,
    /// Bytes of one access; 0 if unknown, which then counts as 1.
    pub size: u32,
    pub accesses: OperandAccesses,
}

/// Where the accesses of an operand are, and how many. Roots are counted from 0 in their block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandAccesses {
    One(Address),
    /// As many as the root `times` says; each is `size` × the root `direction` (1 or −1) past the one before. Such
    /// operands of one instruction take turns.
    Repeated {
        first: Address,
        times: u32,
        direction: u32,
    },
    /// One for each lane whose bit is set in the root `mask`, at the address in the root `first` + lane.
    Gathered {
        mask: u32,
        first: u32,
        lanes: u8,
    },
    /// One for each lane whose bit is set in the root `mask`, of elements in a row.
    Masked {
        address: Address,
        mask: u32,
        lanes: u8,
    },
}

/// A constant and the sum of scaled numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    pub constant: i64,
    pub terms: Vec<(AddressBase, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    Root(u32),
    /// Base of the thread's FS or GS segment, as set by the last [`super::CodeBuilder::add_segment_bases`] of the
    /// stream.
    FsBase,
    GsBase,
}

impl Address {
    /// What a root holds, and a distance in bytes.
    pub fn root(root: u32, distance: i64) -> Self {
        Address {
            constant: distance,
            terms: vec![(AddressBase::Root(root), 1)],
        }
    }
}

/// A call of an allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationDefinition {
    /// The number that [`super::CodeBuilder::object`] returned.
    pub object: u32,
    /// Where the call is, for people.
    pub place: String,
    /// Offset of the call's last byte in the object; 0 if unknown.
    pub last_byte: u32,
    pub operation: AllocationOperation,
    /// Name of the called function.
    pub allocator: String,
}

/// Why a block is invalid.
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
