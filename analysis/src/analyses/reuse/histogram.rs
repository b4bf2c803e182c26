//! Reuse distances in bins.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Distances below this have a bin each.
const EXACT: u64 = 16;
/// Bins of each further power of two.
const PER_OCTAVE: u64 = 8;
const PER_OCTAVE_BITS: u32 = PER_OCTAVE.trailing_zeros();
const EXACT_BITS: u32 = EXACT.trailing_zeros();
/// Distances are below 2^40. No memory holds that many lines, even if few of them are sampled.
pub(super) const DISTANCE_BITS: u32 = 40;
/// Number of bins.
pub(super) const BINS: usize = (EXACT + (DISTANCE_BITS - EXACT_BITS) as u64 * PER_OCTAVE) as usize;

/// The bin of a distance.
#[inline(always)]
pub(super) fn bin_of(distance: u64) -> usize {
    if distance < EXACT {
        return distance as usize;
    }
    let distance = distance.min((1 << DISTANCE_BITS) - 1);
    let octave = 63 - distance.leading_zeros();
    let part = (distance >> (octave - PER_OCTAVE_BITS)) & (PER_OCTAVE - 1);
    (EXACT + u64::from(octave - EXACT_BITS) * PER_OCTAVE + part) as usize
}

/// The smallest distance of a bin; of the number of bins, the end of the last.
pub(super) fn first_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < EXACT {
        return bin;
    }
    let (octave, part) = ((bin - EXACT) / PER_OCTAVE, (bin - EXACT) % PER_OCTAVE);
    (PER_OCTAVE + part) << (octave + u64::from(EXACT_BITS - PER_OCTAVE_BITS))
}

/// How many references had which distance. Counts are whole numbers, exact up to 2^53, or weights of samples.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    counts: Box<[f64; BINS]>,
    /// References to lines that were not seen before.
    pub cold: f64,
}

/// A histogram on its way to another process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedHistogram {
    /// Ascending.
    counts: Vec<(u16, f64)>,
    cold: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            counts: Box::new([0.0; BINS]),
            cold: 0.0,
        }
    }
}

impl AddAssign<&Histogram> for Histogram {
    fn add_assign(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(&*other.counts) {
            *count += more;
        }
        self.cold += other.cold;
    }
}

impl Histogram {
    /// Adds references of a distance; none: cold ones.
    #[inline(always)]
    pub fn add(&mut self, distance: Option<u64>, count: f64) {
        match distance {
            Some(distance) => self.counts[bin_of(distance)] += count,
            None => self.cold += count,
        }
    }

    /// Bins that count anything, with their counts; and the references to new lines.
    pub fn packed(&self) -> PackedHistogram {
        let used = self.counts.iter().zip(0u16..).filter(|(count, _)| **count != 0.0);
        PackedHistogram {
            counts: used.map(|(count, bin)| (bin, *count)).collect(),
            cold: self.cold,
        }
    }

    /// None if there is no such bin.
    pub fn unpack(packed: &PackedHistogram) -> Option<Histogram> {
        let mut histogram = Histogram {
            cold: packed.cold,
            ..Histogram::default()
        };
        for (bin, count) in &packed.counts {
            *histogram.counts.get_mut(usize::from(*bin))? = *count;
        }
        Some(histogram)
    }

    pub fn count(&self, bin: usize) -> f64 {
        self.counts[bin]
    }

    /// All that were added.
    pub fn total(&self) -> f64 {
        self.misses(0)
    }

    /// Makes the total what is known of it, by references of distance 0.
    pub fn complete(&mut self, total: f64) {
        self.counts[0] += total - self.total();
    }

    /// The references that miss a fully associative LRU cache of as many lines as the bin's smallest distance.
    pub fn misses(&self, bin: usize) -> f64 {
        self.counts[bin..].iter().sum::<f64>() + self.cold
    }

    /// The end of the bins that count anything; 0 if there are none.
    pub fn end(&self) -> usize {
        let used = self.counts.iter().rposition(|count| *count > 0.0);
        used.map_or(0, |last| last + 1)
    }

    /// The bin in which this share of the references that are not cold ends; none if all are.
    pub fn quantile(&self, share: f64) -> Option<usize> {
        let wanted = (self.total() - self.cold) * share;
        let mut so_far = 0.0;
        let reaches = |count: &f64| {
            so_far += count;
            so_far > 0.0 && so_far >= wanted
        };
        self.counts.iter().position(reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_each_other_without_gap() {
        for bin in 0..BINS {
            let (first, end) = (first_of(bin), first_of(bin + 1));
            assert!(first < end);
            assert_eq!((bin_of(first), bin_of(end - 1)), (bin, bin));
            assert!(
                end - first <= (first / 8).max(1),
                "a bin is at most an eighth wide"
            );
        }
        assert_eq!(bin_of(u64::MAX), BINS - 1);
        for power in 0..DISTANCE_BITS {
            assert_eq!(first_of(bin_of(1 << power)), 1 << power);
        }
    }

    #[test]
    fn misses_are_what_lies_at_or_beyond_the_size() {
        let mut histogram = Histogram::default();
        for (distance, count) in [(Some(0), 5.0), (Some(3), 2.0), (Some(100), 4.0), (None, 1.0)] {
            histogram.add(distance, count);
        }
        let misses = |lines| histogram.misses(bin_of(lines));
        assert_eq!([1, 3, 4, 96, 104].map(misses), [7.0, 7.0, 5.0, 5.0, 1.0]);
        assert_eq!(histogram.total(), 12.0);
        assert_eq!(histogram.end(), bin_of(100) + 1);
        assert_eq!(histogram.quantile(0.5), Some(3));
        assert_eq!(histogram.quantile(1.0), Some(bin_of(100)));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn what_is_missing_repeated_its_line() {
        let mut histogram = Histogram::default();
        histogram.add(Some(9), 3.0);
        histogram.complete(10.0);
        assert_eq!((histogram.count(0), histogram.total()), (7.0, 10.0));
    }
}
