//! Finds registers that move on with time, as counters and pointers of the loop that a thread is in do.

use std::ops::RangeInclusive;

use super::history::Moment;
use crate::registers::STACK_POINTER;

/// The steps from sample to sample that are progress.
struct Steadiness {
    /// The least number of steps.
    steps: usize,
    /// Each, for the time that its sample stands for, so many times the mean of the later ones.
    times: RangeInclusive<f64>,
}

const EVEN: Steadiness = Steadiness {
    steps: 4,
    times: 0.5..=2.0,
};
/// Between samples threads may be in the kernel, whose time no sample stands for: then steps differ, and only more of them
/// say something.
const UNEVEN: Steadiness = Steadiness {
    steps: 6,
    times: 0.0..=10.0,
};

/// Steps of a register whose loop was left meanwhile say little: it may have begun anew, or gone on.
const UNSURE_STEPS: usize = 12;

/// A register that moves on with time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Its index among the general ones.
    pub register: usize,
    /// The change in a millisecond of the thread's CPU time; below 0: downwards.
    pub units_per_ms: f64,
    /// Whether it belongs to a loop that wasn't left meanwhile, or to one around it.
    pub is_sure: bool,
}

/// Registers that moved in one direction up to the last moment, by similar amounts in the same time, or for longer. What
/// counts an inner loop begins again between two samples: its values are as good as drawn by chance.
pub fn progressing(moments: &[Moment]) -> Vec<Progress> {
    let registers = (0..16).filter(|register| *register != STACK_POINTER);
    let progress = |register| {
        EVEN.of(register, moments)
            .or_else(|| UNEVEN.of(register, moments))
    };
    registers.filter_map(progress).collect()
}

impl Steadiness {
    fn of(&self, register: usize, moments: &[Moment]) -> Option<Progress> {
        let mut course = Course::default();
        let steps = moments
            .windows(2)
            .rev()
            .map(|pair| Step::of(register, &pair[0], &pair[1]));
        for step in steps {
            if !course.goes_on(&step, &self.times) {
                break;
            }
        }
        let least = if course.is_sure { self.steps } else { UNSURE_STEPS };
        (course.steps >= least).then(|| Progress {
            register,
            units_per_ms: course.units / course.ran_ns * 1e6,
            is_sure: course.is_sure,
        })
    }
}

/// The change of a register from one moment to the next.
struct Step {
    units: f64,
    ran_ns: f64,
    /// The loop in which the thread was doesn't write it: it may change about as often as samples are taken.
    is_outer: bool,
    is_sure: bool,
}

impl Step {
    fn of(register: usize, before: &Moment, after: &Moment) -> Self {
        let is_outer = !is_of_inner(register, before, after);
        Step {
            units: after.general[register].wrapping_sub(before.general[register]) as i64 as f64,
            ran_ns: after.ran_ns.saturating_sub(before.ran_ns) as f64,
            is_outer,
            is_sure: is_outer || !began_anew(before, after),
        }
    }
}

/// Steady steps, from the last one back.
struct Course {
    units: f64,
    ran_ns: f64,
    /// The steps that lead on.
    steps: usize,
    was_still: bool,
    is_sure: bool,
}

impl Default for Course {
    fn default() -> Self {
        Course {
            units: 0.0,
            ran_ns: 0.0,
            steps: 0,
            was_still: false,
            is_sure: true,
        }
    }
}

impl Course {
    /// Takes the step before, if it belongs to them.
    fn goes_on(&mut self, step: &Step, times: &RangeInclusive<f64>) -> bool {
        let is_still = step.units == 0.0;
        let belongs = match is_still {
            true => step.is_outer && !self.was_still,
            false => {
                self.steps == 0 || times.contains(&((step.units / step.ran_ns) / (self.units / self.ran_ns)))
            }
        };
        if step.ran_ns == 0.0 || !belongs {
            return false;
        }
        self.units += step.units;
        self.ran_ns += step.ran_ns;
        self.steps += usize::from(!is_still);
        self.was_still = is_still;
        self.is_sure &= step.is_sure;
        true
    }
}

/// Whether a loop in which the thread was writes the register.
fn is_of_inner(register: usize, before: &Moment, after: &Moment) -> bool {
    (before.loop_writes | after.loop_writes) >> register & 1 != 0
}

