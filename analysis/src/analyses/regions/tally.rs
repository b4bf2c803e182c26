//! Sums of counts.

use std::collections::HashMap;
use std::ops::AddAssign;

use super::accesses::Accesses;
use super::hardware::Hardware;
use super::rates::{megabytes_per_second, Rates, Sample, Steps};
use super::stratum::Stratum;
use trackway_trace::{SiteId, StepCosts, StringId};

/// A region of interest, in all threads and wherever it was entered.
#[derive(Debug, Clone, Default)]
pub struct Region {
    pub name: String,
    /// Threads in the order of their streams.
    pub threads: Vec<ThreadTally>,
    pub code: Code,
}

/// What a thread did in a region.
#[derive(Debug, Clone, Default)]
pub struct ThreadTally {
    pub stream: u32,
    pub process: u32,
    /// The kernel's id.
    pub thread: u32,
    pub totals: Totals,
}

/// Numbers of a region; each is defined in `docs/verbs/regions.md`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    pub entries: u64,
    pub counted_entries: u64,
    pub timed_entries: u64,
    /// How often a thread ran in the region without having entered it.
    pub inherited: u64,
    pub time_ns: u64,
    pub own_time_ns: u64,
    /// How long the entries lasted, in the threads that made them.
    pub entered_time_ns: u64,
    /// Time in calls of functions that aren't counted.
    pub external_time_ns: u64,
    /// Speed over the time of the entries.
    pub speed: Speed,
    /// Speed over the time of all threads, including those that inherited the region.
    pub speed_of_threads: Speed,
    /// Half the width of the confidence interval of the bytes, squared; none if it isn't known.
    pub bytes_uncertainty: Uncertainty,
    pub accesses: Accesses,
    /// Accesses of the counted entries alone.
    pub counted_accesses: Accesses,
    /// Steps of counting in the counted entries.
    pub counted_steps: Steps,
    /// Instructions as in [`trackway_trace::table::InstructionMix::to_array`].
    pub instructions: [u64; 8],
    pub hardware: Hardware,
}

/// Time over which bytes were accessed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Speed {
    /// The part of the own time that counted entries took.
    pub own_counted_time_ns: u64,
    /// Rates without the cost of counting.
    pub rates: Rates,
}

/// What was executed of the program.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// Blocks by their place in [`trackway_trace::Program::blocks`].
    pub blocks: HashMap<u32, BlockTally>,
    pub sites: HashMap<SiteId, Accesses>,
    /// Calls by the linkage name of the callee; empty if unknown.
    pub calls: HashMap<StringId, CallTally>,
}

/// Calls of a function that isn't counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTally {
    pub calls: u64,
    /// Calls that were timed, in counted entries.
    pub timed_calls: u64,
    /// Time of all calls.
    pub time_ns: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockTally {
    pub executions: u64,
    pub accesses: Accesses,
}

/// What the numbers rest on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Audit {
    pub threads: u64,
    pub nodes: u64,
    /// Nodes that their threads did not hand over. The node that ends with the process never is.
    pub tails: u64,
    /// Nodes of regions that were not left.
    pub open: u64,
    pub modules: u64,
    pub blocks: u64,
    /// Time of the threads, and the part of it outside of all regions.
    pub time_ns: u64,
    pub outside_ns: u64,
    /// Negative sums of counters, which count as 0.
    pub below_zero: u64,
    /// Nodes with entries of which none was counted.
    pub uncounted: u64,
}

