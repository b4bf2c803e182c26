//! A function's pieces, and the ways through them that leave no record.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use trackway_trace::flow::FlowPiece;
use trackway_trace::table::PieceEnd;
use trackway_trace::StringId;

/// What a function was seen to reach next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// A record ends in the piece.
    Piece(u32),
    /// It called something within which that function was entered: by a direct call, or any that it doesn't know.
    Call { callee: StringId, by_name_only: bool },
    /// It is about to return, by itself or by a call in tail position.
    Exit,
}

/// The pieces of one function and the ways through them, for one thread.
#[derive(Debug)]
pub(super) struct Ways<'p> {
    pub(super) pieces: &'p [FlowPiece],
    /// Whether each piece's call enters exactly one function that records, whose name is its callee's.
    surely_enters: Vec<bool>,
    /// Whether each piece's call enters nothing that records.
    enters_nothing: Vec<bool>,
    before: Vec<Vec<u32>>,
    leading: RefCell<HashMap<Goal, Rc<Vec<bool>>>>,
}

impl<'p> Ways<'p> {
    pub(super) fn new(
        pieces: &'p [FlowPiece],
        surely_enters: impl Fn(&FlowPiece) -> bool,
        enters_nothing: impl Fn(&FlowPiece) -> bool,
    ) -> Self {
        let mut before = vec![Vec::new(); pieces.len()];
        for (number, piece) in pieces.iter().enumerate() {
            for successor in &piece.successors {
                before[*successor as usize].push(number as u32);
            }
        }
        Ways {
            pieces,
            surely_enters: pieces.iter().map(surely_enters).collect(),
            enters_nothing: pieces.iter().map(enters_nothing).collect(),
            before,
            leading: RefCell::default(),
        }
    }

    pub(super) fn surely_enters(&self, piece: u32) -> bool {
        self.surely_enters[piece as usize]
    }

    pub(super) fn is_call(&self, piece: u32) -> bool {
        matches!(
            self.pieces[piece as usize].end,
            PieceEnd::Calls | PieceEnd::CallsIndirectly
        )
    }

    /// Whether the goal may be reached at the end of the piece.
    pub(super) fn is_at(&self, piece: u32, goal: Goal) -> bool {
        match goal {
            Goal::Piece(_) => false,
            Goal::Call { callee, .. } if self.surely_enters(piece) => {
                self.pieces[piece as usize].callee == callee
            }
            Goal::Call {
                callee,
                by_name_only: true,
            } => {
                self.pieces[piece as usize].end == PieceEnd::Calls
                    && self.pieces[piece as usize].callee == callee
            }
            Goal::Call { .. } => self.is_call(piece) && !self.enters_nothing[piece as usize],
            Goal::Exit => self.is_call(piece) || self.pieces[piece as usize].end == PieceEnd::Returns,
        }
    }

    /// Whether one may go on to the piece on a way to the goal, `leading` being [`Ways::leading`] of that.
    pub(super) fn leads(&self, piece: u32, goal: Goal, leading: &[bool]) -> bool {
        goal == Goal::Piece(piece) || leading[piece as usize]
    }

    /// Whether the goal can be reached by way of each piece without a record.
    pub(super) fn leading(&self, goal: Goal) -> Rc<Vec<bool>> {
        if let Some(known) = self.leading.borrow().get(&goal) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find_leading(goal));
        self.leading.borrow_mut().insert(goal, Rc::clone(&found));
        found
    }

    fn find_leading(&self, goal: Goal) -> Vec<bool> {
        let mut leading = vec![false; self.pieces.len()];
        let mut work: Vec<u32> = match goal {
            Goal::Piece(piece) => self.before[piece as usize]
                .iter()
                .copied()
                .filter(|before| !self.surely_enters(*before))
                .collect(),
            _ => (0..self.pieces.len() as u32)
                .filter(|piece| self.is_at(*piece, goal))
                .collect(),
        };
        while let Some(piece) = work.pop() {
            // A piece with a record can't be passed without one.
            if self.pieces[piece as usize].segment.is_some() || leading[piece as usize] {
                continue;
            }
            leading[piece as usize] = true;
            let before = self.before[piece as usize].iter().copied();
            work.extend(before.filter(|before| !self.surely_enters(*before)));
        }
        leading
    }
}
