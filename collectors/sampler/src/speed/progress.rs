//! Which registers move on with time, as counters and pointers of the loop that a thread is in do.

use std::ops::RangeInclusive;

use super::history::Moment;
use crate::registers::STACK_POINTER;

/// Which steps from sample to sample are progress.
struct Steadiness {
    /// So many at least.
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

/// A register that moves on with time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Its index among the general ones.
    pub register: usize,
    /// By how much, in a millisecond of the thread's CPU time; below 0: downwards.
    pub units_per_ms: f64,
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
        let (mut sum, mut ran_ns, mut steps) = (0.0, 0.0, 0);
        for pair in moments.windows(2).rev() {
            let step = pair[1].general[register].wrapping_sub(pair[0].general[register]) as i64 as f64;
            let step_ns = pair[1].ran_ns.saturating_sub(pair[0].ran_ns) as f64;
            let times = (step / step_ns) / (sum / ran_ns);
            let is_first = steps == 0;
            if step == 0.0 || step_ns == 0.0 || !is_first && !self.times.contains(&times) {
                break;
            }
            sum += step;
            ran_ns += step_ns;
            steps += 1;
        }
        (steps >= self.steps).then(|| Progress {
            register,
            units_per_ms: sum / ran_ns * 1e6,
        })
    }
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
