//! Equal spans of time.

/// Number of bins that a page can show beside each other.
const BINS: u64 = 200;

/// The time from a known time to a later one, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    first_ns: u64,
    last_ns: u64,
}

impl Interval {
    /// None if the time is unknown.
    pub fn new((first_ns, last_ns): (u64, u64)) -> Option<Interval> {
        (first_ns > 0).then_some(Interval {
            first_ns,
            last_ns: last_ns.max(first_ns),
        })
    }
}

/// The time of the recording, cut into bins of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bins {
    pub first_ns: u64,
    pub bin_ns: u64,
    count: u64,
}

impl Bins {
    /// Bins that hold all of the intervals.
    pub fn over(intervals: impl Iterator<Item = Interval>) -> Bins {
        let extent = intervals.fold(None, |extent: Option<(u64, u64)>, interval| {
            let (first, last) = extent.unwrap_or((interval.first_ns, interval.last_ns));
            Some((first.min(interval.first_ns), last.max(interval.last_ns)))
        });
        let (first_ns, last_ns) = extent.unwrap_or_default();
        // The last nanosecond belongs to the last bin.
        let span = (last_ns - first_ns).saturating_add(1);
        let bin_ns = span.div_ceil(BINS);
        Bins {
            first_ns,
            bin_ns,
            count: span.div_ceil(bin_ns),
        }
    }

    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Adds accesses to the bins of the interval, in proportion to its part of each. Their sum is exact.
    pub fn spread(&self, interval: Interval, accesses: u64, counts: &mut [u64]) {
        let (first, last) = (self.bin(interval.first_ns), self.bin(interval.last_ns));
        let mut before = 0;
        for (bin, count) in counts.iter_mut().enumerate().take(last + 1).skip(first) {
            let until = match bin == last {
                true => accesses,
                false => self.part_before(bin + 1, interval, accesses),
            };
            *count = count.saturating_add(until - before);
            before = until;
        }
    }

    fn bin(&self, time_ns: u64) -> usize {
        let bin = time_ns.saturating_sub(self.first_ns) / self.bin_ns;
        bin.min(self.count - 1) as usize
    }

    /// How many of the interval's accesses come before the bin.
    fn part_before(&self, bin: usize, interval: Interval, accesses: u64) -> u64 {
        let begin = self.first_ns as u128 + bin as u128 * self.bin_ns as u128;
        let length = u128::from(interval.last_ns - interval.first_ns).max(1);
        let elapsed = begin.saturating_sub(interval.first_ns.into()).min(length);
        (u128::from(accesses) * elapsed / length) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(first_ns: u64, last_ns: u64) -> Interval {
        Interval::new((first_ns, last_ns)).unwrap()
    }

    #[test]
    fn accesses_are_spread_by_time() {
        let whole = interval(1000, 2999);
        let bins = Bins::over([whole].into_iter());
        assert_eq!((bins.first_ns, bins.bin_ns, bins.count()), (1000, 10, 200));
        let mut counts = vec![0; 200];
        bins.spread(interval(1005, 1025), 20, &mut counts);
        assert_eq!(counts[..4], [5, 10, 5, 0]);
        bins.spread(interval(2999, 2999), 7, &mut counts);
        assert_eq!(counts[199], 7);
    }

    #[test]
    fn without_any_time_there_is_one_bin() {
        assert_eq!(Bins::over([].into_iter()).count(), 1);
        assert_eq!(Interval::new((0, 5)), None);
    }

    #[test]
    fn times_may_be_anything() {
        let bins = Bins::over([interval(1, u64::MAX), interval(9, 2)].into_iter());
        let mut counts = vec![0; bins.count()];
        bins.spread(interval(1, u64::MAX), u64::MAX, &mut counts);
        assert_eq!(
            counts.iter().map(|&count| u128::from(count)).sum::<u128>(),
            u64::MAX.into()
        );
    }

    proptest! {
        /// Compares the bins with those of accesses that are put down one by one.
        #[test]
        fn parts_are_those_of_single_accesses(
            first in 1u64..5000, length in 1u64..5000, accesses in 1u64..400, around in 0u64..3000,
        ) {
            let spread = interval(first, first + length);
            let bins = Bins::over([spread, interval(first.saturating_sub(around).max(1), first + length + around)].into_iter());
            let mut counts = vec![0; bins.count()];
            bins.spread(spread, accesses, &mut counts);
            let mut naive = vec![0u64; bins.count()];
            for access in 0..accesses {
                // Access number n takes place when n + 1 of them have their share of the time after them.
                let mut bin = 0;
                while bin + 1 < bins.count()
                    && (bins.first_ns + (bin as u64 + 1) * bins.bin_ns).saturating_sub(first) * accesses
                        < (access + 1) * length
                {
                    bin += 1;
                }
                naive[bin.min(bins.bin(first + length))] += 1;
            }
            prop_assert_eq!(counts, naive);
        }
    }
}
