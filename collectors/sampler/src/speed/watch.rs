//! How many instructions a loop takes for each unit by which a register moves on.

use super::progress::Progress;
use crate::code::Step;
use crate::window::{Observer, Value};

/// Changes of a register that say how many instructions lie between them.
const LEAST_CHANGES: u32 = 2;
/// Where steps differ, more are needed.
const LEAST_UNEQUAL: u32 = 8;
/// More need not be seen.
const ENOUGH: u32 = 16;

/// Instructions between changes of a register, and the sum of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnitCost {
    pub instructions: u64,
    pub units: u64,
}

/// A register whose changes were seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub progress: Progress,
    pub cost: UnitCost,
    /// Address of the instruction that changes it.
    pub changed_at: u64,
    pub changes: u32,
    /// The change each time, if it is always the same.
    pub step: Option<u64>,
    /// Instructions, by their number, from the first change to the last.
    from: u32,
    to: u32,
}

/// Watches registers that are in progress while instructions are executed, until it knows enough, or until the way isn't
/// sure any more.
#[derive(Debug)]
pub struct Watch<'p> {
    progress: &'p [Progress],
    watched: u16,
    /// The sample's registers.
    start: [u64; 16],
    writes: Vec<Write>,
    /// Addresses of what was executed.
    path: Vec<u64>,
}

impl<'p> Watch<'p> {
    pub fn new(progress: &'p [Progress], start: [u64; 16]) -> Self {
        let watched = progress.iter().fold(0, |bits, one| bits | 1 << one.register);
        Watch {
            progress,
            watched,
            start,
            writes: Vec::new(),
            path: Vec::new(),
        }
    }

    pub fn progress(&self) -> &[Progress] {
        self.progress
    }

    /// What was executed between the changes of a register.
    pub fn path_of(&self, found: &Found) -> &[u64] {
        &self.path[found.from as usize..found.to as usize]
    }

    /// What was found of each register, by the instruction that changed it most often.
    pub fn found(&self) -> Vec<Found> {
        let executed = self.path.len() as u32;
        let of = |progress: &Progress| {
            let start = self.start[progress.register];
            let of_register = self
                .writes
                .iter()
                .filter(|write| write.register == progress.register);
            let known = of_register.filter(|write| write.is_progress(start, executed));
            let best = known.max_by_key(|write| write.changes)?;
            Some(Found {
                progress: *progress,
                cost: best.cost(),
                changed_at: best.address,
                changes: best.changes,
                step: best.is_equal.then_some(best.step.unsigned_abs()),
                from: best.first.0,
                to: best.last.0,
            })
        };
        self.progress.iter().filter_map(of).collect()
    }

    /// Whether that is enough.
    fn note(&mut self, progress: Progress, address: u64, value: Value) -> bool {
        let register = progress.register;
        let mut writes = self.writes.iter_mut();
        let known = writes.find(|write| (write.register, write.address) == (register, address));
        let now = (self.path.len() as u32, value.bits);
        match known {
            Some(write) => {
                write.go_on(now, value.is_known, progress.units_per_ms > 0.0);
                write.changes >= ENOUGH && !write.is_other
            }
            None => {
                self.writes
                    .push(Write::first(register, address, now, value.is_known));
                false
            }
        }
    }
}

impl Observer for Watch<'_> {
    fn executed(&mut self, step: &Step, registers: &[Value; 17], is_way_sure: bool) -> bool {
        let mut is_enough = false;
        if step.written & self.watched != 0 {
            for progress in self.progress {
                if step.writes(progress.register) {
                    is_enough |= self.note(*progress, step.address(), registers[progress.register]);
                }
            }
        }
        self.path.push(step.address());
        is_way_sure && !is_enough
    }
}

