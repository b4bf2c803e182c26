//! Distances from a sample of the lines: SHARDS.

use std::collections::{BinaryHeap, HashMap};

use super::stack::LruStack;
use super::{Reference, Sampling};
use crate::model::cache::LineHash;

/// Hashes are below this; a line is sampled if its hash is below the threshold.
const RANGE: u64 = 1 << 24;
/// Parts of the sample, by other bits of the hash, whose differences tell the error.
pub(super) const PARTS: usize = 16;

/// Stack distances of the lines whose hash is below a threshold, scaled up (Waldspurger and others, *Efficient MRC
/// Construction with SHARDS*, FAST 2015). With a limit on lines, the threshold falls so that no more lines are kept.
#[derive(Debug, Clone)]
pub(super) struct SampledStack {
    threshold: u64,
    most_lines: usize,
    /// Small numbers for the sampled lines, so that the stack stays small.
    numbers: HashMap<u64, u32, LineHash>,
    unused: Vec<u32>,
    /// Hash, line and number of each sampled line; used with a limit only.
    largest: BinaryHeap<(u64, u64, u32)>,
    stack: LruStack,
    pub sampled: u64,
}

impl SampledStack {
    pub fn new(sampling: Sampling) -> SampledStack {
        let (threshold, most_lines) = match sampling {
            Sampling::Rate(rate) => ((rate * RANGE as f64).round() as u64, usize::MAX),
            Sampling::Lines(lines) => (RANGE, lines.max(1)),
        };
        SampledStack {
            threshold: threshold.clamp(1, RANGE),
            most_lines,
            numbers: HashMap::default(),
            unused: Vec::new(),
            largest: BinaryHeap::new(),
            stack: LruStack::new(),
            sampled: 0,
        }
    }

    /// The share of lines that is sampled now.
    pub fn rate(&self) -> f64 {
        self.threshold as f64 / RANGE as f64
    }

    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// References a line; none if it is not sampled. A reference stands for as many as the rate says when it is made.
    /// That equals counting it once and scaling all counts down whenever the threshold falls.
    #[inline(always)]
    pub fn reference(&mut self, line: u64, times: u64) -> Option<Reference> {
        let hash = hash(line);
        if hash % RANGE >= self.threshold {
            return None;
        }
        self.reference_sampled(line, hash, times)
    }

    fn reference_sampled(&mut self, line: u64, hash: u64, times: u64) -> Option<Reference> {
        self.sampled = self.sampled.saturating_add(times);
        let scale = RANGE as f64 / self.threshold as f64;
        let number = self.number_of(line, hash % RANGE);
        let distance = self.stack.reference(number.into());
        if self.stack.len() > self.most_lines {
            self.forget_largest();
        }
        Some(Reference {
            distance: distance.map(|distance| (distance as f64 * scale).round() as u64),
            weight: scale,
            part: (hash >> 32) as usize % PARTS,
        })
    }

    fn number_of(&mut self, line: u64, hash: u64) -> u32 {
        let fresh = self.numbers.len() as u32;
        *self.numbers.entry(line).or_insert_with(|| {
            let number = self.unused.pop().unwrap_or(fresh);
            if self.most_lines < usize::MAX {
                self.largest.push((hash, line, number));
            }
            number
        })
    }

    /// Lowers the threshold to the largest hash among the lines, and forgets those that have it.
    #[cold]
    fn forget_largest(&mut self) {
        let Some(&(threshold, ..)) = self.largest.peek() else {
            return;
        };
        self.threshold = threshold.max(1);
        while let Some(&(hash, line, number)) = self.largest.peek() {
            if hash < self.threshold {
                break;
            }
            self.largest.pop();
            self.numbers.remove(&line);
            self.stack.remove(number.into());
            self.unused.push(number);
        }
    }
}

/// Steele and others' SplitMix64, whose bits all depend on all bits of the number.
#[inline(always)]
fn hash(line: u64) -> u64 {
    let mut bits = line.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_sampled_are_the_exact_distances() {
        let (mut exact, mut sampled) = (LruStack::new(), SampledStack::new(Sampling::Rate(1.0)));
        for number in 0..20_000u64 {
            let line = number * number % 7919;
            let found = sampled.reference(line, 1).unwrap();
            assert_eq!((found.distance, found.weight), (exact.reference(line), 1.0));
        }
    }

    #[test]
    fn a_limit_of_lines_holds_and_lowers_the_rate() {
        let mut sampled = SampledStack::new(Sampling::Lines(100));
        let mut weights = 0.0;
        for round in 0..3 {
            for line in 0..20_000 {
                let found = sampled.reference(line, 1);
                weights += found.map_or(0.0, |found| if round > 0 { found.weight } else { 0.0 });
                assert!(sampled.len() <= 100);
            }
        }
        let expected = 100.0 / 20_000.0;
        assert!(
            (sampled.rate() / expected - 1.0).abs() < 0.25,
            "{}",
            sampled.rate()
        );
        assert!((weights / 40_000.0 - 1.0).abs() < 0.25, "{weights}");
        assert!(sampled.numbers.len() <= 100 && sampled.largest.len() <= 100);
    }
}
