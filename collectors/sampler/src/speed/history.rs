//! What samples of the last moments say of each thread.

use std::collections::{HashMap, VecDeque};

use crate::record::PerfSample;

/// Moments of a thread that are kept.
const MOMENTS: usize = 16;
/// Threads that are kept; with more, all begin anew.
const THREADS: usize = 4096;

/// A sample's general registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    pub general: [u64; 16],
    /// The thread's CPU time since the moment before, as far as samples stand for it.
    pub ran_ns: u64,
}

/// The latest moments of threads.
#[derive(Debug, Default)]
pub struct Histories(HashMap<(u32, u32), VecDeque<Moment>>);

impl Histories {
    /// Moments of the thread of the last one of `samples`, up to that; the latest one comes last. All samples but these
    /// were noted before.
    pub fn until_last(&self, samples: &[&PerfSample]) -> Vec<Moment> {
        let Some(last) = samples.last() else {
            return Vec::new();
        };
        let thread = thread_of(last);
        let latest = samples.iter().rev().filter(|sample| thread_of(sample) == thread);
        let mut moments: Vec<Moment> = latest.take(MOMENTS).filter_map(|sample| moment(sample)).collect();
        let kept = self.0.get(&thread).into_iter().flatten().rev();
        moments.extend(kept.take(MOMENTS - moments.len()));
        moments.reverse();
        moments
    }

    pub fn note(&mut self, samples: &[&PerfSample]) {
        for sample in samples {
            let Some(moment) = moment(sample) else {
                continue;
            };
            let thread = thread_of(sample);
            if self.0.len() == THREADS && !self.0.contains_key(&thread) {
                self.0.clear();
            }
            let moments = self.0.entry(thread).or_default();
            if moments.len() == MOMENTS {
                moments.pop_front();
            }
            moments.push_back(moment);
        }
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.0.retain(|(process, _), _| *process != pid);
    }
}

fn thread_of(sample: &PerfSample) -> (u32, u32) {
    (sample.pid, sample.tid)
}

fn moment(sample: &PerfSample) -> Option<Moment> {
    let registers = sample.registers?;
    Some(Moment {
        general: registers.general,
        ran_ns: sample.period,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::Registers;

    fn sample(tid: u32, value: u64) -> PerfSample {
        PerfSample {
            pid: 1,
            tid,
            period: 100,
            registers: Some(Registers {
                general: [value; 16],
                ..Registers::default()
            }),
            ..PerfSample::default()
        }
    }

    fn values(moments: &[Moment]) -> Vec<u64> {
        moments.iter().map(|moment| moment.general[3]).collect()
    }

    #[test]
    fn moments_of_one_thread_run_on_from_drain_to_drain() {
        let mut histories = Histories::default();
        let first = [sample(1, 10), sample(2, 0), sample(1, 20)];
        histories.note(&first.each_ref());
        let second = [sample(1, 30), sample(2, 0), sample(1, 40), sample(1, 50)];
        let second = second.each_ref();
        assert_eq!(values(&histories.until_last(&second[..3])), [10, 20, 30, 40]);
        histories.note(&second);
        let many: Vec<PerfSample> = (1..=20).map(|value| sample(1, value)).collect();
        let many: Vec<&PerfSample> = many.iter().collect();
        assert_eq!(values(&histories.until_last(&many[..2]))[3..], [40, 50, 1, 2]);
        assert_eq!(
            values(&histories.until_last(&many)),
            (5..=20).collect::<Vec<u64>>()
        );
        histories.forget(1);
        assert_eq!(values(&histories.until_last(&many[..1])), [1]);
    }
}
