//! Control flow of programs that the compiler pass records.
//!
//! [`Program::flows`] describes the functions' code piece by piece (`docs/format.md`, section 2, list 16), and
//! [`ExecutedRecords`] walks over the records of a stream, which say what was executed.

mod walk;

pub use walk::{ExecutedRecord, ExecutedRecords};

use crate::table::{PieceEnd, PieceLoop, TableFlow, TablePiece};
use crate::{LocationId, Program, StringId};

/// The control flow of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionFlow {
    /// Whether only direct calls of its own module call it.
    pub called_by_name_only: bool,
    /// The entry first; none where the flow is unknown.
    pub pieces: Vec<FlowPiece>,
}

/// A piece of a function's code: all of it is executed, or nothing. Numbers of pieces are indices into the function's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPiece {
    pub end: PieceEnd,
    pub loops: PieceLoop,
    /// Location of the instruction at the end.
    pub location: LocationId,
    /// Linkage name of the function that a direct call names, even if another definition may replace that one; else
    /// empty.
    pub callee: StringId,
    /// Number of instructions of the compiler's intermediate code.
    pub instructions: u32,
    /// Segment of the record that ends here, counted from the function's first one.
    pub segment: Option<u32>,
    /// The piece whose record the record of this piece replaces.
    pub continues: Option<u32>,
    /// Pieces that may follow. For a conditional branch, the first one is where it goes if its condition is true.
    pub successors: Vec<u32>,
}

/// Appends the flows of a table's functions.
pub(crate) fn merge(
    program: &mut Program,
    flows: Option<Vec<TableFlow>>,
    functions: usize,
    location: impl Fn(u32) -> LocationId,
    string: impl Fn(u32) -> StringId,
) {
    let piece = |piece: TablePiece| FlowPiece {
        end: piece.end,
        loops: piece.loops,
        location: location(piece.location),
        callee: string(piece.callee),
        instructions: piece.instructions,
        segment: piece.segment,
        continues: piece.continues,
        successors: piece.successors,
    };
    let flows = flows.unwrap_or_else(|| vec![TableFlow::default(); functions]);
    program.flows.extend(flows.into_iter().map(|flow| FunctionFlow {
        called_by_name_only: flow.called_by_name_only,
        pieces: flow.pieces.into_iter().map(&piece).collect(),
    }));
}
