//! Records with loops: one of them may stand for more accesses than a batch holds, so it can stop and go on.

use crate::code::{ResultCode, Step};
use crate::table::MAX_ITERATIONS;
use crate::Lane;

use super::expansion::Expansion;
use super::machine::Machine;

/// A batch ends with this many iterations even if they make few accesses, so that each batch is soon there.
const BATCH_ITERATIONS: u64 = 1 << 16;

/// Loops that run less often are no runs even where runs are wanted: they would cost more than their accesses.
const SHORTEST_RUN: u64 = 4;

/// Where the run of a record with loops stands.
#[derive(Default)]
pub(super) struct LoopedRecord {
    /// Of the record's id in the payload, and of its first byte after the id.
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
    results: Vec<(u32, u64)>,
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
    /// Gets ready for the record with these steps.
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
        let code = machine.code;
        let affine = &code.affine[number as usize];
        let count = machine.wide_value(affine.count);
        if !self.count(count) {
            return false;
        }
        if count == 0 {
            return true;
        }
        let lanes = &code.lanes[affine.lanes.start as usize..affine.lanes.end as usize];
        let run = self.expansion.lanes_mut();
        run.clear();
        run.extend(lanes.iter().map(|lane| Lane {
            site: lane.site,
            size: lane.size,
            address: machine.wide_value(lane.address),
            stride: machine.wide_value(lane.stride),
        }));
        if machine.keeps_runs() && count >= SHORTEST_RUN && !lanes.is_empty() {
            machine.push_run(self.expansion.lanes(), count);
        } else {
            self.expansion.begin(count);
        }
        self.set_results(
            machine,
            &code.results[affine.results.start as usize..affine.results.end as usize],
            count,
        );
        true
    }

    /// All values are those before the loop, so none is set before all are known.
    fn set_results(&mut self, machine: &mut Machine<'_>, results: &[ResultCode], count: u64) {
        self.results.clear();
        self.results.extend(results.iter().map(|result| {
            let steps = count - u64::from(result.of_last_iteration);
            let step = machine.wide_value(result.step).wrapping_mul(steps);
            (
                result.register,
                machine.wide_value(result.value).wrapping_add(step),
            )
        }));
        for (register, value) in &self.results {
            machine.set(*register, *value);
        }
    }

    fn innermost_end(&self) -> u32 {
        self.loops.last().map_or(self.end, |innermost| innermost.end)
    }

    /// At the end of the innermost loop's body, or of the record.
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
