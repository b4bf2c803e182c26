//! How fast threads run where windows begin: instructions in their CPU time, by what loops do to registers.
//!
//! Counters and pointers of a loop move on from sample to sample; executing the instructions from a sample on shows how
//! many of them a unit takes. Both together are a speed. Where memory decides which way a loop goes, it isn't asked: what
//! the loop did before may have changed that memory.

mod history;
mod loops;
mod progress;
#[cfg(test)]
mod tests;
mod watch;
mod way;

pub use progress::Progress;
pub use way::Way;

use std::rc::Rc;

use crate::code::Function;
use crate::loop_times::Place;
use crate::record::PerfSample;
use crate::registers::{Registers, STACK_POINTER};
use crate::window::{look_ahead, Directions, Memory, StackMemory};
use history::Histories;
use loops::{KnownLoops, FAILURES};
use watch::{Found, UnitCost, Watch};

/// Instructions in a millisecond that no processor executes: more than 8 in a cycle of 6 GHz.
const TOO_FAST: f64 = 50e6;
/// Instructions that are executed to find how many a loop takes, at first and where that was too few.
const FIRST_LOOK: u32 = 2_000;
const LONGEST_LOOK: u32 = 20_000;

/// What is known of how fast threads run.
#[derive(Default)]
pub struct Speeds {
    histories: Histories,
    loops: KnownLoops,
    memory: Memory<StackMemory>,
    directions: Directions,
}

impl Speeds {
    /// Which registers of the last sample's thread are in progress there. All samples but these were noted before.
    pub fn progress(&self, samples: &[&PerfSample]) -> Vec<Progress> {
        progress::progressing(&self.histories.until_last(samples))
    }

    /// Samples whose windows were made.
    pub fn note(&mut self, samples: &[&PerfSample]) {
        self.histories.note(samples);
    }

    /// Instructions in a millisecond, if the way leads through a loop that was measured often enough.
    pub fn by_known_loop(&self, pid: u32, progress: &[Progress], way: &Way) -> Option<u32> {
        let mut known = progress.iter().filter_map(|progress| {
            let mut instructions = way.until_written(progress.register);
            let cost = instructions
                .find_map(|instruction| self.loops.measured(pid, progress.register, instruction))?;
            speed(progress, cost)
        });
        known.next()
    }

    /// The same by executing what follows the sample, which was seen in that loop.
    pub fn by_execution(
        &mut self,
        place: Place,
        registers: &Registers,
        progress: &[Progress],
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let failures = progress
            .iter()
            .map(|progress| self.loops.failures(place, progress.register));
        let limit = match failures.min()? {
            0 => FIRST_LOOK,
            1..FAILURES => LONGEST_LOOK,
            _ => return None,
        };
        let mut watch = Watch::new(progress, registers.general);
        self.memory
            .begin(StackMemory::of(place.pid, registers.general[STACK_POINTER]));
        self.directions.begin(place.pid);
        look_ahead(
            registers,
            limit,
            &mut self.memory,
            &mut self.directions,
            &mut watch,
            &mut function_at,
        );
        self.learn(place, &watch, function_at)
    }

    fn learn(
        &mut self,
        place: Place,
        watch: &Watch,
        mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    ) -> Option<u32> {
        let found = watch.found();
        for progress in watch.progress() {
            if !found.iter().any(|found| found.progress == *progress) {
                self.loops.note_failure(place, progress.register);
            }
        }
        for one in &found {
            let function = function_at(one.changed_at)?;
            let path = watch.path_of(one).iter().copied();
            let code = path.filter(|address| function.index_at(*address).is_some());
            self.loops
                .add(place.pid, one.progress.register, one.changed_at, code, one.cost);
        }
        let best = best(&found)?;
        let cost = self
            .loops
            .cost(place.pid, best.progress.register, best.changed_at)?;
        speed(&best.progress, cost)
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.histories.forget(pid);
        self.loops.forget(pid);
        self.directions.forget(pid);
    }
}

/// What changed oftenest says most.
fn best(found: &[Found]) -> Option<&Found> {
    found.iter().max_by_key(|found| found.changes)
}

/// Instructions in a millisecond; none if no processor is as fast, or it rounds to none.
fn speed(progress: &Progress, cost: UnitCost) -> Option<u32> {
    let per_unit = cost.instructions as f64 / cost.units as f64;
    let speed = (progress.units_per_ms.abs() * per_unit).round();
    (1.0..TOO_FAST).contains(&speed).then_some(speed as u32)
}
