//! What threads do in regions of interest while they do it: differences between what was seen of their counts.

mod bins;
mod series;
mod thread;
mod traffic;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use trackway_trace::{Clock, Node, NodeCounts, NodePlace, Trace};

use super::origins::Origins;
pub use bins::Bins;
pub use series::{series, series_of_regions};
pub use thread::Activity;
use thread::{Progress, Thread};
use traffic::WeightsOfImages;

/// A node as it was seen at a moment.
#[derive(Debug, Clone, Copy)]
pub struct SeenNode<'c> {
    pub stream: u32,
    /// Number of the process in the trace.
    pub process: u32,
    pub pid: u32,
    /// Time at which its thread took it, in CLOCK_MONOTONIC nanoseconds.
    pub first_ns: u64,
    /// When it was seen.
    pub seen_ns: u64,
    /// The node is as its thread handed it over. What is seen later is older.
    pub is_final: bool,
    pub counts: &'c NodeCounts,
}

/// All threads that count, as far as they were seen.
#[derive(Debug, Default)]
pub struct LiveRegions {
    /// Threads by stream.
    threads: BTreeMap<u32, Thread>,
    weights: WeightsOfImages,
    totals: IndexMap<String, Activity>,
    last_ns: u64,
}

/// What happened between two moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// CLOCK_MONOTONIC nanoseconds.
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Time of all threads that count, within regions and outside.
    pub threads_time_ns: u64,
    /// The region with the most own time since the beginning comes first.
    pub regions: Vec<RegionSample>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RegionSample {
    pub name: String,
    pub all: Activity,
    /// Activity since it was seen first.
    pub total: Activity,
    /// Threads that entered it at some time, and still count or did so at the beginning, in the order of their streams.
    pub threads: Vec<ThreadSample>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadSample {
    pub stream: u32,
    pub pid: u32,
    /// The kernel's id.
    pub thread: u32,
    pub activity: Activity,
}

impl LiveRegions {
    /// `begin_ns`: when the first sample begins.
    pub fn new(begin_ns: u64) -> Self {
        LiveRegions {
            last_ns: begin_ns,
            ..LiveRegions::default()
        }
    }

    /// Takes what was seen of a node. `trace` holds the tables of modules, as far as they are known.
    pub fn see(&mut self, seen: &SeenNode, trace: &Trace, clock: &Clock) {
        let weights = self.weights.of(trace, seen.process, seen.counts.image);
        let traffic = weights.map(|weights| weights.apply(&seen.counts.counters));
        let place = NodePlace {
            stream: seen.stream,
            process: seen.process,
            last_ns: seen.seen_ns,
            is_tail: false,
        };
        let head = NodeCounts {
            name: seen.counts.name.clone(),
            counters: Vec::new(),
            ..*seen.counts
        };
        let node = Node::new(head, &place, clock);
        let thread = self.threads.entry(seen.stream).or_default();
        (thread.pid, thread.thread) = (seen.pid, node.thread);
        thread.see(node, seen.first_ns, traffic, seen.is_final);
    }

    /// What has happened since the last sample.
    pub fn sample(&mut self, now_ns: u64) -> Sample {
        let begin_ns = std::mem::replace(&mut self.last_ns, now_ns);
        let mut gathered = Gathered::default();
        let origins = self.origins();
        for (&stream, thread) in &mut self.threads {
            if let Some(progress) = thread.progress(&origins) {
                for (name, activity) in &progress.regions {
                    self.totals.entry(name.clone()).or_default().add(*activity);
                }
                gathered.add(stream, thread, progress);
            }
        }
        self.sampled(begin_ns, gathered)
    }

    /// The entries that threads made, if any thread has inherited regions.
    fn origins(&self) -> Origins {
        let mut origins = Origins::default();
        if self.threads.values().any(Thread::has_inherited) {
            self.threads
                .values()
                .for_each(|thread| thread.note_in(&mut origins));
        }
        origins
    }

    /// What has happened from then to the last sample, if nothing had before.
    pub fn whole(&self, begin_ns: u64) -> Sample {
        let mut gathered = Gathered::default();
        for (&stream, thread) in &self.threads {
            gathered.add(stream, thread, thread.whole());
        }
        self.sampled(begin_ns, gathered)
    }

    fn sampled(&self, begin_ns: u64, gathered: Gathered) -> Sample {
        Sample {
            begin_ns,
            end_ns: self.last_ns,
            threads_time_ns: gathered.time_ns,
            regions: self.ranked(gathered.regions),
        }
    }

    /// All regions that were ever seen, with the names and totals that the others lack.
    fn ranked(&self, mut regions: IndexMap<String, RegionSample>) -> Vec<RegionSample> {
        let named = self.totals.iter().map(|(name, total)| RegionSample {
            name: name.clone(),
            total: *total,
            ..regions.swap_remove(name).unwrap_or_default()
        });
        let mut ranked: Vec<RegionSample> = named.collect();
        ranked.sort_by_key(|region| std::cmp::Reverse(region.total.own_time_ns));
        ranked
    }
}

/// What several threads did.
#[derive(Default)]
struct Gathered {
    time_ns: u64,
    regions: IndexMap<String, RegionSample>,
}

impl Gathered {
    fn add(&mut self, stream: u32, thread: &Thread, progress: Progress) {
        self.time_ns = self.time_ns.saturating_add(progress.time_ns);
        for (name, activity) in progress.regions {
            let region = self.regions.entry(name).or_default();
            region.all.add(activity);
            region.threads.push(ThreadSample {
                stream,
                pid: thread.pid,
                thread: thread.thread,
                activity,
            });
        }
    }
}

impl Sample {
    pub fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    /// A number that came in the interval, per second; none if no time passed.
    pub fn per_second(&self, number: u64) -> Option<f64> {
        let duration_ns = self.duration_ns();
        (duration_ns > 0).then(|| number as f64 * 1e9 / duration_ns as f64)
    }

    /// The share of the time of all threads that count; none if there was no time.
    pub fn time_share(&self, activity: &Activity) -> Option<f64> {
        let whole = self.threads_time_ns;
        (whole > 0).then(|| (activity.own_time_ns as f64 / whole as f64).min(1.0))
    }
}

impl RegionSample {
    /// The greatest of the threads' numbers over their mean; none if all are 0.
    pub fn imbalance(&self, number: impl Fn(&Activity) -> u64) -> Option<f64> {
        let numbers = || self.threads.iter().map(|thread| number(&thread.activity));
        let sum: f64 = numbers().map(|number| number as f64).sum();
        let most = numbers().max()? as f64;
        (sum > 0.0).then(|| most * self.threads.len() as f64 / sum)
    }
}

#[cfg(test)]
mod tests;