/// What an instruction wrote to a register.
#[derive(Clone, Copy, Debug)]
struct Write {
    register: usize,
    address: u64,
    /// Instructions executed before, and the value: of the first time, and of the last.
    first: (u32, u64),
    last: (u32, u64),
    /// The change from the first time to the second, and whether all later ones were equal.
    step: i64,
    is_equal: bool,
    changes: u32,
    /// It went back, or isn't known: it is something else.
    is_other: bool,
}

impl Write {
    fn first(register: usize, address: u64, now: (u32, u64), is_known: bool) -> Self {
        Write {
            register,
            address,
            first: now,
            last: now,
            step: 0,
            is_equal: true,
            changes: 0,
            is_other: !is_known,
        }
    }

    fn go_on(&mut self, now: (u32, u64), is_known: bool, is_upwards: bool) {
        let step = now.1.wrapping_sub(self.last.1) as i64;
        self.is_other |= !is_known || (step < 0) == is_upwards && step != 0;
        if step == 0 || self.is_other {
            return;
        }
        if self.changes == 0 {
            self.step = step;
        }
        self.is_equal &= step == self.step;
        self.changes += 1;
        self.last = now;
    }

    /// Whether it goes on from the sample's value, and to the end: else the register holds something else.
    fn is_progress(&self, start: u64, executed: u32) -> bool {
        let least = if self.is_equal {
            LEAST_CHANGES
        } else {
            LEAST_UNEQUAL
        };
        let lasts = 2 * u64::from(self.last.0) >= u64::from(executed);
        self.changes >= least && !self.is_other && self.begins_near(start) && lasts
    }

    /// Whether the first value lies no farther from the sample's than two usual steps, and after it.
    fn begins_near(&self, start: u64) -> bool {
        let units = i128::from(self.last.1.wrapping_sub(self.first.1) as i64);
        let before = i128::from(self.first.1.wrapping_sub(start) as i64);
        before.signum() * units.signum() >= 0 && before.abs() * i128::from(self.changes) <= 2 * units.abs()
    }

    fn cost(&self) -> UnitCost {
        UnitCost {
            instructions: u64::from(self.last.0 - self.first.0),
            units: (self.last.1.wrapping_sub(self.first.1) as i64).unsigned_abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An instruction that writes these values, each of ten instructions one.
    fn written(values: &[u64], is_upwards: bool) -> Write {
        let mut numbered = (0..).step_by(10).zip(values.iter().copied());
        let mut write = Write::first(3, 0x1000, numbered.next().unwrap(), true);
        numbered.for_each(|now| write.go_on(now, true, is_upwards));
        write
    }

    #[test]
    fn instructions_lie_between_changes() {
        let write = written(&[100, 104, 108, 112], true);
        assert!(write.is_progress(96, 40));
        let cost = UnitCost {
            instructions: 30,
            units: 12,
        };
        assert_eq!((write.cost(), write.changes), (cost, 3));
        let downwards = written(&[100, 96, 92], false);
        assert!(downwards.is_progress(104, 30) && !downwards.is_progress(96, 30));
        assert_eq!(downwards.cost().units, 8);
    }

    #[test]
    fn unequal_steps_take_more_of_them() {
        assert!(!written(&[0, 3, 4, 9], true).is_progress(0, 40));
        assert!(written(&[0, 3, 4, 9, 10, 11, 17, 18, 20], true).is_progress(0, 90));
        assert!(
            !written(&[0, 3], true).is_progress(0, 20),
            "one change says nothing"
        );
    }

    #[test]
    fn another_thing_in_the_register_is_no_progress() {
        assert!(
            !written(&[0, 4, 8, 0, 4, 8, 12], true).is_progress(0, 70),
            "it went back"
        );
        assert!(
            !written(&[500, 504, 508], true).is_progress(0, 30),
            "it began elsewhere"
        );
        assert!(!written(&[0, 4, 8], true).is_progress(0, 1000), "it ended");
        let mut unknown = written(&[0, 4, 8], true);
        unknown.go_on((30, 0), false, true);
        assert!(!unknown.is_progress(0, 40));
    }
}
