//! A thread that counts, as far as it was seen.

use indexmap::IndexMap;
use trackway_trace::Node;

use super::traffic::Traffic;
use crate::analyses::regions::origins::Origins;
use crate::analyses::regions::read::{is_within, region_name};
use crate::analyses::regions::stratum::{strata, Stratum};

/// Activity of a region or thread, in an interval or in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    pub entries: u64,
    pub time_ns: u64,
    pub own_time_ns: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// A node as it was seen last.
#[derive(Debug)]
struct Seen {
    first_ns: u64,
    /// None if the module's tables aren't known.
    traffic: Option<Traffic>,
    /// The node is as its thread handed it over.
    is_final: bool,
}

#[derive(Debug, Default)]
pub struct Thread {
    pub pid: u32,
    /// The kernel's id.
    pub thread: u32,
    /// Nodes in the order of numbers and images. Those with the same ones are in the order in which they were taken.
    nodes: Vec<Node>,
    /// What was last seen of each of these nodes.
    seen: Vec<Seen>,
    /// The most that was seen in all, by region.
    regions: IndexMap<String, Activity>,
    /// Time since the thread counted first.
    time_ns: u64,
    changed: bool,
}

/// What has come since it was asked last.
#[derive(Debug, Default)]
pub struct Progress {
    /// Activities by region, including regions to which nothing has come.
    pub regions: Vec<(String, Activity)>,
    pub time_ns: u64,
}

impl Activity {
    fn each(&mut self) -> [&mut u64; 5] {
        [
            &mut self.entries,
            &mut self.time_ns,
            &mut self.own_time_ns,
            &mut self.bytes_read,
            &mut self.bytes_written,
        ]
    }

    /// Bytes read or written; an update counts as both.
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }

    pub fn add(&mut self, mut more: Activity) {
        for (sum, more) in self.each().into_iter().zip(more.each()) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// Raises it to what is greater; returns by how much.
    fn raise_to(&mut self, mut now: Activity) -> Activity {
        let mut raised = now;
        let numbers = self.each().into_iter().zip(now.each()).zip(raised.each());
        for ((known, now), raised) in numbers {
            *raised = now.saturating_sub(*known);
            *known = (*known).max(*now);
        }
        raised
    }
}

impl Thread {
    /// `first_ns` distinguishes nodes with the same number, of a thread that began to count again.
    pub fn see(&mut self, node: Node, first_ns: u64, traffic: Option<Traffic>, is_final: bool) {
        let (at, is_known) = self.position(&node, first_ns);
        let seen = Seen {
            first_ns,
            traffic,
            is_final,
        };
        match is_known {
            true if self.seen[at].is_final => return,
            true => (self.nodes[at], self.seen[at]) = (node, seen),
            false => {
                self.nodes.insert(at, node);
                self.seen.insert(at, seen);
            }
        }
        self.changed = true;
    }

    /// Where the node stands, or would stand.
    fn position(&self, node: &Node, first_ns: u64) -> (usize, bool) {
        let number = |node: &Node| (node.number, node.image);
        let first = self.nodes.partition_point(|other| number(other) < number(node));
        let namesakes = self.nodes[first..]
            .iter()
            .take_while(|other| number(other) == number(node));
        let seen = &self.seen[first..first + namesakes.count()];
        let before = seen.partition_point(|other| other.first_ns < first_ns);
        let is_known = seen.get(before).is_some_and(|other| other.first_ns == first_ns);
        (first + before, is_known)
    }

    /// Whether it was in a region that another thread entered.
    pub fn has_inherited(&self) -> bool {
        self.nodes.iter().any(|node| node.origin.is_some())
    }

    pub fn note_in(&self, origins: &mut Origins) {
        origins.note(&strata(&self.nodes), &self.nodes);
    }

    /// None if it wasn't seen since it was asked last.
    pub fn progress(&mut self, origins: &Origins) -> Option<Progress> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let (now, time_ns) = self.sum(origins);
        let since_ns = time_ns.saturating_sub(self.time_ns);
        self.time_ns = self.time_ns.max(time_ns);
        let raise = |(name, now): (String, Activity)| {
            let raised = self.regions.entry(name.clone()).or_default().raise_to(now);
            (name, raised)
        };
        Some(Progress {
            regions: now.into_iter().map(raise).collect(),
            time_ns: since_ns,
        })
    }

    /// All that was seen of it.
    pub fn whole(&self) -> Progress {
        let regions = self
            .regions
            .iter()
            .map(|(name, activity)| (name.clone(), *activity));
        Progress {
            regions: regions.collect(),
            time_ns: self.time_ns,
        }
    }

    /// Sums up the activity of each region, and the time of the thread.
    fn sum(&self, origins: &Origins) -> (IndexMap<String, Activity>, u64) {
        let mut regions: IndexMap<String, Activity> = IndexMap::new();
        let mut time_ns = 0u64;
        let mut strata = strata(&self.nodes);
        origins.give(&mut strata, &self.nodes);
        for stratum in strata {
            let first = &self.nodes[stratum.nodes[0]];
            if first.number == 0 {
                time_ns = time_ns.saturating_add(stratum.times_ns().0);
            }
            if let Some(name) = region_name(first).filter(|_| stratum.entries > 0) {
                let is_outermost = !is_within(first, name, &self.nodes);
                let sum = self.activity(&stratum, is_outermost);
                regions.entry(name.to_owned()).or_default().add(sum);
            }
        }
        (regions, time_ns)
    }

    fn activity(&self, stratum: &Stratum, is_outermost: bool) -> Activity {
        let mut counted = Traffic::default();
        for at in &stratum.nodes {
            let node = &self.nodes[*at];
            let says_something = node.counted_entries > 0 || node.is_whole_program;
            if let Some(traffic) = self.seen[*at].traffic.filter(|_| says_something) {
                counted.bytes_read = counted.bytes_read.saturating_add(traffic.bytes_read);
                counted.bytes_written = counted.bytes_written.saturating_add(traffic.bytes_written);
            }
        }
        let (time_ns, own_time_ns) = stratum.times_ns();
        let scale = stratum.scale();
        Activity {
            entries: if stratum.inherited.is_some() {
                0
            } else {
                stratum.entries
            },
            time_ns: if is_outermost { time_ns } else { 0 },
            own_time_ns,
            bytes_read: scale.apply(counted.bytes_read),
            bytes_written: scale.apply(counted.bytes_written),
        }
    }
}
