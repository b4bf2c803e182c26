//! A stretch of time in equal parts.

/// Bins of equal width, a power of two in nanoseconds, the narrowest of which a given number covers a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBins {
    pub first_ns: u64,
    /// Included.
    pub last_ns: u64,
    shift: u32,
}

impl TimeBins {
    /// Makes at most `limit` bins, at least 1.
    pub fn new(first_ns: u64, last_ns: u64, limit: usize) -> TimeBins {
        let last_ns = last_ns.max(first_ns);
        let limit = limit.max(1) as u64;
        let fits = |shift: &u32| (last_ns - first_ns) >> *shift < limit;
        TimeBins {
            first_ns,
            last_ns,
            shift: (0..64).find(fits).unwrap_or(63),
        }
    }

    /// Bins of that width, a power of two in nanoseconds.
    pub fn of_width(first_ns: u64, last_ns: u64, width_ns: u64) -> TimeBins {
        TimeBins {
            first_ns,
            last_ns: last_ns.max(first_ns),
            shift: width_ns.max(1).ilog2(),
        }
    }

    pub fn count(&self) -> usize {
        ((self.last_ns - self.first_ns) >> self.shift) as usize + 1
    }

    pub fn width_ns(&self) -> u64 {
        1 << self.shift
    }

    /// None before the first and after the last.
    pub fn of(&self, time_ns: u64) -> Option<usize> {
        let inside = (self.first_ns..=self.last_ns).contains(&time_ns);
        inside.then(|| ((time_ns - self.first_ns) >> self.shift) as usize)
    }

    /// The first one for what is before it, the last one for what is after it.
    pub fn nearest(&self, time_ns: u64) -> usize {
        (time_ns.clamp(self.first_ns, self.last_ns) - self.first_ns) as usize >> self.shift
    }

    /// When the bin begins, if each had twice the width `level` times.
    pub fn start_ns(&self, bin: usize, level: u32) -> u64 {
        let width = self.shift + level;
        self.first_ns
            .saturating_add((bin as u64).checked_shl(width).unwrap_or(u64::MAX))
    }

    /// The first time that is in no bin up to this one.
    pub fn end_ns(&self, bin: usize) -> u64 {
        self.start_ns(bin + 1, 0).min(self.last_ns.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_covered_by_bins_of_a_power_of_two() {
        let bins = TimeBins::new(1000, 1999, 512);
        assert_eq!((bins.width_ns(), bins.count()), (2, 500));
        assert_eq!(bins.of(999), None);
        assert_eq!(bins.of(1000), Some(0));
        assert_eq!(bins.of(1999), Some(499));
        assert_eq!(bins.of(2000), None);
        assert_eq!(
            [0, 1000, 1002, 1999, 3000].map(|time| bins.nearest(time)),
            [0, 0, 1, 499, 499]
        );
        assert_eq!(bins.start_ns(499, 0), 1998);
        assert_eq!(bins.start_ns(3, 2), 1024);
        assert_eq!(bins.end_ns(499), 2000);
    }

    #[test]
    fn bins_that_are_joined_are_those_of_a_multiple_of_the_width() {
        let (first_ns, last_ns) = (1000, 1999);
        let fine = TimeBins::new(first_ns, last_ns, 64);
        for joined in [1, 2, 8] {
            let coarse = TimeBins::of_width(first_ns, last_ns, fine.width_ns() * joined as u64);
            assert_eq!(coarse.count(), fine.count().div_ceil(joined));
            let is_same = |time| coarse.of(time) == fine.of(time).map(|bin| bin / joined);
            assert!((first_ns - 1..=last_ns + 1).all(is_same));
        }
    }

    #[test]
    fn any_range_has_a_bin() {
        assert_eq!(TimeBins::new(7, 7, 512).count(), 1);
        assert_eq!(TimeBins::new(7, 3, 512).count(), 1);
        let all = TimeBins::new(0, u64::MAX, 4);
        assert_eq!((all.count(), all.of(u64::MAX)), (4, Some(3)));
        assert_eq!(
            TimeBins::new(0, u64::MAX, 1).count(),
            2,
            "half of all time is the widest"
        );
    }
}
