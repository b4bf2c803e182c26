//! Counts over time.

use std::ops::Range;

/// Equal parts of the recording's time; counts that took place in an interval are spread over it evenly, and none is lost.
#[derive(Debug, Clone)]
pub struct Bins<const N: usize> {
    begin_ns: u64,
    width_ns: u64,
    counts: Vec<[u64; N]>,
}

impl<const N: usize> Bins<N> {
    /// `count` parts of the time.
    pub fn new(time_ns: Range<u64>, count: usize) -> Self {
        let duration = time_ns.end.saturating_sub(time_ns.start);
        Bins {
            begin_ns: time_ns.start,
            width_ns: duration.div_ceil(count as u64).max(1),
            counts: vec![[0; N]; count],
        }
    }

    /// What lies outside of the whole time counts at its border.
    pub fn add(&mut self, time_ns: Range<u64>, counts: [u64; N]) {
        let (first, last) = (self.bin_of(time_ns.start), self.bin_of(time_ns.end));
        let duration = u128::from(time_ns.end.saturating_sub(time_ns.start).max(1));
        let mut done = [0u64; N];
        for bin in first..=last {
            let bin_end = self
                .begin_ns
                .saturating_add(self.width_ns.saturating_mul(bin as u64 + 1));
            let passed = u128::from(bin_end.saturating_sub(time_ns.start)).min(duration);
            for (index, &count) in counts.iter().enumerate() {
                let until = match bin == last {
                    true => count,
                    false => (u128::from(count) * passed / duration) as u64,
                };
                self.counts[bin][index] += until - done[index];
                done[index] = until;
            }
        }
    }

    fn bin_of(&self, time_ns: u64) -> usize {
        let bin = time_ns.saturating_sub(self.begin_ns) / self.width_ns;
        (bin as usize).min(self.counts.len().saturating_sub(1))
    }

    /// When each part begins, with what was counted in it.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u64; N])> {
        let begins = (0..).map(|bin: u64| self.begin_ns.saturating_add(bin.saturating_mul(self.width_ns)));
        begins.zip(&self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_interval_is_spread_evenly() {
        let mut bins = Bins::<1>::new(1000..1040, 4);
        bins.add(1005..1025, [8]);
        let counts: Vec<_> = bins.iter().map(|(begin, counts)| (begin, counts[0])).collect();
        assert_eq!(counts, [(1000, 2), (1010, 4), (1020, 2), (1030, 0)]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(intervals in proptest::collection::vec((0u64..3000, 0u64..3000, 0u64..1000), 0..50)) {
            let mut bins = Bins::<1>::new(500..2000, 7);
            let mut all = 0;
            for (begin, duration, count) in intervals {
                bins.add(begin..begin + duration, [count]);
                all += count;
            }
            prop_assert_eq!(bins.iter().map(|(_, counts)| counts[0]).sum::<u64>(), all);
        }
    }
}
