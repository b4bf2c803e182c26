//! Following a thread from record to record.

use std::rc::Rc;

use trackway_trace::flow::ExecutedRecord;
use trackway_trace::table::{PieceEnd, PieceLoop};
use trackway_trace::{FunctionId, LocationId};

use super::ways::{Goal, Ways};
use super::RecordedFlow;
use crate::model::control_flow::Unresolved;
use crate::model::control_flow::{BranchEvent, BranchKind};

/// The functions that a thread is in, the innermost last.
pub(super) struct Stack<'a> {
    flow: &'a RecordedFlow<'a>,
    /// Ways of the functions that were met, by function.
    ways: Vec<Option<Rc<Ways<'a>>>>,
    frames: Vec<Frame<'a>>,
    /// Instructions since the last event.
    instructions: u32,
    unresolved: Unresolved,
}

struct Frame<'a> {
    function: FunctionId,
    ways: Rc<Ways<'a>>,
    place: Place,
    /// How often the loops of the latest record ran that have not been entered yet, the next one last.
    loops: Vec<u64>,
    /// Iterations to come of the loops that it is in, the present ones among them.
    iterations: Vec<u64>,
    /// It is left by a call in tail position, whose callee hasn't been entered or hasn't returned.
    is_left: bool,
}

/// A function in which another one was entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub function: FunctionId,
    /// Where the call stands, if only one could have entered the other function.
    pub call: Option<LocationId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first piece.
    Start,
    /// After the record that ends in the piece.
    Behind(u32),
    /// In the call at the end of the piece, within which a function was entered. `others` may be entered within it,
    /// too, though the callee is known: it left by a call in tail position to an unknown function.
    InCall { piece: u32, others: bool },
    /// The place is unknown until a record says it.
    Unknown,
}

/// Where the one way led.
enum Found {
    /// The goal, at the end of the piece unless that is a piece itself.
    Goal(u32),
    /// Several ways lead on, or none.
    Nothing,
}

type Take<'t> = &'t mut dyn FnMut(&BranchEvent);

impl<'a> Stack<'a> {
    pub(super) fn new(flow: &'a RecordedFlow<'a>) -> Self {
        Stack {
            flow,
            ways: vec![None; flow.program.flows.len()],
            frames: Vec::new(),
            instructions: 0,
            unresolved: Unresolved::default(),
        }
    }

    pub(super) fn unresolved(&self) -> Unresolved {
        Unresolved {
            instructions_behind: u64::from(self.instructions),
            ..self.unresolved
        }
    }

    /// Records are missing.
    pub(super) fn lose(&mut self) {
        self.frames.clear();
    }

