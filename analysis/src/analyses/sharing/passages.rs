//! Which lines went from which place to which other one.

use indexmap::IndexMap;
use trackway_trace::SiteId;

use super::lines::LineTransfer;
use super::LineTransfers;
use crate::model::cache::LineHash;

/// A line that goes from a thread at a site to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Passage {
    pub line: u32,
    pub from: SiteId,
    pub to: SiteId,
    pub from_thread: u32,
    pub to_thread: u32,
}

/// Cache-line transfers by passage. There may be millions of different passages.
#[derive(Debug, Default)]
pub(super) struct Passages(IndexMap<Passage, LineTransfers, LineHash>);

/// Passages in the order of lines; those of a line stand beside each other.
pub(super) struct SortedPassages(IndexMap<Passage, LineTransfers, LineHash>);

impl Passages {
    pub fn count(&mut self, passage: Passage, writes: bool, transfer: &LineTransfer) {
        self.0.entry(passage).or_default().count(writes, transfer);
    }

    /// Positions of the transferred lines, each once.
    pub fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.0.keys().map(|passage| passage.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The same where the lines have other positions.
    pub fn moved(self, to: impl Fn(u32) -> u32) -> Passages {
        let moved = |(passage, counts): (Passage, LineTransfers)| {
            let line = to(passage.line);
            (Passage { line, ..passage }, counts)
        };
        Passages(self.0.into_iter().map(moved).collect())
    }

    /// Adds passages of other lines.
    pub fn append(&mut self, other: Passages) {
        self.0.extend(other.0);
    }

    pub fn packed(self) -> Vec<(Passage, LineTransfers)> {
        self.0.into_iter().collect()
    }

    pub fn unpack(packed: Vec<(Passage, LineTransfers)>) -> Passages {
        Passages(packed.into_iter().collect())
    }

    pub fn sorted(mut self) -> SortedPassages {
        self.0.sort_unstable_keys();
        SortedPassages(self.0)
    }
}

impl SortedPassages {
    pub fn all(&self) -> impl Iterator<Item = (&Passage, &LineTransfers)> {
        self.0.iter()
    }

    pub fn of_line(&self, line: u32) -> impl Iterator<Item = (&Passage, &LineTransfers)> {
        let start = self.0.partition_point(|passage, _| passage.line < line);
        let from = self.0.get_range(start..).into_iter().flatten();
        from.take_while(move |(passage, _)| passage.line == line)
    }

    pub fn total(&self) -> LineTransfers {
        let mut total = LineTransfers::default();
        self.0.values().for_each(|counts| total += counts);
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
                let passage = Passage { line, from, to, from_thread, to_thread };
                let transfer = LineTransfer { from_thread, from_site: from, certain: true, is_false: false, invalidated: 0 };
                passages.count(passage, writes, &transfer);
                *naive.entry((line, from_thread, to_thread)).or_default() += 1;
            }
            let passages = passages.sorted();
            let mut found = HashMap::new();
            for line in 0..5 {
                for (passage, counts) in passages.of_line(line) {
                    let key = (line, passage.from_thread, passage.to_thread);
                    proptest::prop_assert_eq!(passage.line, line);
                    proptest::prop_assert!(found.insert(key, counts.all()).is_none());
                }
            }
            proptest::prop_assert_eq!(passages.all().count(), found.len());
            proptest::prop_assert_eq!(passages.total().all(), naive.values().sum::<u64>());
            proptest::prop_assert_eq!(found, naive);
        }
    }
}