impl AddAssign for CallTally {
    fn add_assign(&mut self, more: CallTally) {
        for (sum, more) in [
            (&mut self.calls, more.calls),
            (&mut self.timed_calls, more.timed_calls),
            (&mut self.time_ns, more.time_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

impl AddAssign for Speed {
    fn add_assign(&mut self, more: Speed) {
        self.own_counted_time_ns = self.own_counted_time_ns.saturating_add(more.own_counted_time_ns);
        self.rates += more.rates;
    }
}

impl AddAssign<&Totals> for Totals {
    fn add_assign(&mut self, more: &Totals) {
        for (sum, more) in [
            (&mut self.entries, more.entries),
            (&mut self.counted_entries, more.counted_entries),
            (&mut self.timed_entries, more.timed_entries),
            (&mut self.inherited, more.inherited),
            (&mut self.time_ns, more.time_ns),
            (&mut self.own_time_ns, more.own_time_ns),
            (&mut self.entered_time_ns, more.entered_time_ns),
            (&mut self.external_time_ns, more.external_time_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.accesses += more.accesses;
        self.counted_accesses += more.counted_accesses;
        self.speed += more.speed;
        self.speed_of_threads += more.speed_of_threads;
        self.bytes_uncertainty.add(more.bytes_uncertainty.0);
        self.hardware += more.hardware;
        for (sum, more) in self.instructions.iter_mut().zip(more.instructions) {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in self.counted_steps.iter_mut().zip(more.counted_steps) {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Half the width of a confidence interval, squared, so that it adds up; none if it isn't known of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uncertainty(Option<f64>);

impl Default for Uncertainty {
    fn default() -> Self {
        Uncertainty(Some(0.0))
    }
}

impl Uncertainty {
    fn add(&mut self, square: Option<f64>) {
        self.0 = self.0.zip(square).map(|(sum, more)| sum + more);
    }

    pub fn half_width(self) -> Option<f64> {
        self.0.map(f64::sqrt)
    }
}

impl Totals {
    pub fn add_entries(&mut self, stratum: &Stratum, is_outermost: bool) {
        let (time_ns, own_time_ns) = stratum.times_ns();
        if is_outermost {
            self.hardware += Hardware::of(stratum);
        }
        let time_ns = if is_outermost { time_ns } else { 0 };
        let own_counted_ns = stratum.counted.own_time_ns;
        for (sum, more) in [
            (&mut self.inherited, stratum.inherited.unwrap_or(0)),
            (&mut self.time_ns, time_ns),
            (&mut self.own_time_ns, own_time_ns),
            (&mut self.speed_of_threads.own_counted_time_ns, own_counted_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
        if stratum.inherited.is_some() {
            return;
        }
        for (sum, more) in [
            (&mut self.entries, stratum.entries),
            (&mut self.counted_entries, stratum.counted.entries),
            (&mut self.timed_entries, stratum.timed.entries),
            (&mut self.entered_time_ns, time_ns),
            (&mut self.speed.own_counted_time_ns, own_counted_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// What follows from the counted entries for the others, given the counts before them, entries and bytes of each
    /// group, and what counting costs.
    pub fn add_expectations(
        &mut self,
        stratum: &Stratum,
        before: &Totals,
        groups: &[(u64, u64)],
        costs: Option<&StepCosts>,
    ) {
        let mut steps = self.counted_steps;
        for (step, before) in steps.iter_mut().zip(before.counted_steps) {
            *step = step.saturating_sub(before);
        }
        let sample = Sample {
            stratum,
            accesses: self.accesses.since(&before.accesses),
            steps,
            costs,
            is_beside: false,
        };
        self.speed_of_threads.rates.add(&sample);
        self.speed.rates.add(&Sample {
            is_beside: stratum.inherited.is_some(),
            ..sample
        });
        let half_width = stratum.half_width(groups);
        self.bytes_uncertainty
            .add(half_width.map(|half_width| half_width * half_width));
    }
}

impl Totals {
    /// MB/s in counted entries.
    pub fn raw_rate(&self, bytes: fn(&Accesses) -> u64) -> Option<f64> {
        megabytes_per_second(bytes(&self.counted_accesses), self.speed.own_counted_time_ns)
    }

    /// MB/s, free of what counting costs.
    pub fn corrected_rate(&self, bytes: fn(&Accesses) -> u64) -> Option<f64> {
        self.speed.rates.rate(bytes)
    }

    /// Half the width of the confidence interval of the bytes over their number.
    pub fn bytes_uncertainty(&self) -> Option<f64> {
        let half_width = self.bytes_uncertainty.half_width()?;
        (self.accesses.bytes > 0).then(|| half_width / self.accesses.bytes as f64)
    }
}

impl Region {
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.threads.iter().for_each(|thread| totals += &thread.totals);
        totals
    }

    /// The greatest of the threads' numbers over their mean; none if all are 0.
    pub fn imbalance(&self, number: impl Fn(&Totals) -> u64) -> Option<f64> {
        let numbers = || self.threads.iter().map(|thread| number(&thread.totals));
        let sum: f64 = numbers().map(|number| number as f64).sum();
        let most = numbers().max()? as f64;
        (sum > 0.0).then(|| most * self.threads.len() as f64 / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imbalance_is_the_most_over_the_mean() {
        let thread = |time_ns| ThreadTally {
            totals: Totals {
                time_ns,
                ..Totals::default()
            },
            ..ThreadTally::default()
        };
        let imbalance = |times: &[u64]| {
            let region = Region {
                threads: times.iter().copied().map(thread).collect(),
                ..Region::default()
            };
            region.imbalance(|totals| totals.time_ns)
        };
        assert_eq!(imbalance(&[30, 10]), Some(1.5));
        assert_eq!(imbalance(&[5]), Some(1.0));
        assert_eq!(imbalance(&[0, 0]), None);
        assert_eq!(imbalance(&[]), None);
    }
}
