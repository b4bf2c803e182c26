//! Which lines went from which place to which other one.

use trackway_trace::SiteId;

use super::lines::HandOver;
use super::HandOvers;

/// No passage.
const NONE: u32 = u32::MAX;

/// From a thread at a site to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passage {
    pub from: SiteId,
    pub to: SiteId,
    pub from_thread: u32,
    pub to_thread: u32,
}

#[derive(Debug)]
struct Counted {
    passage: Passage,
    /// Position of the line's next one, or [`NONE`].
    next: u32,
    counts: HandOvers,
}

/// What was handed over, by cache line and passage. A line has few passages, and mostly its latest one comes again.
#[derive(Debug, Default)]
pub(super) struct Passages {
    /// By line: the position of its latest one, or [`NONE`].
    latest: Vec<u32>,
    counted: Vec<Counted>,
}

impl Passages {
    pub fn count(&mut self, line: u32, passage: Passage, writes: bool, hand_over: &HandOver) {
        let at = self.find(line, passage);
        self.counted[at as usize].counts.count(writes, hand_over);
    }

    /// Puts it in front of the line's others.
    fn find(&mut self, line: u32, passage: Passage) -> u32 {
        if self.latest.len() <= line as usize {
            self.latest.resize(line as usize + 1, NONE);
        }
        let latest = self.latest[line as usize];
        let (mut before, mut at) = (NONE, latest);
        while at != NONE && self.counted[at as usize].passage != passage {
            (before, at) = (at, self.counted[at as usize].next);
        }
        if at == latest && at != NONE {
            return at;
        }
        if at == NONE {
            at = self.counted.len() as u32;
            let counts = HandOvers::default();
            self.counted.push(Counted {
                passage,
                next: latest,
                counts,
            });
        } else {
            self.counted[before as usize].next = self.counted[at as usize].next;
            self.counted[at as usize].next = latest;
        }
        self.latest[line as usize] = at;
        at
    }

    /// Lines that were handed over.
    pub fn lines(&self) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(&self.latest)
            .filter(|(_, latest)| **latest != NONE)
            .map(|(line, _)| line)
    }

    pub fn of_line(&self, line: u32) -> impl Iterator<Item = (&Passage, &HandOvers)> {
        let at = |position: u32| self.counted.get(position as usize);
        let latest = self.latest.get(line as usize).and_then(|position| at(*position));
        std::iter::successors(latest, move |counted| at(counted.next))
            .map(|counted| (&counted.passage, &counted.counts))
    }

    pub fn of_line_in_total(&self, line: u32) -> HandOvers {
        let mut total = HandOvers::default();
        self.of_line(line).for_each(|(_, counts)| total += counts);
        total
    }

    pub fn total(&self) -> HandOvers {
        let mut total = HandOvers::default();
        self.counted.iter().for_each(|counted| total += &counted.counts);
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    proptest::proptest! {
        #[test]
        fn each_passage_is_counted_with_its_line(
            steps in proptest::collection::vec((0u32..5, 0u32..3, 0u32..3, proptest::bool::ANY), 0..200)
        ) {
            let mut passages = Passages::default();
            let mut naive: HashMap<(u32, u32, u32), u64> = HashMap::new();
            for (line, from_thread, to_thread, writes) in steps {
                let (from, to) = (SiteId(from_thread), SiteId(to_thread));
                let passage = Passage { from, to, from_thread, to_thread };
                let hand_over = HandOver { from_thread, from_site: from, certain: true, is_false: false };
                passages.count(line, passage, writes, &hand_over);
                *naive.entry((line, from_thread, to_thread)).or_default() += 1;
            }
            let mut found = HashMap::new();
            for line in passages.lines() {
                for (passage, counts) in passages.of_line(line) {
                    let key = (line, passage.from_thread, passage.to_thread);
                    proptest::prop_assert!(found.insert(key, counts.all()).is_none());
                }
            }
            proptest::prop_assert_eq!(passages.total().all(), naive.values().sum::<u64>());
            proptest::prop_assert_eq!(found, naive);
        }
    }
}
