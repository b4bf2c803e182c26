//! Records with loops: one of them may stand for more accesses than a batch holds, so it can stop and go on.

use crate::code::Step;
use crate::table::MAX_ITERATIONS;

use super::expansion::Expansion;
use super::machine::Machine;

/// A batch ends with this many iterations even if they make few accesses, so that each batch is soon there.
const BATCH_ITERATIONS: u64 = 1 << 16;

/// Where the run of a record with loops stands.
#[derive(Default)]
pub(super) struct LoopedRecord {
    /// Offsets in the payload: of the record's id (`position`), and of the first byte after the id (`start`).
    position: usize,
    start: usize,
    /// The next step and the end of the record's steps.
    next: u32,
    end: u32,
    /// The loops around the next step, from the outermost inwards.
    loops: Vec<OpenLoop>,
    /// Iterations that the record's loops run, those still to come among them.
    iterations: u64,
    /// The affine loop that is being written out.
    expansion: Expansion,
}

struct OpenLoop {
    first: u32,
    end: u32,
    /// Iterations that follow the present one.
    left: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    /// The batch is full.
    Stopped,
    /// The record's loops run more than [`MAX_ITERATIONS`] times.
    Endless,
}

impl LoopedRecord {
    /// Gets ready for the rest of a record, these steps.
    pub(super) fn begin(&mut self, position: usize, start: usize, steps: std::ops::Range<u32>) {
        self.position = position;
        self.start = start;
        self.next = steps.start;
        self.end = steps.end;
        self.loops.clear();
        self.iterations = 0;
        self.expansion.begin(0);
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Runs steps until the record is done or the batch is full.
    pub(super) fn run(&mut self, machine: &mut Machine<'_>) -> Progress {
        let mut iterations = 0;
        loop {
            if !self.expansion.is_done() {
                self.expansion.write(machine);
                if machine.is_full() {
                    return Progress::Stopped;
                }
            }
            if self.next == self.innermost_end() {
                match self.turn() {
                    Turn::RecordDone => return Progress::Done,
                    Turn::LoopDone => {}
                    Turn::Again => iterations += 1,
                }
                if iterations > 0 && (machine.is_full_of_runs() || iterations >= BATCH_ITERATIONS) {
                    return Progress::Stopped;
                }
                continue;
            }
            let step = machine.step_number(self.next);
            self.next += 1;
            let allowed = match step {
                Step::Loop { count, end } => self.enter(machine.wide_value(count), end),
                Step::Affine { number } => self.run_affine(machine, number),
                other => {
                    machine.step(other, self.start);
                    true
                }
            };
            if !allowed {
                return Progress::Endless;
            }
        }
    }

    /// Makes a run of a loop, or begins to write it out; false if it is too long.
    fn run_affine(&mut self, machine: &mut Machine<'_>, number: u32) -> bool {
        let affine = &machine.code.affine[number as usize];
        let count = machine.wide_value(affine.count);
        if !self.count(count) {
            return false;
        }
        if machine.becomes_run(affine, count) {
            machine.push_affine(affine, count);
        } else if count > 0 {
            machine.write_affine(affine, count, self.expansion.lanes_mut());
            self.expansion.begin(count);
        }
        true
    }

    fn innermost_end(&self) -> u32 {
        self.loops.last().map_or(self.end, |innermost| innermost.end)
    }

    /// Decides how to go on at the end of the innermost loop's body, or of the record.
    fn turn(&mut self) -> Turn {
        let Some(innermost) = self.loops.last_mut() else {
            return Turn::RecordDone;
        };
        if innermost.left == 0 {
            self.loops.pop();
            return Turn::LoopDone;
        }
        innermost.left -= 1;
        self.next = innermost.first;
        Turn::Again
    }

    /// Adds to the record's iterations; false if there are too many.
    fn count(&mut self, count: u64) -> bool {
        self.iterations = self.iterations.saturating_add(count);
        self.iterations <= MAX_ITERATIONS
    }

    /// Begins the loop whose body is the next step up to `end`; false if that is too much.
    fn enter(&mut self, count: u64, end: u32) -> bool {
        if !self.count(count) {
            return false;
        }
        match count.checked_sub(1) {
            Some(left) => self.loops.push(OpenLoop {
                first: self.next,
                end,
                left,
            }),
            None => self.next = end,
        }
        true
    }
}

enum Turn {
    RecordDone,
    LoopDone,
    Again,
}
