//! What programs that count have counted in windows: they count from start to end, and the recorder looks at their nodes
//! when a window opens and when it closes.

use std::collections::HashMap;

use trackway_trace::{NodeCounts, COUNTED_ENTRY, NANOSECONDS, NODE_HEAD_LENGTH};

use super::{Collector, Description};
use crate::abi;
use crate::clock;
use crate::ring::BufferWords;

/// How often a node is read if its head changes meanwhile. Otherwise an entry that ends might count both as open and as
/// left.
const READINGS: usize = 4;

/// A node: the number of its stream, and its own sequence there.
type Key = (u32, u64);

/// A moment in the clocks of nodes.
#[derive(Debug, Clone, Copy, Default)]
struct Moment {
    ticks: u64,
    ns: u64,
}

impl Moment {
    fn in_clock_of(self, node: &NodeCounts) -> u64 {
        match node.flags & NANOSECONDS {
            0 => self.ticks,
            _ => self.ns,
        }
    }
}

#[derive(Default)]
pub struct CountedWindows {
    /// Whether only what was counted in windows goes to the trace.
    pub is_on: bool,
    /// The window that was open at the last look, when it opened, and the nodes that there were then.
    window: Option<u32>,
    opened: Moment,
    before: HashMap<Key, NodeCounts>,
    /// What was counted in windows that are closed.
    sums: HashMap<Key, NodeCounts>,
}

impl CountedWindows {
    /// Adds what a node has counted since the window opened.
    fn add(&mut self, key: Key, node: NodeCounts, now: Moment) {
        let none = NodeCounts::default();
        let before = self.before.get(&key).unwrap_or(&none);
        let within = between(
            before,
            self.opened.in_clock_of(&node),
            &node,
            now.in_clock_of(&node),
        );
        match self.sums.get_mut(&key) {
            Some(sum) => add(sum, &within),
            None => drop(self.sums.insert(key, within)),
        }
    }
}

/// An entry that the window cuts counts as one of it, with the part of its time that lies within.
fn between(before: &NodeCounts, begin: u64, after: &NodeCounts, end: u64) -> NodeCounts {
    let mut within = after.clone();
    combine(&mut within, before, u64::saturating_sub);
    if before.entered_ticks != 0 {
        within.entries += 1;
        if after.entered_ticks != before.entered_ticks {
            let (_, ticks) = of_entry(&mut within, before.flags);
            *ticks = ticks.saturating_sub(begin.saturating_sub(before.entered_ticks));
        }
    }
    if after.entered_ticks != 0 {
        let (entries, ticks) = of_entry(&mut within, after.flags);
        *entries += 1;
        *ticks += end.saturating_sub(after.entered_ticks.max(begin));
    }
    within.entered_ticks = 0;
    within
}

fn add(sum: &mut NodeCounts, more: &NodeCounts) {
    combine(sum, more, u64::wrapping_add);
}

/// Combines all that a node adds up with what another one does.
fn combine(node: &mut NodeCounts, other: &NodeCounts, with: impl Fn(u64, u64) -> u64) {
    let counters = node.counters.len().max(other.counters.len());
    node.counters.resize(counters, 0);
    let heads = [
        (&mut node.entries, other.entries),
        (&mut node.counted_entries, other.counted_entries),
        (&mut node.counted_ticks, other.counted_ticks),
        (&mut node.timed_entries, other.timed_entries),
        (&mut node.timed_ticks, other.timed_ticks),
        (&mut node.measured_entries, other.measured_entries),
        (&mut node.hardware_entries, other.hardware_entries),
    ];
    let hardware = node.hardware.iter_mut().zip(other.hardware);
    let counters = node.counters.iter_mut().zip(other.counters.iter().copied());
    for (number, other) in heads.into_iter().chain(hardware).chain(counters) {
        *number = with(*number, other);
    }
}

/// The number and the time of entries that are like one with these flags.
fn of_entry(node: &mut NodeCounts, flags: u64) -> (&mut u64, &mut u64) {
    match flags & COUNTED_ENTRY {
        0 => (&mut node.timed_entries, &mut node.timed_ticks),
        _ => (&mut node.counted_entries, &mut node.counted_ticks),
    }
}

