//! Sums of the references of sites.

use serde::{Deserialize, Serialize};

use super::histogram::{Histogram, PackedHistogram};
use super::Reference;

const NONE: u32 = u32::MAX;

/// Counters of one site, or of one allocation site.
#[derive(Debug, Clone, Copy)]
struct Counters {
    accesses: u64,
    bytes: u64,
    references: u64,
    /// Number of its histogram; none as long as each reference was to the line of the reference before.
    histogram: u32,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            accesses: 0,
            bytes: 0,
            references: 0,
            histogram: NONE,
        }
    }
}

/// References by number. Most references are to the line of the reference before. These are counted, but not entered
/// into a histogram.
#[derive(Debug, Clone, Default)]
pub(super) struct References {
    counters: Vec<Counters>,
    histograms: Vec<Histogram>,
}

/// Everything that is known of one site, or of several together.
#[derive(Debug, Clone, Default)]
pub(super) struct Count {
    pub accesses: u64,
    pub bytes: u64,
    /// An access is one reference for each line that it overlaps.
    pub references: u64,
    /// All references.
    pub distances: Histogram,
}

/// References of one number on their way to another process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedReferences {
    number: u32,
    accesses: u64,
    bytes: u64,
    references: u64,
    distances: Option<PackedHistogram>,
}

impl References {
    /// Packs the references of all numbers that were used.
    pub fn packed(&self) -> Vec<PackedReferences> {
        let used = (0..self.len()).filter(|number| self.is_used(*number));
        let packed = |number: usize| {
            let counters = &self.counters[number];
            let histogram = self.histograms.get(counters.histogram as usize);
            PackedReferences {
                number: number as u32,
                accesses: counters.accesses,
                bytes: counters.bytes,
                references: counters.references,
                distances: histogram.map(Histogram::packed),
            }
        };
        used.map(packed).collect()
    }

    /// Unpacks the references of `len` numbers. None if there are other numbers, or bins that don't exist.
    pub fn unpack(packed: &[PackedReferences], len: usize) -> Option<References> {
        let mut unpacked = References::default();
        unpacked.resize(len);
        for references in packed {
            let mut histogram = NONE;
            if let Some(distances) = &references.distances {
                histogram = unpacked.histograms.len() as u32;
                unpacked.histograms.push(Histogram::unpack(distances)?);
            }
            *unpacked.counters.get_mut(references.number as usize)? = Counters {
                accesses: references.accesses,
                bytes: references.bytes,
                references: references.references,
                histogram,
            };
        }
        Some(unpacked)
    }

    /// Makes room for this many numbers.
    pub fn resize(&mut self, len: usize) {
        if len > self.counters.len() {
            self.counters.resize(len, Counters::default());
        }
    }

    pub fn len(&self) -> usize {
        self.counters.len()
    }

    #[inline(always)]
    pub fn count_access(&mut self, number: usize, bytes: u64, times: u64) {
        let counters = &mut self.counters[number];
        counters.accesses = counters.accesses.saturating_add(times);
        counters.bytes = counters.bytes.saturating_add(bytes.saturating_mul(times));
    }

    #[inline(always)]
    pub fn count_reference(&mut self, number: usize, times: u64) {
        let references = &mut self.counters[number].references;
        *references = references.saturating_add(times);
    }

    #[inline(always)]
    pub fn enter(&mut self, number: usize, found: &Reference, times: u64) {
        if self.counters[number].histogram == NONE {
            self.add_histogram(number);
        }
        let histogram = &mut self.histograms[self.counters[number].histogram as usize];
        histogram.add(found.distance, found.weight * times as f64);
    }

    #[cold]
    fn add_histogram(&mut self, number: usize) {
        self.counters[number].histogram = self.histograms.len() as u32;
        self.histograms.push(Histogram::default());
    }

    /// Adds to `count` what is known of a number.
    pub fn add_to(&self, number: usize, count: &mut Count) {
        let counters = &self.counters[number];
        count.accesses = count.accesses.saturating_add(counters.accesses);
        count.bytes = count.bytes.saturating_add(counters.bytes);
        count.references = count.references.saturating_add(counters.references);
        if let Some(histogram) = self.histograms.get(counters.histogram as usize) {
            count.distances += histogram;
        }
    }

    /// Whether there was any access.
    pub fn is_used(&self, number: usize) -> bool {
        self.counters[number].accesses > 0 || self.counters[number].references > 0
    }

    pub fn merge(&mut self, from: &References) {
        self.resize(from.len());
        for (number, more) in from.counters.iter().enumerate() {
            let counters = &mut self.counters[number];
            counters.accesses = counters.accesses.saturating_add(more.accesses);
            counters.bytes = counters.bytes.saturating_add(more.bytes);
            counters.references = counters.references.saturating_add(more.references);
            if let Some(histogram) = from.histograms.get(more.histogram as usize) {
                if self.counters[number].histogram == NONE {
                    self.add_histogram(number);
                }
                self.histograms[self.counters[number].histogram as usize] += histogram;
            }
        }
    }

    /// Accesses and bytes by number.
    pub fn accesses(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counters
            .iter()
            .map(|counters| (counters.accesses, counters.bytes))
    }
}

impl Count {
    /// Enters what was only counted. Of a sample, this makes the total right (SHARDS-adj).
    pub fn complete(&mut self) {
        self.distances.complete(self.references as f64);
    }
}
