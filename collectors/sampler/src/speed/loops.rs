//! Loops whose instructions for each unit of a register are known.

use std::collections::{HashMap, HashSet};

use super::loop_times::Place;
use super::watch::UnitCost;
use super::Look;

/// Loops that are kept; with more, all are found again.
const LOOPS: usize = 1024;
/// How often a loop is measured: what its iterations take may differ.
const MEASUREMENTS: u32 = 2;

/// Instructions that determine a loop's cost: with more, earlier ones count half.
const LATEST: u64 = 1 << 13;

/// A loop that was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    pub pid: u32,
    /// That moves on, and the address of the instruction that changes it.
    pub register: usize,
    pub changed_at: u64,
    /// The change each time, if it is always the same.
    pub step: Option<u64>,
    /// Its instructions in the function that changes the register.
    pub code: HashSet<u64>,
    pub cost: UnitCost,
}

#[derive(Debug)]
struct Loop {
    is: Measured,
    measurements: u32,
}

/// Loops of all processes.
#[derive(Debug, Default)]
pub struct KnownLoops {
    loops: Vec<Loop>,
    /// Failures by the loop in which the thread was seen, the register, and how far was looked.
    failures: HashMap<(Place, usize, Look), u32>,
}

impl KnownLoops {
    /// The loop that an instruction belongs to, if it was measured often enough.
    pub fn measured(&self, pid: u32, register: usize, instruction: u64) -> Option<&Measured> {
        let known = self
            .loops
            .iter()
            .find(|known| known.has(pid, register, instruction))?;
        (known.measurements >= MEASUREMENTS).then_some(&known.is)
    }

    /// A loop was measured; returns what it costs by all measurements.
    pub fn add(&mut self, measured: Measured) -> UnitCost {
        let (pid, register, changed_at) = (measured.pid, measured.register, measured.changed_at);
        let known = self
            .loops
            .iter_mut()
            .find(|known| known.has(pid, register, changed_at));
        if let Some(known) = known {
            known.is.code.extend(measured.code);
            known.is.step = known.is.step.filter(|step| measured.step == Some(*step));
            known.is.cost.add(measured.cost);
            known.measurements += 1;
            return known.is.cost;
        }
        if self.loops.len() == LOOPS {
            self.loops.clear();
        }
        let cost = measured.cost;
        self.loops.push(Loop {
            is: measured,
            measurements: 1,
        });
        cost
    }

    /// A thread was seen to execute a known loop for so many units; returns what it costs by all.
    pub fn refine(&mut self, pid: u32, register: usize, changed_at: u64, cost: UnitCost) -> Option<UnitCost> {
        let mut loops = self.loops.iter_mut();
        let known = &mut loops.find(|known| known.has(pid, register, changed_at))?.is.cost;
        known.add(cost);
        if known.instructions > LATEST && known.units > 1 {
            known.halve();
        }
        Some(*known)
    }

    /// The register turned out to change by other steps, too.
    pub fn note_unequal(&mut self, pid: u32, register: usize, changed_at: u64) {
        let mut loops = self.loops.iter_mut();
        if let Some(known) = loops.find(|known| known.has(pid, register, changed_at)) {
            known.is.step = None;
        }
    }

    /// How often executing what follows didn't say how many instructions a loop takes for a register.
    pub fn failures(&self, place: Place, register: usize, look: Look) -> u32 {
        let failures = self.failures.get(&(place, register, look));
        failures.copied().unwrap_or(0)
    }

    pub fn note_failure(&mut self, place: Place, register: usize, look: Look) {
        *self.failures.entry((place, register, look)).or_default() += 1;
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.loops.retain(|known| known.is.pid != pid);
        self.failures.retain(|(place, ..), _| place.pid != pid);
    }
}

impl Loop {
    fn has(&self, pid: u32, register: usize, instruction: u64) -> bool {
        (self.is.pid, self.is.register) == (pid, register) && self.is.code.contains(&instruction)
    }
}

impl UnitCost {
    fn add(&mut self, other: UnitCost) {
        self.instructions += other.instructions;
        self.units += other.units;
    }

    fn halve(&mut self) {
        self.instructions /= 2;
        self.units /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loop_of(code: [u64; 2]) -> Measured {
        Measured {
            pid: 1,
            register: 3,
            changed_at: 0x1008,
            step: Some(1),
            code: code.into(),
            cost: UnitCost {
                instructions: 300,
                units: 10,
            },
        }
    }

    fn cost(loops: &KnownLoops, instruction: u64) -> Option<(u64, u64)> {
        let known = loops.measured(1, 3, instruction)?;
        Some((known.cost.instructions, known.cost.units))
    }

    #[test]
    fn measurements_of_a_loop_add_up() {
        let mut loops = KnownLoops::default();
        assert_eq!(loops.add(loop_of([0x1000, 0x1008])).units, 10);
        assert_eq!(cost(&loops, 0x1000), None, "once isn't enough");
        assert_eq!(loops.add(loop_of([0x1004, 0x1008])).units, 20);
        assert_eq!(cost(&loops, 0x1004), Some((600, 20)));
        for (pid, register, instruction) in [(2, 3, 0x1000), (1, 5, 0x1000), (1, 3, 0x2000)] {
            assert!(loops.measured(pid, register, instruction).is_none());
        }
        loops.forget(1);
        assert_eq!(cost(&loops, 0x1000), None);
    }

    #[test]
    fn a_loop_is_what_it_was_lately() {
        let mut loops = KnownLoops::default();
        loops.add(loop_of([0x1000, 0x1008]));
        loops.add(loop_of([0x1000, 0x1008]));
        let seen = UnitCost {
            instructions: 256,
            units: 2,
        };
        (0..1000).for_each(|_| _ = loops.refine(1, 3, 0x1008, seen));
        let (instructions, units) = cost(&loops, 0x1000).unwrap();
        assert!(
            (120..=136).contains(&(instructions / units)),
            "{instructions} for {units}"
        );
    }

    #[test]
    fn steps_that_differ_are_none() {
        let mut loops = KnownLoops::default();
        loops.add(loop_of([0x1000, 0x1008]));
        loops.add(Measured {
            step: Some(2),
            ..loop_of([0x1000, 0x1008])
        });
        assert_eq!(loops.measured(1, 3, 0x1000).unwrap().step, None);
    }

    #[test]
    fn failures_are_counted() {
        let mut loops = KnownLoops::default();
        let place = |pid| Place {
            pid,
            begin: 0x1000,
            function: 0x1000,
            written: u16::MAX,
        };
        (0..3).for_each(|_| loops.note_failure(place(1), 3, Look::Short));
        let failures = |pid, register| loops.failures(place(pid), register, Look::Short);
        assert_eq!((failures(1, 3), failures(1, 5), failures(2, 3)), (3, 0, 0));
        assert_eq!(loops.failures(place(1), 3, Look::Long), 0);
    }
}
