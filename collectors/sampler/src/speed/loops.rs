//! Loops of which is known how many instructions they take for each unit of a register.

use std::collections::{HashMap, HashSet};

use super::watch::UnitCost;
use crate::loop_times::Place;

/// Loops that are kept; with more, all are found again.
const LOOPS: usize = 1024;
/// How often a loop is measured: what its iterations take may differ.
const MEASUREMENTS: u32 = 2;
/// After so many failures it isn't tried any more.
pub const FAILURES: u32 = 4;

#[derive(Debug)]
struct Loop {
    pid: u32,
    register: usize,
    /// Its instructions in the function that changes the register.
    code: HashSet<u64>,
    cost: UnitCost,
    measurements: u32,
}

/// Loops of all processes.
#[derive(Debug, Default)]
pub struct KnownLoops {
    loops: Vec<Loop>,
    /// By the loop in which the thread was seen, and register.
    failures: HashMap<(Place, usize), u32>,
}

impl KnownLoops {
    /// Of the loop that an instruction belongs to, if it was measured often enough.
    pub fn measured(&self, pid: u32, register: usize, instruction: u64) -> Option<UnitCost> {
        let known = self.find(pid, register, instruction)?;
        (known.measurements >= MEASUREMENTS).then_some(known.cost)
    }

    /// The same, however often it was measured.
    pub fn cost(&self, pid: u32, register: usize, instruction: u64) -> Option<UnitCost> {
        self.find(pid, register, instruction).map(|known| known.cost)
    }

    fn find(&self, pid: u32, register: usize, instruction: u64) -> Option<&Loop> {
        self.loops
            .iter()
            .find(|known| known.is(pid, register, instruction))
    }

    /// A loop was measured.
    pub fn add(
        &mut self,
        pid: u32,
        register: usize,
        changed_at: u64,
        code: impl Iterator<Item = u64>,
        cost: UnitCost,
    ) {
        if let Some(known) = self
            .loops
            .iter_mut()
            .find(|known| known.is(pid, register, changed_at))
        {
            known.code.extend(code);
            known.cost.instructions += cost.instructions;
            known.cost.units += cost.units;
            known.measurements += 1;
            return;
        }
        if self.loops.len() == LOOPS {
            self.loops.clear();
        }
        self.loops.push(Loop {
            pid,
            register,
            code: code.collect(),
            cost,
            measurements: 1,
        });
    }

    /// How often executing what follows didn't say how many instructions a loop takes for a register.
    pub fn failures(&self, place: Place, register: usize) -> u32 {
        let failures = self.failures.get(&(place, register));
        failures.copied().unwrap_or(0)
    }

    pub fn note_failure(&mut self, place: Place, register: usize) {
        *self.failures.entry((place, register)).or_default() += 1;
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.loops.retain(|known| known.pid != pid);
        self.failures.retain(|(place, _), _| place.pid != pid);
    }
}

impl Loop {
    fn is(&self, pid: u32, register: usize, instruction: u64) -> bool {
        (self.pid, self.register) == (pid, register) && self.code.contains(&instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: UnitCost = UnitCost {
        instructions: 300,
        units: 10,
    };

    #[test]
    fn measurements_of_a_loop_add_up() {
        let mut loops = KnownLoops::default();
        loops.add(1, 3, 0x1008, [0x1000, 0x1008].into_iter(), COST);
        assert_eq!(loops.measured(1, 3, 0x1000), None, "once isn't enough");
        assert_eq!(loops.cost(1, 3, 0x1000), Some(COST));
        loops.add(1, 3, 0x1008, [0x1004, 0x1008].into_iter(), COST);
        let both = loops.measured(1, 3, 0x1004).unwrap();
        assert_eq!((both.instructions, both.units), (600, 20));
        let others = [(2, 3, 0x1000), (1, 5, 0x1000), (1, 3, 0x2000)];
        for (pid, register, instruction) in others {
            assert_eq!(loops.cost(pid, register, instruction), None);
        }
        loops.forget(1);
        assert_eq!(loops.cost(1, 3, 0x1000), None);
    }

    #[test]
    fn failures_are_counted() {
        let mut loops = KnownLoops::default();
        let place = |pid| Place { pid, begin: 0x1000 };
        (0..3).for_each(|_| loops.note_failure(place(1), 3));
        let failures = |pid, register| loops.failures(place(pid), register);
        assert_eq!((failures(1, 3), failures(1, 5), failures(2, 3)), (3, 0, 0));
    }
}
