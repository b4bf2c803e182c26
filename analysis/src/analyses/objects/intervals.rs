//! Ranges of addresses, none of which overlaps another.

use std::collections::BTreeMap;

/// What stands at addresses.
#[derive(Clone, Debug)]
pub struct Intervals<T> {
    /// The first address after each interval and what is there, by the interval's first address.
    by_start: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Intervals<T> {
    fn default() -> Self {
        Intervals {
            by_start: BTreeMap::new(),
        }
    }
}

impl<T: Copy> Intervals<T> {
    /// What holds the address, and where it begins.
    pub fn find(&self, address: u64) -> Option<(u64, T)> {
        let (start, (end, value)) = self.by_start.range(..=address).next_back()?;
        (address < *end).then_some((*start, *value))
    }

    /// Puts something in the place of all that overlaps it, which is returned. A range of no bytes takes one.
    pub fn replace(&mut self, start: u64, length: u64, value: T) -> Vec<T> {
        let end = start.saturating_add(length.max(1));
        let starts: Vec<u64> = self.overlapping(start, end);
        let replaced = starts.iter().filter_map(|start| self.remove(*start)).collect();
        self.by_start.insert(start, (end, value));
        replaced
    }

    /// Takes away what begins at the address.
    pub fn remove(&mut self, start: u64) -> Option<T> {
        self.by_start.remove(&start).map(|(_, value)| value)
    }

    /// Takes a range away from whatever lies there; what reaches beyond it stays on its sides.
    pub fn cut(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length);
        for first in self.overlapping(start, end) {
            let Some((last, value)) = self.by_start.remove(&first) else {
                continue;
            };
            if first < start {
                self.by_start.insert(first, (start, value));
            }
            if last > end {
                self.by_start.insert(end, (last, value));
            }
        }
    }

    /// The intervals that overlap a range: first address, first address past the interval, and content.
    pub fn overlaps(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, T)> + '_ {
        let starts = self.overlapping(start, end);
        starts.into_iter().filter_map(|first| {
            let (last, value) = self.by_start.get(&first)?;
            Some((first, *last, *value))
        })
    }

    /// All of them, in the order of their addresses.
    pub fn values(&self) -> impl Iterator<Item = (u64, T)> + '_ {
        self.by_start.iter().map(|(start, (_, value))| (*start, *value))
    }

    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        let before = self.by_start.range(..start).next_back();
        let before = before.filter(|(_, (last, _))| *last > start);
        let inside = self.by_start.range(start..end.max(start));
        before
            .into_iter()
            .chain(inside)
            .map(|(first, _)| *first)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_range_around_it() {
        let mut intervals = Intervals::default();
        assert!(intervals.replace(100, 10, 'a').is_empty());
        assert!(intervals.replace(110, 0, 'b').is_empty());
        assert_eq!(intervals.find(99), None);
        assert_eq!(intervals.find(109), Some((100, 'a')));
        assert_eq!(intervals.find(110), Some((110, 'b')));
        assert_eq!(intervals.find(111), None);
    }

    #[test]
    fn what_is_put_down_takes_the_place_of_what_overlaps() {
        let mut intervals = Intervals::default();
        for (start, name) in [(0, 'a'), (10, 'b'), (20, 'c')] {
            intervals.replace(start, 10, name);
        }
        assert_eq!(intervals.replace(9, 2, 'd'), ['a', 'b']);
        assert_eq!(intervals.values().collect::<Vec<_>>(), [(9, 'd'), (20, 'c')]);
        assert_eq!(intervals.replace(u64::MAX - 1, 9, 'e'), []);
        assert_eq!(intervals.find(u64::MAX - 1), Some((u64::MAX - 1, 'e')));
    }

    #[test]
    fn a_cut_leaves_both_sides() {
        let mut intervals = Intervals::default();
        intervals.replace(0, 30, 'a');
        intervals.replace(30, 10, 'b');
        intervals.cut(10, 5);
        intervals.cut(35, 100);
        assert_eq!(
            intervals.values().collect::<Vec<_>>(),
            [(0, 'a'), (15, 'a'), (30, 'b')]
        );
        assert_eq!((intervals.find(12), intervals.find(34)), (None, Some((30, 'b'))));
        intervals.cut(40, 0);
        assert_eq!(intervals.find(36), None);
    }
}
