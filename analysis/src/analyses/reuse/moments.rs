//! Reuse distances by thread and time, in powers of two: of all references, and of each group of sites.

use std::cmp::Reverse;
use std::collections::HashMap;

use trackway_report::{Table, TableBuilder};
use trackway_trace::Batch;

use super::group_moments::GroupMoments;
use super::octaves::{last_bucket, with_columns, Octaves, Rounding, WholeOctaves};
use super::Reference;
use crate::model::moments::{Moment, MomentBins, MomentCursor};

/// Rows that are listed, those with the most references.
const MOST_ROWS: usize = 8_000;

/// What was found at each moment.
#[derive(Debug)]
pub(super) struct ReuseMoments {
    cursor: MomentCursor,
    present: Option<(Moment, usize)>,
    places: HashMap<Moment, usize>,
    found: Vec<Octaves>,
    pub by_group: GroupMoments,
}

impl ReuseMoments {
    pub fn new(bins: &MomentBins) -> ReuseMoments {
        ReuseMoments {
            cursor: MomentCursor::new(bins),
            present: None,
            places: HashMap::new(),
            found: Vec::new(),
            by_group: GroupMoments::default(),
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
            self.by_group.go_to(moment);
        }
    }

    fn place_of(&mut self, moment: Moment) -> usize {
        let next = self.found.len();
        let place = *self.places.entry(moment).or_insert(next);
        if place == next {
            self.found.push(Octaves::default());
        }
        place
    }

    fn present(&mut self) -> Option<&mut Octaves> {
        self.found.get_mut(self.present?.1)
    }

    pub fn count_access(&mut self, site: usize, times: u64) {
        self.by_group.count_access(site, times);
    }

    pub fn count_reference(&mut self, site: usize, times: u64) {
        if let Some(found) = self.present() {
            found.count_reference(times);
        }
        self.by_group.count_reference(site, times);
    }

    pub fn enter(&mut self, site: usize, reference: &Reference, times: u64) {
        if let Some(found) = self.present() {
            found.enter(reference, times);
        }
        self.by_group.enter(site, reference, times);
    }

    pub fn merge(&mut self, from: &ReuseMoments) {
        for (&moment, &place) in &from.places {
            let into = self.place_of(moment);
            self.found[into].merge(&from.found[place]);
        }
        self.by_group.merge(&from.by_group);
    }

    /// A row for each moment.
    pub fn table(&self) -> Table {
        let rows = self.rows();
        let last = last_bucket(rows.iter().map(|row| &row.octaves));
        let all = rows.len();
        let rows = most_used(rows);
        let title = "Reuse distances by thread and time, in lines";
        let builder = TableBuilder::new("reuse_moments", title, &rows)
            .total_rows(all)
            .number("stream", |row| row.moment.0)
            .number("bin", |row| row.moment.1);
        with_columns(builder, last, |row| &row.octaves).build()
    }

    /// In the order of threads and times.
    fn rows(&self) -> Vec<Row> {
        let mut moments: Vec<(&Moment, &usize)> = self.places.iter().collect();
        moments.sort();
        let mut rounding = Rounding::new();
        let row = |(moment, place): (&Moment, &usize)| Row {
            moment: *moment,
            octaves: rounding.next(&self.found[*place]),
        };
        moments.into_iter().map(row).collect()
    }
}

struct Row {
    moment: Moment,
    octaves: WholeOctaves,
}

fn most_used(mut rows: Vec<Row>) -> Vec<Row> {
    if rows.len() > MOST_ROWS {
        rows.sort_by_key(|row| Reverse(row.octaves.references));
        rows.truncate(MOST_ROWS);
        rows.sort_by_key(|row| row.moment);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::octaves::BUCKETS;
    use super::*;

    #[test]
    fn rows_that_have_no_room_are_those_with_the_fewest_references() {
        let row = |(number, references)| Row {
            moment: (number, 0),
            octaves: WholeOctaves {
                references,
                cold: 0,
                buckets: [0; BUCKETS],
            },
        };
        let rows: Vec<Row> = (0..).zip(1..=MOST_ROWS as u64 + 3).map(row).collect();
        let kept = most_used(rows);
        assert_eq!(kept.len(), MOST_ROWS);
        assert_eq!((kept[0].moment, kept[0].octaves.references), ((3, 0), 4));
        assert!(kept.is_sorted_by_key(|row| row.moment));
    }
}