impl Collector<'_> {
    fn moment(&self) -> Moment {
        Moment {
            ticks: clock::ticks(),
            ns: self.clock.now_ns(),
        }
    }

    /// Only what is counted in windows goes to the trace.
    pub fn count_in_windows(&mut self) {
        self.counted.is_on = true;
        self.counted.window = self.ring.open_window();
    }

    /// Looks at all nodes if a window has opened or closed since the last time.
    pub fn follow_counted_windows(&mut self) {
        let window = self.ring.open_window();
        if !self.counted.is_on || window == self.counted.window {
            return;
        }
        let (nodes, now) = (self.nodes_of_threads(), self.moment());
        if self.counted.window.is_some() {
            for (key, node) in &nodes {
                self.counted.add(*key, node.clone(), now);
            }
        }
        self.counted.window = window;
        self.counted.opened = now;
        self.counted.before = nodes.into_iter().collect();
    }

    fn nodes_of_threads(&self) -> Vec<(Key, NodeCounts)> {
        let is_node = |words: &BufferWords| words.kind == abi::KIND_COUNTS && words.pid != 0;
        let words = self.ring.all_words().filter(|(_, words)| is_node(words));
        words
            .filter_map(|(index, words)| {
                let node = NodeCounts::from_bytes(&self.steady_node(index, &words)?);
                Some(((words.stream, words.sequence), node))
            })
            .collect()
    }

    /// None if its thread has handed it over meanwhile.
    fn steady_node(&self, index: usize, words: &BufferWords) -> Option<Vec<u8>> {
        let head = |bytes: &[u8]| bytes[..bytes.len().min(NODE_HEAD_LENGTH)].to_vec();
        let mut bytes = self.ring.copied(index, words, self.ring.buffer_size())?;
        for _ in 1..READINGS {
            let again = self.ring.copied(index, words, self.ring.buffer_size())?;
            let is_steady = head(&again) == head(&bytes);
            bytes = again;
            if is_steady {
                break;
            }
        }
        Some(bytes)
    }

    /// What a node that its thread has handed over counted in windows. None if there was no window in its life.
    pub(super) fn counted_in_windows(&mut self, buffer: &Description, bytes: Vec<u8>) -> Option<Vec<u8>> {
        if !self.counted.is_on {
            return Some(bytes);
        }
        let (key, now) = ((buffer.stream, buffer.sequence), self.moment());
        if self.counted.window.is_some() {
            self.counted.add(key, NodeCounts::from_bytes(&bytes), now);
        }
        self.counted.before.remove(&key);
        self.counted.sums.remove(&key).map(|node| node.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(entries: u64, counted: (u64, u64), entered_ticks: u64) -> NodeCounts {
        NodeCounts {
            entries,
            counted_entries: counted.0,
            counted_ticks: counted.1,
            entered_ticks,
            flags: COUNTED_ENTRY,
            counters: vec![entries * 10],
            ..NodeCounts::default()
        }
    }

    #[test]
    fn entries_that_a_window_cuts_count_with_their_time_in_it() {
        let numbers = |node: NodeCounts| {
            (
                node.entries,
                node.counted_entries,
                node.counted_ticks,
                node.counters,
            )
        };
        let within = |before: &NodeCounts, after: &NodeCounts| numbers(between(before, 1000, after, 2000));
        // Closed at both ends: two entries.
        assert_eq!(
            within(&node(3, (3, 300), 0), &node(5, (5, 700), 0)),
            (2, 2, 400, vec![20])
        );
        // Open at the beginning, and left.
        assert_eq!(
            within(&node(3, (2, 300), 900), &node(3, (3, 1000), 0)),
            (1, 1, 600, vec![0])
        );
        // Open at the end.
        assert_eq!(
            within(&node(3, (3, 300), 0), &node(4, (3, 300), 1900)),
            (1, 1, 100, vec![10])
        );
        // Open all the time.
        assert_eq!(
            within(&node(3, (2, 300), 900), &node(3, (2, 300), 900)),
            (1, 1, 1000, vec![0])
        );
        // It began in the window.
        assert_eq!(
            within(&NodeCounts::default(), &node(2, (2, 50), 0)),
            (2, 2, 50, vec![20])
        );
    }
}
