//! Reuse distances by thread and time, in powers of two.

use std::cmp::Reverse;
use std::collections::HashMap;

use trackway_report::{Table, TableBuilder};
use trackway_trace::Batch;

use super::histogram::DISTANCE_BITS;
use super::Reference;
use crate::model::moments::{Moment, MomentBins, MomentCursor};

/// Distance 0, 1, 2 to 3, 4 to 7, ...
const BUCKETS: usize = DISTANCE_BITS as usize + 1;
/// Rows that are listed, those with the most references.
const MOST_ROWS: usize = 8_000;

/// The references of a thread in a bin of time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    /// All of them, those to the line of the reference before, too.
    references: u64,
    cold: f64,
    /// Weights of references by their distance.
    buckets: [f64; BUCKETS],
}

impl Default for Found {
    fn default() -> Found {
        Found {
            references: 0,
            cold: 0.0,
            buckets: [0.0; BUCKETS],
        }
    }
}

fn bucket_of(distance: u64) -> usize {
    match distance {
        0 => 0,
        distance => (distance.ilog2() as usize + 1).min(BUCKETS - 1),
    }
}

/// What was found at each moment.
#[derive(Debug)]
pub(super) struct ReuseMoments {
    cursor: MomentCursor,
    present: Option<(Moment, usize)>,
    places: HashMap<Moment, usize>,
    found: Vec<Found>,
}

impl ReuseMoments {
    pub fn new(bins: &MomentBins) -> ReuseMoments {
        ReuseMoments {
            cursor: MomentCursor::new(bins),
            present: None,
            places: HashMap::new(),
            found: Vec::new(),
        }
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.cursor.begin(batch);
    }

    /// How many of the next `left` iterations of so many accesses belong to one moment: at least one. These come next.
    pub fn next_iterations(&mut self, left: u64, accesses: u64) -> u64 {
        let (moment, count) = self.cursor.next(left.saturating_mul(accesses));
        self.go_to(moment);
        count.div_ceil(accesses.max(1)).min(left)
    }

    pub fn pass(&mut self, accesses: u64) {
        self.cursor.pass(accesses);
    }

    fn go_to(&mut self, moment: Moment) {
        if self.present.is_none_or(|(present, _)| present != moment) {
            self.present = Some((moment, self.place_of(moment)));
        }
    }

    fn place_of(&mut self, moment: Moment) -> usize {
        let next = self.found.len();
        let place = *self.places.entry(moment).or_insert(next);
        if place == next {
            self.found.push(Found::default());
        }
        place
    }

    fn present(&mut self) -> Option<&mut Found> {
        self.found.get_mut(self.present?.1)
    }

    pub fn count_reference(&mut self, times: u64) {
        if let Some(found) = self.present() {
            found.references = found.references.saturating_add(times);
        }
    }

    pub fn enter(&mut self, reference: &Reference, times: u64) {
        let weight = reference.weight * times as f64;
        let Some(found) = self.present() else { return };
        match reference.distance {
            Some(distance) => found.buckets[bucket_of(distance)] += weight,
            None => found.cold += weight,
        }
    }

    pub fn merge(&mut self, from: &ReuseMoments) {
        for (&moment, &place) in &from.places {
            let more = &from.found[place];
            let place = self.place_of(moment);
            let found = &mut self.found[place];
            found.references = found.references.saturating_add(more.references);
            found.cold += more.cold;
            for (weight, more) in found.buckets.iter_mut().zip(more.buckets) {
                *weight += more;
            }
        }
    }

    /// A row for each moment. References of distance 0 are what the others leave of all.
    pub fn table(&self) -> Table {
        let rows = self.rows();
        let used = |row: &Row| row.buckets.iter().rposition(|count| *count > 0).unwrap_or(0);
        let last = rows.iter().map(used).max().unwrap_or(0);
        let all = rows.len();
        let rows = most_used(rows);
        let title = "Reuse distances by thread and time, in lines";
        let mut builder = TableBuilder::new("reuse_moments", title, &rows)
            .total_rows(all)
            .number("stream", |row| row.moment.0)
            .number("bin", |row| row.moment.1)
            .count("references", |row| row.references)
            .count(("cold", "first"), |row| row.cold);
        for bucket in 1..=last {
            let from = 1u64 << (bucket - 1);
            let heading = (format!("from_{from}"), format!("from {from}"));
            builder = builder.count(heading, |row| row.buckets[bucket]);
        }
        builder.build()
    }

    /// In the order of threads and times, with whole numbers whose sums are those of the weights, rounded.
    fn rows(&self) -> Vec<Row> {
        let mut moments: Vec<(&Moment, &usize)> = self.places.iter().collect();
        moments.sort();
        let mut sums = [RoundedSum::default(); BUCKETS + 1];
        let row = |(moment, place): (&Moment, &usize)| {
            let found = &self.found[*place];
            Row {
                moment: *moment,
                references: found.references,
                cold: sums[BUCKETS].add(found.cold),
                buckets: std::array::from_fn(|bucket| sums[bucket].add(found.buckets[bucket])),
            }
        };
        moments.into_iter().map(row).collect()
    }
}

/// The same in whole numbers.
struct Row {
    moment: Moment,
    references: u64,
    cold: u64,
    buckets: [u64; BUCKETS],
}

fn most_used(mut rows: Vec<Row>) -> Vec<Row> {
    if rows.len() > MOST_ROWS {
        rows.sort_by_key(|row| Reverse(row.references));
        rows.truncate(MOST_ROWS);
        rows.sort_by_key(|row| row.moment);
    }
    rows
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
    }

    #[test]
    fn rows_that_have_no_room_are_those_with_the_fewest_references() {
        let row = |(number, references)| Row {
            moment: (number, 0),
            references,
            cold: 0,
            buckets: [0; BUCKETS],
        };
        let rows: Vec<Row> = (0..).zip(1..=MOST_ROWS as u64 + 3).map(row).collect();
        let kept = most_used(rows);
        assert_eq!(kept.len(), MOST_ROWS);
        assert_eq!((kept[0].moment, kept[0].references), ((3, 0), 4));
        assert!(kept.is_sorted_by_key(|row| row.moment));
    }

    #[test]
    fn rounded_parts_add_up_to_the_rounded_whole() {
        let mut sum = RoundedSum::default();
        let parts: Vec<u64> = std::iter::repeat_with(|| sum.add(0.4)).take(10).collect();
        assert_eq!(parts.iter().sum::<u64>(), 4);
        assert!(parts.iter().all(|part| *part <= 1));
    }
}
