//! How fast threads run where windows begin: instructions in their CPU time, by what loops do to registers.
//!
//! Counters and pointers of a loop move on from sample to sample; executing the instructions from a sample on shows how
//! many of them a unit takes. Both together are a speed. If memory decides which way a loop goes, only a stopped thread
//! is measured: a thread that runs on may change that memory.

mod history;
mod loop_times;
mod loops;
mod meter;
mod progress;
#[cfg(test)]
mod tests;
mod watch;
mod way;

pub use loop_times::{LoopTimes, Place};
pub use meter::SpeedMeter;
pub use way::Way;

use std::rc::Rc;

use trackway_perf_records::PerfSample;

use crate::code::{Function, Step};
use crate::registers::Registers;
use crate::window::{look_ahead, Directions, Memory, MemorySource};
use history::Histories;
use loops::{KnownLoops, Measured};
use progress::Progress;
use watch::{UnitCost, Watch};

/// Instructions in a millisecond that no processor executes: more than 8 in a cycle of 6 GHz.
const TOO_FAST: f64 = 50e6;
/// Where a thread of a process is.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Process and thread.
    pub thread: (u32, u32),
    /// When that was, at the latest.
    pub time_ns: u64,
    pub place: Place,
    pub registers: Registers,
}

/// How far is looked to find how many instructions a loop takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// While the thread is stopped.
    Short,
    /// As far as the execution goes without memory that may have changed.
    Long,
}

/// What is known of how fast threads run.
#[derive(Default)]
pub struct Speeds {
    histories: Histories,
    loops: KnownLoops,
    directions: Directions,
}

impl Speeds {
    /// A thread was sampled there.
    pub fn note(&mut self, sample: &PerfSample, place: Place) {
        self.histories.note(sample, place);
    }

    #[cfg(test)]
    fn forget_samples(&mut self) {
        self.histories = Histories::default();
    }

    /// The registers of the thread that are in progress in the function that begins there.
    pub fn progress(&self, position: &Position, function: u64) -> Vec<Progress> {
        let moments = self.histories.until(position.time_ns, position.thread, function);
        progress::progressing(&moments)
    }

    /// Instructions in a millisecond, if the way leads through a loop that was measured often enough.
    pub fn by_known_loop(
        &mut self,
        position: &Position,
        way: &Way,
        function_at: &mut dyn FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let (progress, known) = self.known_loop(position, way, &mut *function_at)?;
        if let Some(step) = known.step {
            let seen = UnitCost {
                instructions: way.instructions(),
                units: way.times(known.changed_at) * step,
            };
            let (register, changed_at) = (known.register, known.changed_at);
            if !way.changes_by(changed_at, step) {
                self.loops.note_unequal(position.thread.0, register, changed_at);
                return self.by_known_loop(position, way, function_at);
            }
            // A window says little of a register that changes less often than once in each window.
            let per_change = known.cost.instructions * step / known.cost.units.max(1);
            if per_change > seen.instructions {
                return speed(&progress, known.cost);
            }
            let cost = self.loops.refine(position.thread.0, register, changed_at, seen)?;
            return speed(&progress, cost);
        }
        speed(&progress, known.cost)
    }

    /// Chooses a known loop: rather one whose register is sure to be in progress, then one whose register changes by
    /// equal steps, then the one seen to change most often. What changes by unequal steps may go faster and faster.
    fn known_loop(
        &self,
        position: &Position,
        way: &Way,
        function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<(Progress, &Measured)> {
        let functions = way.functions(function_at);
        let known = functions.iter().flat_map(|function| {
            let begin = function.steps().first().map_or(0, Step::address);
            let progress = self.progress(position, begin);
            progress.into_iter().filter_map(|progress| {
                let mut instructions = way.until_written(progress.register, function);
                let known = instructions.find_map(|instruction| {
                    self.loops
                        .measured(position.thread.0, progress.register, instruction)
                });
                Some((progress, known?))
            })
        });
        known.max_by_key(|(progress, known)| {
            (
                progress.is_sure,
                known.step.is_some(),
                known.cost.units / known.step.unwrap_or(u64::MAX).max(1),
            )
        })
    }

    /// The same, by executing the instructions that follow.
    pub fn by_execution<S: MemorySource>(
        &mut self,
        position: &Position,
        look: Look,
        memory: &mut Memory<S>,
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let Position { place, registers, .. } = *position;
        let moments = self
            .histories
            .until(position.time_ns, position.thread, place.function);
        // The changes of registers in another loop say nothing of this one.
        if moments.last()?.loop_begin != place.begin {
            return None;
        }
        let progress = progress::progressing(&moments);
        let failures = progress
            .iter()
            .map(|one| self.loops.failures(place, one.register, look));
        if failures.min()? >= look.failures() {
            return None;
        }
        let mut watch = Watch::new(&progress, registers.general);
        self.directions.begin(place.pid);
        look_ahead(
            &registers,
            look.instructions(),
            memory,
            &mut self.directions,
            &mut watch,
            &mut function_at,
        );
        self.learn(place, look, &watch, function_at)
    }

    fn learn(
        &mut self,
        place: Place,
        look: Look,
        watch: &Watch,
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let found = watch.found();
        for progress in watch.progress() {
            if !found.iter().any(|found| found.progress == *progress) {
                self.loops.note_failure(place, progress.register, look);
            }
        }
        let mut costs = Vec::new();
        for one in &found {
            let function = function_at(one.changed_at)?;
            let path = watch.path_of(one).iter().copied();
            let cost = self.loops.add(Measured {
                pid: place.pid,
                register: one.progress.register,
                changed_at: one.changed_at,
                step: one.step,
                code: path
                    .filter(|address| function.index_at(*address).is_some())
                    .collect(),
                cost: one.cost,
            });
            costs.push((one, cost));
        }
        let (best, cost) = costs
            .into_iter()
            .max_by_key(|(one, _)| (one.progress.is_sure, one.step.is_some(), one.changes))?;
        speed(&best.progress, cost)
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.histories.forget(pid);
        self.loops.forget(pid);
        self.directions.forget(pid);
    }
}

impl Look {
    fn instructions(self) -> u32 {
        match self {
            Look::Short => 2_000,
            Look::Long => 20_000,
        }
    }

    /// After so many it isn't tried any more.
    fn failures(self) -> u32 {
        match self {
            Look::Short => 2,
            Look::Long => 4,
        }
    }
}

/// Instructions in a millisecond; none if no processor is as fast, or it rounds to none.
fn speed(progress: &Progress, cost: UnitCost) -> Option<u32> {
    let per_unit = cost.instructions as f64 / cost.units as f64;
    let speed = (progress.units_per_ms.abs() * per_unit).round();
    (1.0..TOO_FAST).contains(&speed).then_some(speed as u32)
}