/// Whether the thread left the loop between two moments: only then does a register change that the loop doesn't write. If
/// it takes about as long as from one sample to the next, what it counts is seen to move slowly up or down, as the spokes of
/// a wheel in a film do.
fn began_anew(before: &Moment, after: &Moment) -> bool {
    (0..16).any(|register| {
        !is_of_inner(register, before, after) && before.general[register] != after.general[register]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RBX: usize = 3;

    fn moments(values: impl IntoIterator<Item = u64>) -> Vec<Moment> {
        let moment = |(number, value): (u64, u64)| {
            let mut general = [7; 16];
            general[RBX] = value;
            Moment {
                general,
                loop_writes: 1 << RBX,
                ran_ns: number * 200_000,
                ..Moment::default()
            }
        };
        (1..).zip(values).map(moment).collect()
    }

    #[test]
    fn counters_of_the_outer_loop_are_found() {
        let upwards = progressing(&moments([1, 100, 210, 290, 400, 505]));
        let [found] = upwards[..] else {
            panic!("{upwards:?}");
        };
        assert_eq!(found.register, RBX);
        assert!((found.units_per_ms - 504.0).abs() < 1e-9, "{found:?}");
        let downwards = progressing(&moments([500, 400, 300, 200, 100]));
        assert_eq!(downwards[0].units_per_ms, -500.0);
    }

    #[test]
    fn a_loop_that_began_lately_counts_from_its_begin() {
        let found = progressing(&moments([9_000_000, 17, 5_000_000, 100, 200, 300, 400, 500]));
        assert_eq!(found[0].units_per_ms, 500.0);
        assert_eq!(
            progressing(&moments([9_000_000, 5_000_000, 100, 200, 300, 400])),
            []
        );
    }

    #[test]
    fn a_loop_that_is_often_in_the_kernel_takes_more_samples() {
        // Page faults: the time between samples is up to eight times that for which they stand.
        let values = [10, 11, 18, 20, 21, 29, 31];
        let found = progressing(&moments(values));
        assert!(
            (found[0].units_per_ms - 21.0 / 6.0 * 5.0).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!(progressing(&moments(values[1..].iter().copied())), []);
    }

    #[test]
    fn what_counts_inner_loops_is_not_taken() {
        // A counter to 1024 that is seen at moments which have nothing to do with it.
        let mut state = 1u64;
        let mut taken = 0;
        for _ in 0..10_000 {
            let values = (0..16).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 54
            });
            taken += progressing(&moments(values.collect::<Vec<u64>>())).len();
        }
        assert!(taken < 20, "{taken}");
        assert_eq!(progressing(&moments([10, 500, 990, 456, 946, 412, 902])), []);
    }

    const RCX: usize = 1;

    /// A loop that counts RBX takes 0.9 times as long as the time between samples, and one around it counts RCX.
    fn nested(count: u64, other_writes: u16) -> Vec<Moment> {
        let moment = |number: u64| {
            let parts = number as f64 * 1.12;
            let mut general = [7; 16];
            general[RBX] = (parts.fract() * 1000.0) as u64;
            general[RCX] = parts as u64;
            Moment {
                general,
                loop_writes: 1 << RBX | other_writes,
                ran_ns: number * 200_000,
                ..Moment::default()
            }
        };
        (1..=count).map(moment).collect()
    }

    #[test]
    fn a_loop_that_begins_anew_for_each_sample_is_not_counted_by_its_own_counter() {
        // It rises by .12 of its range: the last eight samples are one rise.
        let rising = nested(16, 0);
        assert!(rising[8..].is_sorted_by_key(|moment| moment.general[RBX]));
        let [found] = progressing(&rising)[..] else {
            panic!("{:?}", progressing(&rising));
        };
        assert_eq!((found.register, found.is_sure), (RCX, true));
        assert!((5.0..6.2).contains(&found.units_per_ms), "{found:?}");
        let blind = progressing(&nested(16, 1 << RCX));
        assert!(
            blind.iter().any(|one| one.register == RBX),
            "unless nothing tells that it began anew: {blind:?}"
        );
    }

    #[test]
    fn what_goes_on_when_a_loop_begins_anew_takes_more_samples() {
        let continued = |count| {
            let mut moments = nested(count, 0);
            (0..)
                .zip(&mut moments)
                .for_each(|(number, moment)| moment.general[RBX] = number * 50);
            progressing(&moments).into_iter().find(|one| one.register == RBX)
        };
        assert_eq!(continued(12), None);
        let found = continued(13).unwrap();
        assert_eq!((found.units_per_ms, found.is_sure), (250.0, false));
    }

    #[test]
    fn an_outer_counter_may_stand_still_from_one_sample_to_the_next() {
        let of = |values: &[u64]| {
            let mut moments = moments(values.iter().copied());
            moments.iter_mut().for_each(|moment| moment.loop_writes = 0);
            progressing(&moments)
        };
        let found = of(&[1, 2, 2, 3, 4, 4, 5]);
        assert!(
            (found[0].units_per_ms - 4.0 / 6.0 * 5.0).abs() < 1e-9,
            "{found:?}"
        );
        assert_eq!(of(&[1, 2, 3, 4, 5, 5, 5]), [], "it doesn't move any more");
    }

    #[test]
    fn what_stands_still_or_the_stack_is_no_progress() {
        assert_eq!(progressing(&moments([5; 16])), []);
        let mut all = moments([5; 6]);
        for (depth, moment) in (0..).zip(&mut all) {
            moment.general[STACK_POINTER] = 0x7000 - depth * 64;
        }
        assert_eq!(progressing(&all), []);
        assert_eq!(progressing(&[]), []);
    }
}
