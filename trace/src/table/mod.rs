//! The module table that the compiler pass embeds (`docs/format.md`, section 2), as it stands: with indices of its own.
//!
//! [`Table::parse`] checks everything that a reader relies on later: every index is in range, every length agrees.
//! [`Table::encode`] is its inverse.

#[cfg(test)]
mod as_the_pass_writes;
mod blocks;
mod cursor;
mod encode;
pub(crate) mod flag;
mod flow;
mod local_ids;
mod machine_code;
mod names;
mod operation;
mod packed;
mod parse;
mod parse_blocks;
mod parse_machine_code;
mod parse_names;
mod parse_operations;
mod parse_types;

pub use blocks::{
    Amount, Count, InstructionMix, TableAccess, TableBlock, TableBlocks, TableCallee, TableStep,
    Term as CountTerm, Variables,
};
pub use encode::{encode_svarint, encode_varint};
pub use flow::{PieceEnd, PieceLoop, TableFlow, TablePiece};
pub use machine_code::{MachineCode, TableInstruction, TableInstructionRange};
pub use names::{CodeNames, InstructionNames, ObjectNames, OperandName};
pub use operation::{AllocatedBlock, Encoding, Expression, Operation, Term};

pub(crate) use cursor::Cursor;
pub(crate) use local_ids::find_local;
pub(crate) use parse::Extent;

use crate::bytes::{u32_at, u64_at};
use crate::{
    AccessKind, AllocationOperation, Coverage, MemberKind, SourceChecksum, StructureKind, VariableKind,
};

/// The table's magic.
pub const TABLE_MAGIC: &[u8; 8] = b"TWTABLE\0";

/// What the header of a table says, unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableHeader {
    /// Number of counters of a module that counts; 0 for other modules.
    pub counters: u32,
    /// Bytes of the table with its header.
    pub length: u64,
}

impl TableHeader {
    /// None if no table begins so.
    pub fn read(bytes: &[u8; TABLE_HEADER_LENGTH]) -> Option<TableHeader> {
        bytes.starts_with(TABLE_MAGIC).then(|| TableHeader {
            counters: u32_at(bytes, 12),
            length: u64_at(bytes, 24).saturating_add(TABLE_HEADER_LENGTH as u64),
        })
    }
}
/// Bytes before the body.
pub const TABLE_HEADER_LENGTH: usize = 32;
/// Registers of one function at most.
pub const MAX_REGISTERS: u32 = 65_535;
/// Registers of a function below this one are the stream's, as its window shows them.
pub const SEEN_REGISTERS: u32 = 32;
/// Registers of a stream.
pub const STREAM_REGISTERS: u32 = 512;
/// Accesses and events that one record stands for at most, where the body of a loop counts once.
pub const MAX_EVENTS: u64 = 1 << 20;
/// Loops within each other at most.
pub const MAX_LOOP_DEPTH: usize = 16;
/// Iterations that the loops of one record run at most, all together.
pub const MAX_ITERATIONS: u64 = 1 << 40;
/// Lanes of one masked access at most.
pub const MAX_LANES: u8 = 64;

/// Why bytes are not a module table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid module table at byte {position}: {what}; rebuild the program with this Trackway")]
pub struct TableError {
    /// Bytes from the start of the table, or of the section.
    pub position: u64,
    pub what: String,
}

/// One translation unit's table. All `u32` that name something are indices into the table's own lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Built with the oracle.
    pub oracle: bool,
    /// Records function entry and exit.
    pub calls: bool,
    /// Records what orders threads.
    pub order: bool,
    /// String 0 is empty.
    pub strings: Vec<String>,
    pub source_file: u32,
    pub producer: u32,
    pub symbols: Vec<TableSymbol>,
    /// Location 0 is unknown.
    pub locations: Vec<TableLocation>,
    pub functions: Vec<TableFunction>,
    pub sites: Vec<TableSite>,
    pub allocation_sites: Vec<TableAllocationSite>,
    pub segments: Vec<Segment>,
    /// Structures; the types of a structure's members precede it.
    pub types: Vec<TableType>,
    /// Blocks of a module that counts instead of recording. Such a module has no segments.
    pub blocks: Option<TableBlocks>,
    /// Code as it was found in a process, instead of that of a translation unit. Functions are then loaded objects.
    pub machine_code: Option<MachineCode>,
    /// Control flow of each function.
    pub flows: Option<Vec<TableFlow>>,
    /// Checksums of source files, as far as the compiler provides them.
    pub source_checksums: Vec<TableChecksum>,
    /// The work of each site, if the table describes it.
    pub work: Option<Vec<TableWork>>,
    /// Names of the regions that the module's code enters or leaves.
    pub regions: Vec<u32>,
}

/// What a processor does for the accesses of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableWork {
    /// Instructions of the compiler's intermediate code since the access before it.
    pub instructions: u32,
    /// Instructions that a core could execute while the access's loop waits for values that it carries.
    pub waits: u32,
    /// Sites whose loaded values the address follows from.
    pub loads: Vec<u32>,
    /// Whether the address also follows from an argument, or from the result of a call.
    pub from_elsewhere: bool,
}

/// What the text of a source file must hash to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableChecksum {
    pub file: u32,
    pub checksum: SourceChecksum,
}

/// Where the members of a structure lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableType {
    /// Empty: it has none, or shares it with others that differ.
    pub name: u32,
    pub kind: StructureKind,
    /// Bytes.
    pub size: u64,
    /// Bytes; a power of two.
    pub alignment: u64,
    pub members: Vec<TableMember>,
}

/// A field, a bit-field or a base class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMember {
    pub name: u32,
    pub type_name: u32,
    pub kind: MemberKind,
    pub offset_bits: u64,
    pub size_bits: u64,
    /// Bytes; a power of two.
    pub alignment: u64,
    /// The member's type, or that of its elements, earlier in the list.
    pub nested: Option<u32>,
}

/// A static variable whose address the table uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSymbol {
    pub name: u32,
    pub type_name: u32,
    /// Bytes.
    pub size: u64,
    pub location: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableLocation {
    pub function: u32,
    pub file: u32,
    pub line: u32,
    pub column: u32,
    /// The location, earlier in the list, into which this one was inlined.
    pub parent: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFunction {
    pub linkage_name: u32,
    pub name: u32,
    pub location: u32,
    pub has_plain_copy: bool,
    pub first_segment: u32,
    pub segment_count: u32,
    pub register_count: u32,
    /// Which of the stream's registers it sees first, below [`STREAM_REGISTERS`].
    pub window: u32,
    pub coverage: Coverage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSite {
    pub function: u32,
    pub ordinal: u32,
    pub part: u8,
    pub kind: AccessKind,
    /// Bytes; 0: dynamic.
    pub size: u32,
    pub location: u32,
    pub variable: u32,
    pub variable_kind: VariableKind,
    pub object_type: u32,
    pub field: u32,
    pub value_type: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAllocationSite {
    pub function: u32,
    pub ordinal: u32,
    pub operation: AllocationOperation,
    pub location: u32,
    pub allocator: u32,
    pub element_type: u32,
    /// Bytes; 0: unknown.
    pub element_size: u64,
    pub variable: u32,
}

/// A piece of a basic block without calls; what one record stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub function: u32,
    /// As it stands in the stream, little-endian: below 256 one byte, else two. 0: none.
    pub local_id: u16,
    /// Bytes of a record after its id.
    pub record_length: u32,
    pub operations: Vec<Operation>,
}
