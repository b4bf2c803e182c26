//! The steps from one record to the next, for records that are a local id and nothing else: what the successors of forms
//! say, in one byte. Only `split` has any.
//!
//! Invariant on which unchecked accesses of `split` rest: a function whose `transitions` is not 0 has as many bytes from
//! there on as the square of its local ids' number.

use super::shapes::{Form, Shapes, FORM_SIZE};
use super::step::STATED;

/// The next record is none of those, or there is no such id.
pub(super) const OTHER: u8 = STATED + 1;

/// Bytes of all functions.
const MOST_BYTES: usize = 16 << 20;

impl Shapes {
    /// Where the function's steps begin: a row for each local id, a step for each id behind it. 0 if there is no room.
    pub(super) fn transitions_of(&mut self, function: u32) -> u32 {
        match self.functions[function as usize].transitions {
            0 => self.add_transitions(function),
            begin => begin,
        }
    }

    #[cold]
    fn add_transitions(&mut self, function: u32) -> u32 {
        let ids = self.functions[function as usize];
        let count = ids.count as usize;
        let begin = self.transitions.len().max(1);
        if begin + count * count > MOST_BYTES {
            return 0;
        }
        let locals = &self.locals[ids.first as usize..][..count];
        let step = |offset: &u32| match self.forms[*offset as usize / FORM_SIZE].is_bare() {
            true => STATED,
            false => OTHER,
        };
        let row: Vec<u8> = locals.iter().map(step).collect();
        self.transitions.resize(begin, OTHER);
        self.transitions.extend(std::iter::repeat_n(row, count).flatten());
        self.functions[function as usize].transitions = begin as u32;
        for index in 0..self.used.len() {
            let form = self.forms[self.used[index] as usize / FORM_SIZE];
            for (successor, step) in form.successors.into_iter().zip(0..) {
                self.set_transition(&form, successor, step);
            }
        }
        begin as u32
    }

    /// All steps are stated again.
    pub(super) fn forget_transitions(&mut self) {
        if self.transitions.is_empty() {
            return;
        }
        for index in 0..self.used.len() {
            let form = self.forms[self.used[index] as usize / FORM_SIZE];
            for successor in form.successors {
                self.set_transition(&form, successor, STATED);
            }
        }
    }

    /// Says that the step from one form to the one at an offset is this one.
    pub(super) fn set_transition(&mut self, previous: &Form, offset: u32, step: u8) {
        let next = &self.forms[offset as usize / FORM_SIZE];
        let ids = self.functions[next.function as usize];
        if ids.transitions != 0 && previous.is_bare() && next.is_bare() && previous.function == next.function
        {
            let place = ids.transitions + previous.word * ids.count + next.word;
            self.transitions[place as usize] = step;
        }
    }
}

impl Form {
    /// Whether its records are a local id and nothing else.
    pub(super) fn is_bare(&self) -> bool {
        self.length == 1
    }
}
