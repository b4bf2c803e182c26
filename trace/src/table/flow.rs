//! Control flow of the functions of a table that records.

use super::parse::Parser;
use super::*;
use crate::table_enum::table_enum;

type Result<T> = std::result::Result<T, TableError>;

/// The control flow of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableFlow {
    /// Whether only direct calls of its own module call it.
    pub called_by_name_only: bool,
    /// The entry first; none where the flow is not described.
    pub pieces: Vec<TablePiece>,
}

/// A piece of a function's code: all of it is executed, or nothing. Each `u32` that isn't a count is an index. Indices
/// of pieces are into the function's list; others are into the lists of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePiece {
    pub end: PieceEnd,
    pub loops: PieceLoop,
    /// Location of the instruction at the end.
    pub location: u32,
    /// String: linkage name of the function that a direct call calls.
    pub callee: u32,
    /// Number of instructions of the compiler's intermediate code.
    pub instructions: u32,
    /// Segment of the record that ends here, counted from the function's first one.
    pub segment: Option<u32>,
    /// The piece whose record the record of this piece replaces, repeating it.
    pub continues: Option<u32>,
    pub successors: Vec<u32>,
}

table_enum! {
    /// How a piece ends.
    #[derive(Default)]
    PieceEnd {
        #[default]
        GoesOn = 0 "goes on",
        Branches = 1 "conditional branch",
        Chooses = 2 "switch",
        Calls = 3 "direct call",
        CallsIndirectly = 4 "indirect call",
        Returns = 5 "return",
        Stops = 6 "end",
    }
}

table_enum! {
    /// What a piece has to do with a loop that is recorded as one operation.
    #[derive(Default)]
    PieceLoop {
        #[default]
        None = 0 "nothing",
        Enters = 1 "leads into it",
        BackFirst = 2 "goes back to its head, first successor",
        BackSecond = 3 "goes back to its head, second successor",
    }
}

impl Parser<'_> {
    pub(super) fn flows(&mut self) -> Result<Vec<TableFlow>> {
        let count = self.cursor.count(2, "functions with control flow")?;
        if count != self.table.functions.len() {
            return self.cursor.error(format!(
                "control flow of {count} functions, where there are {}",
                self.table.functions.len()
            ));
        }
        (0..count).map(|function| self.flow(function)).collect()
    }

    fn flow(&mut self, function: usize) -> Result<TableFlow> {
        let called_by_name_only = match self.cursor.u8("who calls a function")? {
            flag @ (0 | 1) => flag == 1,
            other => return self.cursor.error(format!("a function that is called by {other}")),
        };
        let count = self.cursor.count(7, "pieces of a function")?;
        let segments = self.table.functions[function].segment_count as usize;
        let pieces = (0..count).map(|_| self.piece(count, segments));
        Ok(TableFlow {
            called_by_name_only,
            pieces: pieces.collect::<Result<_>>()?,
        })
    }

    fn piece(&mut self, pieces: usize, segments: usize) -> Result<TablePiece> {
        let byte = self.cursor.u8("end of a piece")?;
        let (end, loops) = (PieceEnd::from_byte(byte & 15), PieceLoop::from_byte(byte >> 4));
        let (Some(end), Some(loops)) = (end, loops) else {
            return self.cursor.error(format!("a piece that ends by {byte}"));
        };
        let location = self.location()?;
        let callee = self.string()?;
        let instructions = self.cursor.number("instructions of a piece")?;
        let segment = self.optional(segments, "segment of a piece")?;
        let continues = self.optional(pieces, "piece that is continued")?;
        let count = self.cursor.count(1, "successors of a piece")?;
        let successors: Vec<u32> = (0..count)
            .map(|_| self.cursor.below(pieces, "successor of a piece"))
            .collect::<Result<_>>()?;
        let fits = match end {
            PieceEnd::GoesOn => matches!(count, 1 | 2),
            PieceEnd::Branches => count == 2 && successors[0] != successors[1],
            PieceEnd::Returns | PieceEnd::Stops => count == 0,
            PieceEnd::Chooses | PieceEnd::Calls | PieceEnd::CallsIndirectly => true,
        };
        let loops_fit = match loops {
            PieceLoop::None => true,
            PieceLoop::Enters => end == PieceEnd::GoesOn,
            PieceLoop::BackFirst | PieceLoop::BackSecond => end == PieceEnd::Branches,
        };
        if !fits || !loops_fit {
            return self.cursor.error(format!(
                "{count} successors of a piece that ends by: {end}, {loops}"
            ));
        }
        Ok(TablePiece {
            end,
            loops,
            location,
            callee,
            instructions,
            segment,
            continues,
            successors,
        })
    }

    /// 0: none; else 1 + an index.
    fn optional(&mut self, limit: usize, what: &str) -> Result<Option<u32>> {
        Ok(self.cursor.below(limit + 1, what)?.checked_sub(1))
    }
}
