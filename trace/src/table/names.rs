//! What the code of loaded objects is called in the source (`docs/format.md`, section 1.6).

use super::{TableChecksum, TableLocation, TableType};
use crate::VariableKind;

/// All `u32` that name something are indices into the lists here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeNames {
    /// String 0 is empty.
    pub strings: Vec<String>,
    /// Location 0 is unknown.
    pub locations: Vec<TableLocation>,
    pub types: Vec<TableType>,
    /// What accesses go to; number 0 is unknown.
    pub operands: Vec<OperandName>,
    pub objects: Vec<ObjectNames>,
    /// Checksums of source files, as far as the compiler provides them.
    pub source_checksums: Vec<TableChecksum>,
}

/// What an access goes to, as of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperandName {
    pub variable: u32,
    pub variable_kind: VariableKind,
    pub object_type: u32,
    pub field: u32,
    pub value_type: u32,
}

/// The named instructions of a loaded object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectNames {
    pub path: u32,
    /// Instructions in the order of their offsets.
    pub instructions: Vec<InstructionNames>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionNames {
    pub offset: u64,
    pub location: u32,
    /// What it reads, or reads and writes.
    pub read: u32,
    /// What it only writes.
    pub written: u32,
}
