//! What samples of the last moments say of each thread, by the function in which it was.

use std::collections::{HashMap, VecDeque};

use trackway_perf_records::PerfSample;

use super::loop_times::Place;

/// Moments of a thread in a function that are kept: those of a drain, and those that are asked for before them.
const MOMENTS: usize = 48;
const LATEST: usize = 16;
/// Threads, and functions of each, that are kept; with more, all begin anew.
const THREADS: usize = 4096;
const FUNCTIONS: usize = 64;

/// A sample's general registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    pub general: [u64; 16],
    /// The thread's CPU time until then, as far as samples stand for it.
    pub ran_ns: u64,
    pub time_ns: u64,
    /// Where the loop begins in which it was.
    pub loop_begin: u64,
    /// And which registers that loop writes: a bit for each.
    pub loop_writes: u16,
}

#[derive(Debug, Default)]
struct History {
    ran_ns: u64,
    /// Moments by the address of the function: other functions have other things in the same registers.
    functions: HashMap<u64, VecDeque<Moment>>,
}

/// The latest moments of threads.
#[derive(Debug, Default)]
pub struct Histories(HashMap<(u32, u32), History>);

impl Histories {
    /// The latest moments up to that time of a thread of a process in the function that begins there, in their order.
    pub fn until(&self, time_ns: u64, thread: (u32, u32), function: u64) -> Vec<Moment> {
        let moments = self
            .0
            .get(&thread)
            .and_then(|history| history.functions.get(&function));
        let before = moments
            .into_iter()
            .flatten()
            .rev()
            .filter(|moment| moment.time_ns <= time_ns);
        let mut latest: Vec<Moment> = before.take(LATEST).copied().collect();
        latest.reverse();
        latest
    }

    /// A thread was sampled there.
    pub fn note(&mut self, sample: &PerfSample, place: Place) {
        let function = place.function;
        let thread = (sample.pid, sample.tid);
        if self.0.len() == THREADS && !self.0.contains_key(&thread) {
            self.0.clear();
        }
        let history = self.0.entry(thread).or_default();
        history.ran_ns = history.ran_ns.saturating_add(sample.period);
        let Some(registers) = sample.registers else {
            return;
        };
        if history.functions.len() == FUNCTIONS && !history.functions.contains_key(&function) {
            history.functions.clear();
        }
        let moments = history.functions.entry(function).or_default();
        if moments.len() == MOMENTS {
            moments.pop_front();
        }
        moments.push_back(Moment {
            general: registers.general,
            ran_ns: history.ran_ns,
            time_ns: sample.time_ns,
            loop_begin: place.begin,
            loop_writes: place.written,
        });
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.0.retain(|(process, _), _| *process != pid);
    }
}

#[cfg(test)]
mod tests {
    use trackway_perf_records::SampledRegisters;

    use super::*;

    const MAIN: Place = at(0x1000);
    const OTHER: Place = at(0x2000);

    const fn at(function: u64) -> Place {
        Place {
            pid: 1,
            begin: function + 16,
            function,
            written: u16::MAX,
        }
    }

    fn sample(tid: u32, value: u64) -> PerfSample {
        PerfSample {
            time_ns: value,
            pid: 1,
            tid,
            period: 100,
            registers: Some(SampledRegisters {
                general: [value; 16],
                ..SampledRegisters::default()
            }),
            ..PerfSample::default()
        }
    }

    fn of(histories: &Histories, tid: u32, place: Place) -> Vec<(u64, u64)> {
        let moments = histories.until(u64::MAX, (1, tid), place.function);
        moments
            .iter()
            .map(|moment| (moment.general[3], moment.ran_ns))
            .collect()
    }

    #[test]
    fn moments_in_a_function_lie_as_far_apart_as_the_thread_ran() {
        let mut histories = Histories::default();
        histories.note(&sample(1, 10), MAIN);
        histories.note(&sample(2, 0), MAIN);
        histories.note(&sample(1, 77), OTHER);
        histories.note(&sample(1, 20), MAIN);
        assert_eq!(of(&histories, 1, MAIN), [(10, 100), (20, 300)]);
        assert_eq!(of(&histories, 1, OTHER), [(77, 200)]);
        assert_eq!(of(&histories, 2, MAIN), [(0, 100)]);
        (21..=60).for_each(|value| histories.note(&sample(1, value), MAIN));
        let values = |until| {
            let moments = histories.until(until, (1, 1), MAIN.function);
            moments
                .iter()
                .map(|moment| moment.general[0])
                .collect::<Vec<u64>>()
        };
        assert_eq!(values(u64::MAX), (45..=60).collect::<Vec<u64>>());
        assert_eq!(values(40), (25..=40).collect::<Vec<u64>>());
        histories.forget(1);
        assert_eq!(of(&histories, 1, MAIN), []);
    }
}
