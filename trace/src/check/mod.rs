//! The format's invariants, and a second decoder that checks them.
//!
//! [`Interpreter`] decodes by the letter of `docs/format.md`, operation by operation from the tables, and shares no
//! code with the fast [`crate::Decoder`]; tests hold the two against each other.

mod interpreter;
mod structure;

pub use interpreter::{Decoded, Interpreter};
pub use structure::check_structure;

use crate::{FunctionId, Program};

/// A rule of the format that a trace breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Offset of the chunk in the file, bytes.
    pub chunk_offset: u64,
    pub stream: u32,
    /// Position of the record in the chunk's payload, bytes; 0 if the chunk as a whole is meant.
    pub position: u64,
    pub rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Chunks of a kind (and stream) are numbered from 0 without holes.
    Sequence {
        expected: u64,
        found: u64,
    },
    /// The chunks of a stream belong to one process.
    Process {
        expected: u32,
        found: u32,
    },
    /// A buffer is handed over after it was taken, and before the thread takes the next one.
    Time {
        earlier_ns: u64,
        later_ns: u64,
    },
    /// The end chunk counts the chunks before it.
    ChunkCount {
        stated: u64,
        found: u64,
    },
    /// A buffer's first record has a global id.
    FirstRecordIsLocal {
        local_id: u8,
    },
    UnknownLocalId {
        local_id: u8,
    },
    UnknownGlobalId {
        id: u32,
    },
    /// Records end within their chunk.
    Truncated {
        missing: u64,
    },
    /// The loops of a record run at most so often, all together.
    Iterations {
        limit: u64,
    },
    /// A register is read that the function has not set in this buffer.
    UnsetRegister {
        function: FunctionId,
        register: u32,
    },
}

impl Violation {
    /// What is wrong, for people.
    pub fn text(&self, program: &Program) -> String {
        let what = match self.rule {
            Rule::Sequence { expected, found } => format!("its sequence is {found}, expected {expected}"),
            Rule::Process { expected, found } => {
                format!("it is of process {found}, its stream of {expected}")
            }
            Rule::Time { earlier_ns, later_ns } => {
                format!("its time runs backwards from {earlier_ns} ns to {later_ns} ns")
            }
            Rule::ChunkCount { stated, found } => {
                format!("it counts {stated} chunks before it, there are {found}")
            }
            Rule::FirstRecordIsLocal { local_id } => format!("its first record has a local id, {local_id}"),
            Rule::UnknownLocalId { local_id } => {
                format!("the local id that begins with {local_id} is unknown in its function")
            }
            Rule::UnknownGlobalId { id } => format!("global id {id} belongs to no module"),
            Rule::Truncated { missing } => format!("{missing} bytes of the last record are missing"),
            Rule::Iterations { limit } => format!("its loops run more than {limit} times"),
            Rule::UnsetRegister { function, register } => {
                let name = program.function_name(function);
                format!("`{name}` reads register {register}, which it has not set in this buffer")
            }
        };
        let Violation {
            chunk_offset,
            stream,
            position,
            ..
        } = self;
        format!("stream {stream}, chunk at offset {chunk_offset}, record at byte {position}: {what}")
    }
}