    /// The callers of the function, which is the innermost one, from the inside out.
    pub(super) fn callers(&self, function: FunctionId) -> impl Iterator<Item = Caller> + '_ {
        let is_innermost = self.frames.last().is_some_and(|frame| frame.function == function);
        let known = if is_innermost { self.frames.len() - 1 } else { 0 };
        self.frames[..known].iter().rev().map(|frame| Caller {
            function: frame.function,
            call: match frame.place {
                Place::InCall { piece, others: false } => Some(frame.ways.pieces[piece as usize].location),
                _ => None,
            },
        })
    }

    /// A record of a function whose flow isn't known, or one that sets registers only.
    pub(super) fn begin_elsewhere(&mut self, record: &ExecutedRecord) {
        if record.enters {
            if let Some(frame) = self.frames.last_mut() {
                frame.place = Place::Unknown;
            }
            self.push(record.function, Place::Unknown);
        }
    }

    /// The end of such a record.
    pub(super) fn end_elsewhere(&mut self, record: &ExecutedRecord) {
        if record.exits
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.function == record.function)
        {
            self.pop();
        }
    }

    /// A record that stands for some pieces of its function.
    pub(super) fn begin(&mut self, record: &ExecutedRecord, chain: &[u32], take: Take) {
        if record.enters {
            self.enter(record.function, take);
        } else {
            self.unwind_to(record.function);
        }
        for piece in chain {
            let found = self.follow(Goal::Piece(*piece), take);
            if matches!(found, Found::Nothing) {
                self.count_unknown();
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.place = Place::Behind(*piece);
                frame.iterations.clear();
                frame.loops.clear();
            }
        }
    }

    /// The end of such a record.
    pub(super) fn end(&mut self, record: &ExecutedRecord, take: Take) {
        if record.is_uncertain {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.extend(record.loops.iter().rev());
        }
        if record.exits {
            self.exit(take);
        }
    }

    /// Counts a lost way, unless it was lost, and thus counted, before.
    fn count_unknown(&mut self) {
        if self
            .frames
            .last()
            .is_some_and(|frame| frame.place != Place::Unknown)
        {
            self.unresolved.unrecorded += 1;
        }
    }

    fn push(&mut self, function: FunctionId, place: Place) {
        let flow = self.flow;
        let pieces = &flow.program.flows[function.index()].pieces;
        let ways = self.ways[function.index()].get_or_insert_with(|| {
            Rc::new(Ways::new(
                pieces,
                |piece| flow.surely_enters(piece),
                |piece| flow.enters_nothing(piece),
            ))
        });
        self.frames.push(Frame {
            function,
            ways: Rc::clone(ways),
            place,
            loops: Vec::new(),
            iterations: Vec::new(),
            is_left: false,
        });
    }

    /// Leaves the innermost function, and those that had left for it.
    fn pop(&mut self) {
        self.frames.pop();
        while self.frames.last().is_some_and(|frame| frame.is_left) {
            self.frames.pop();
        }
    }

    fn enter(&mut self, function: FunctionId, take: Take) {
        if self.frames.last().is_some_and(|frame| !frame.is_left) {
            let callee = self.flow.program.function(function).linkage_name;
            let by_name_only = self.flow.program.flows[function.index()].called_by_name_only;
            let goal = Goal::Call { callee, by_name_only };
            let place = match self.follow(goal, take) {
                Found::Goal(piece) => self.call(piece, function, take),
                Found::Nothing => {
                    self.count_unknown();
                    Place::Unknown
                }
            };
            if let Some(frame) = self.frames.last_mut() {
                frame.place = place;
            }
        }
        self.push(function, Place::Start);
    }

    fn call(&mut self, piece: u32, callee: FunctionId, take: Take) -> Place {
        let Some(frame) = self.frames.last() else {
            return Place::Unknown;
        };
        match frame.place {
            // The same call once more.
            Place::InCall { piece: in_call, .. } if in_call == piece && !frame.ways.surely_enters(piece) => {
                frame.place
            }
            Place::InCall {
                piece: in_call,
                others,
            } if in_call == piece && others => frame.place,
            _ => {
                let target = self.flow.start_address(callee, 0);
                self.emit_call(piece, target, take);
                Place::InCall { piece, others: false }
            }
        }
    }

    /// A function without an exit of its own was left by an exception or a jump.
    fn unwind_to(&mut self, function: FunctionId) {
        let mut was_left = false;
        while let Some(frame) = self.frames.last() {
            if frame.function == function && !frame.is_left {
                break;
            }
            was_left |= !frame.is_left;
            self.frames.pop();
        }
        if self.frames.is_empty() {
            self.push(function, Place::Unknown);
            self.unresolved.unrecorded += 1;
        } else if was_left {
            self.count_unknown();
            if let Some(frame) = self.frames.last_mut() {
                frame.place = Place::Unknown;
            }
        }
    }

    fn exit(&mut self, take: Take) {
        let found = self.follow(Goal::Exit, take);
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let Found::Goal(piece) = found else {
            self.count_unknown();
            self.pop();
            return self.allow_others();
        };
        if frame.ways.is_call(piece) {
            let leaves_for_recorded = frame.ways.surely_enters(piece);
            frame.place = Place::InCall { piece, others: false };
            frame.is_left = true;
            self.emit_at(piece, BranchKind::Jump, true, 0, take);
            if !leaves_for_recorded {
                self.pop();
                self.allow_others();
            }
            return;
        }
        let target = self.return_address();
        self.emit_at(piece, BranchKind::Return, true, target, take);
        self.pop();
    }

    /// The call that the innermost function is in may enter more functions than its callee.
    fn allow_others(&mut self) {
        if let Some(Frame {
            place: Place::InCall { others, .. },
            ..
        }) = self.frames.last_mut()
        {
            *others = true;
        }
    }

    fn return_address(&self) -> u64 {
        let callers = self.frames.iter().rev().skip(1);
        match callers.into_iter().find(|frame| !frame.is_left) {
            Some(Frame {
                place: Place::InCall { piece, .. },
                function,
                ..
            }) => self.flow.end_address(*function, *piece) + super::INSTRUCTION_BYTES,
            _ => 0,
        }
    }

    /// Goes on in the innermost function as long as there is one way to the goal only.
    fn follow(&mut self, goal: Goal, take: Take) -> Found {
        let Some(frame) = self.frames.last() else {
            return Found::Nothing;
        };
        let ways = Rc::clone(&frame.ways);
        let leading = ways.leading(goal);
        let (mut at, mut entered, others) = match frame.place {
            Place::Unknown => return Found::Nothing,
            Place::Behind(piece) => (piece, false, false),
            Place::InCall { piece, others } => (piece, true, others),
            Place::Start if goal == Goal::Piece(0) => return Found::Goal(0),
            Place::Start if leading.first() == Some(&true) => (0, false, false),
            Place::Start => return Found::Nothing,
        };
        loop {
            let surely = ways.surely_enters(at);
            let stops = match entered && surely {
                true => others && matches!(goal, Goal::Call { .. }),
                false => ways.is_at(at, goal),
            };
            let passes = (entered || !surely) && !(goal == Goal::Exit && stops);
            let next = if passes {
                self.next(at, goal, &ways, &leading)
            } else {
                Next::None
            };
            match (stops, next) {
                (true, Next::None) => return Found::Goal(at),
                (false, Next::One(next)) => {
                    self.pass(at, next, entered, &ways, take);
                    if goal == Goal::Piece(next) {
                        return Found::Goal(next);
                    }
                    (at, entered) = (next, false);
                }
                _ => return Found::Nothing,
            }
        }
    }

    fn next(&mut self, at: u32, goal: Goal, ways: &Ways, leading: &[bool]) -> Next {
        let piece = &ways.pieces[at as usize];
        if let Some(next) = self.next_by_count(piece.loops, &piece.successors) {
            return match ways.leads(next, goal, leading) {
                true => Next::One(next),
                false => Next::None,
            };
        }
        let mut successors = piece.successors.iter().copied();
        let mut leading_on = successors
            .by_ref()
            .filter(|next| ways.leads(*next, goal, leading));
        match (leading_on.next(), leading_on.next()) {
            (None, _) => Next::None,
            (Some(next), None) => Next::One(next),
            _ => Next::Several,
        }
    }

    /// The successor at the end of an iteration of a loop whose count is known.
    fn next_by_count(&mut self, loops: PieceLoop, successors: &[u32]) -> Option<u32> {
        let frame = self.frames.last_mut()?;
        let (back, out) = match loops {
            PieceLoop::None => return None,
            PieceLoop::Enters => {
                match frame.loops.pop() {
                    Some(count) => frame.iterations.push(count),
                    None => frame.iterations.clear(),
                }
                return None;
            }
            PieceLoop::BackFirst => (successors[0], successors[1]),
            PieceLoop::BackSecond => (successors[1], successors[0]),
        };
        let left = frame.iterations.last_mut()?;
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Some(back);
        }
        frame.iterations.pop();
        Some(out)
    }

    /// Goes on from the end of a piece to another one.
    fn pass(&mut self, at: u32, next: u32, entered: bool, ways: &Ways, take: Take) {
        let piece = &ways.pieces[at as usize];
        let start = |flow: &RecordedFlow, function, piece| flow.start_address(function, piece);
        let Some(function) = self.frames.last().map(|frame| frame.function) else {
            return;
        };
        match piece.end {
            PieceEnd::Branches => {
                let target = start(self.flow, function, piece.successors[0]);
                self.emit_at(
                    at,
                    BranchKind::Conditional,
                    next == piece.successors[0],
                    target,
                    take,
                );
            }
            PieceEnd::Chooses => {
                let target = start(self.flow, function, next);
                self.emit_at(at, BranchKind::IndirectJump, true, target, take);
            }
            PieceEnd::Calls | PieceEnd::CallsIndirectly if !entered => self.emit_call(at, 0, take),
            PieceEnd::Calls | PieceEnd::CallsIndirectly => {}
            PieceEnd::GoesOn | PieceEnd::Returns | PieceEnd::Stops => {
                self.instructions = self.instructions.saturating_add(piece.instructions);
            }
        }
    }

    fn emit_call(&mut self, at: u32, target: u64, take: Take) {
        let Some(frame) = self.frames.last() else { return };
        let kind = match frame.ways.pieces[at as usize].end {
            PieceEnd::Calls => BranchKind::Call,
            _ => BranchKind::IndirectCall,
        };
        self.emit_at(at, kind, true, target, take);
    }

    /// The branch at the end of a piece, which was executed with it.
    fn emit_at(&mut self, at: u32, kind: BranchKind, taken: bool, target: u64, take: Take) {
        let Some(frame) = self.frames.last() else { return };
        let own = frame.ways.pieces[at as usize].instructions;
        take(&BranchEvent {
            address: self.flow.end_address(frame.function, at),
            kind,
            taken,
            target,
            instructions: self.instructions.saturating_add(own),
        });
        self.instructions = 0;
    }
}

enum Next {
    None,
    One(u32),
    Several,
}
