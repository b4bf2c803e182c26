//! Reuse distances in powers of two.

use trackway_report::TableBuilder;

use super::histogram::DISTANCE_BITS;
use super::Reference;

/// Distance 0, 1, 2 to 3, 4 to 7, ...
pub(super) const BUCKETS: usize = DISTANCE_BITS as usize + 1;

/// Some references and their distances.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Octaves {
    /// All of them, those to the line of the reference before, too.
    pub references: u64,
    cold: f64,
    /// Weights of references by their distance, as far as there are any.
    buckets: Vec<f64>,
}

/// The same in whole numbers.
pub(super) struct WholeOctaves {
    pub references: u64,
    pub cold: u64,
    pub buckets: [u64; BUCKETS],
}

fn bucket_of(distance: u64) -> usize {
    match distance {
        0 => 0,
        distance => (distance.ilog2() as usize + 1).min(BUCKETS - 1),
    }
}

/// The last bucket that any of them has something in.
pub(super) fn last_bucket<'o>(all: impl Iterator<Item = &'o WholeOctaves>) -> usize {
    all.map(WholeOctaves::last_bucket).max().unwrap_or(0)
}

/// Adds the columns of such counts, with those of buckets up to the last one. References of distance 0 are what the others leave of all.
pub(super) fn with_columns<'a, R>(
    table: TableBuilder<'a, R>,
    last: usize,
    of: impl Fn(&R) -> &WholeOctaves,
) -> TableBuilder<'a, R> {
    let table = table
        .count("references", |row| of(row).references)
        .count(("cold", "first"), |row| of(row).cold);
    (1..=last).fold(table, |table, bucket| {
        let from = first_of_bucket(bucket);
        let heading = (format!("from_{from}"), format!("from {from}"));
        table.count(heading, |row| of(row).buckets[bucket])
    })
}

/// The smallest distance of a bucket but the first.
fn first_of_bucket(bucket: usize) -> u64 {
    1 << (bucket - 1)
}

impl Octaves {
    pub fn count_reference(&mut self, times: u64) {
        self.references = self.references.saturating_add(times);
    }

    pub fn enter(&mut self, reference: &Reference, times: u64) {
        let weight = reference.weight * times as f64;
        match reference.distance {
            Some(distance) => self.add(bucket_of(distance), weight),
            None => self.cold += weight,
        }
    }

    fn add(&mut self, bucket: usize, weight: f64) {
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0.0);
        }
        self.buckets[bucket] += weight;
    }

    pub fn merge(&mut self, more: &Octaves) {
        self.count_reference(more.references);
        self.cold += more.cold;
        for (bucket, weight) in more.buckets.iter().enumerate() {
            self.add(bucket, *weight);
        }
    }
}

/// Rounds references so that their sums are the rounded sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounding {
    cold: RoundedSum,
    buckets: [RoundedSum; BUCKETS],
}

impl Rounding {
    pub fn new() -> Rounding {
        Rounding {
            cold: RoundedSum::default(),
            buckets: [RoundedSum::default(); BUCKETS],
        }
    }

    /// The next ones in whole numbers.
    pub fn next(&mut self, octaves: &Octaves) -> WholeOctaves {
        let weight = |bucket: usize| octaves.buckets.get(bucket).copied().unwrap_or(0.0);
        WholeOctaves {
            references: octaves.references,
            cold: self.cold.add(octaves.cold),
            buckets: std::array::from_fn(|bucket| self.buckets[bucket].add(weight(bucket))),
        }
    }
}

impl WholeOctaves {
    /// The last bucket that has any.
    pub fn last_bucket(&self) -> usize {
        self.buckets.iter().rposition(|count| *count > 0).unwrap_or(0)
    }
}

/// Rounds numbers so that their sum is the rounded sum.
#[derive(Debug, Clone, Copy, Default)]
struct RoundedSum {
    exact: f64,
    whole: u64,
}

impl RoundedSum {
    /// What the next number adds to the rounded sum.
    fn add(&mut self, number: f64) -> u64 {
        self.exact += number;
        let whole = self.exact.round() as u64;
        let more = whole.saturating_sub(self.whole);
        self.whole = whole;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_begin_at_powers_of_two() {
        let firsts = [0, 1, 2, 4, 8].map(bucket_of);
        assert_eq!(firsts, [0, 1, 2, 3, 4]);
        assert_eq!([3, 7, 15].map(bucket_of), [2, 3, 4]);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert!((1..BUCKETS).all(|bucket| bucket_of(first_of_bucket(bucket)) == bucket));
    }

    #[test]
    fn rounded_parts_add_up_to_the_rounded_whole() {
        let mut sum = RoundedSum::default();
        let parts: Vec<u64> = std::iter::repeat_with(|| sum.add(0.4)).take(10).collect();
        assert_eq!(parts.iter().sum::<u64>(), 4);
        assert!(parts.iter().all(|part| *part <= 1));
    }
}
