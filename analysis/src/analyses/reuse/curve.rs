//! Distances and miss ratios as tables.

use trackway_report::{Table, TableBuilder};

use super::histogram::{first_of, Histogram, BINS};
use super::references::Count;
use super::sampling::PARTS;

/// What all curves are made from.
pub(super) struct Whole<'w> {
    pub line_bytes: u64,
    /// Whether there is a row for each bin, instead of one for each power of two.
    pub fine: bool,
    pub all: &'w Count,
    pub reads: &'w Count,
    pub writes: &'w Count,
    /// What each part of the sample found.
    pub parts: &'w [Histogram],
}

/// Bins from `bin` to before `end`.
#[derive(Debug, Clone, Copy)]
struct Step {
    bin: usize,
    end: usize,
}

/// Steps that end with the last bin that counts anything.
fn steps(distances: &Histogram, fine: bool) -> Vec<Step> {
    let end = distances.end();
    let is_border = |bin: &usize| fine || *bin == 0 || first_of(*bin).is_power_of_two();
    let borders: Vec<usize> = (0..BINS).filter(is_border).take_while(|bin| *bin < end).collect();
    let ends = borders.iter().skip(1).copied();
    let last = (end..BINS).find(is_border).unwrap_or(BINS);
    let ends = ends.chain([last]);
    borders
        .iter()
        .zip(ends)
        .map(|(&bin, end)| Step { bin, end })
        .collect()
}

/// Weights of samples are no whole numbers, and correcting them may leave less than nothing.
fn whole(count: f64) -> u64 {
    count.round() as u64
}

/// The references that miss an LRU cache of as many lines as the bin begins with, out of all.
pub(super) fn missing(count: &Count, bin: usize) -> (u64, u64) {
    let misses = whole(count.distances.misses(bin));
    (misses.min(count.references), count.references)
}

/// Sizes, as bins: from 1 line to the one that misses only cold references.
pub(super) fn sizes(distances: &Histogram, fine: bool) -> Vec<usize> {
    let ends = steps(distances, fine).into_iter().map(|step| step.end);
    let mut sizes: Vec<usize> = ends.filter(|bin| *bin < BINS).collect();
    if sizes.is_empty() {
        sizes.push(1);
    }
    sizes
}

impl Whole<'_> {
    /// How many references had which distance.
    pub fn distances(&self) -> Table {
        let steps = steps(&self.all.distances, self.fine);
        let mut rows: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
        rows.push(None);
        let counted = |count: &Count, row: &Option<Step>| match row {
            Some(step) => whole((step.bin..step.end).map(|bin| count.distances.count(bin)).sum()),
            None => whole(count.distances.cold),
        };
        let title = "Reuse distances, in lines; the last row: first references of lines";
        TableBuilder::new("reuse_distances", title, &rows)
            .count(("from_lines", "from"), |row| row.map(|step| first_of(step.bin)))
            .count(("below_lines", "below"), |row| row.map(|step| first_of(step.end)))
            .count("references", |row| counted(self.all, row))
            .count("reads", |row| counted(self.reads, row))
            .count("writes", |row| counted(self.writes, row))
            .share("share", |row| (counted(self.all, row), self.all.references))
            .build()
    }

    /// The miss ratios of LRU caches of all sizes.
    pub fn miss_ratios(&self) -> Table {
        let rows = sizes(&self.all.distances, self.fine);
        let title = "Miss ratios of fully associative LRU caches";
        let mut builder = TableBuilder::new("miss_ratio_curve", title, &rows)
            .count(("cache_lines", "lines"), |bin| first_of(*bin))
            .bytes(("cache_bytes", "bytes"), |bin| {
                first_of(*bin).saturating_mul(self.line_bytes)
            })
            .count("misses", |bin| missing(self.all, *bin).0)
            .share("miss_ratio", |bin| missing(self.all, *bin))
            .share(("read_miss_ratio", "of reads"), |bin| missing(self.reads, *bin))
            .share(("write_miss_ratio", "of writes"), |bin| {
                missing(self.writes, *bin)
            });
        if !self.parts.is_empty() {
            builder = builder.share("standard_error", |bin| {
                (whole(self.standard_error(*bin)), self.all.references)
            });
        }
        builder.build()
    }

    /// Standard error of the misses, from how much the parts of the sample differ (random groups).
    fn standard_error(&self, bin: usize) -> f64 {
        let parts = PARTS as f64;
        let misses = self.parts.iter().map(|part| part.misses(bin));
        let mean = misses.clone().sum::<f64>() / parts;
        let deviations = misses.map(|misses| (misses - mean) * (misses - mean));
        (deviations.sum::<f64>() * parts / (parts - 1.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(distances: &[(Option<u64>, f64)]) -> Count {
        let mut count = Count::default();
        for &(distance, references) in distances {
            count.distances.add(distance, references);
            count.references += references as u64;
        }
        count
    }

    #[test]
    fn sizes_go_from_one_line_to_the_one_that_holds_all() {
        let lines = |distance, fine| -> Vec<u64> {
            let count = count(&[(Some(distance), 1.0)]);
            let sizes = sizes(&count.distances, fine);
            sizes.into_iter().map(first_of).collect()
        };
        assert_eq!(lines(0, false), [1]);
        assert_eq!(lines(5, false), [1, 2, 4, 8]);
        assert_eq!(lines(8, false), [1, 2, 4, 8, 16]);
        assert_eq!(lines(17, true)[14..], [15, 16, 18]);
        assert_eq!(sizes(&Histogram::default(), false), [1]);
    }

    #[test]
    fn misses_never_exceed_the_references() {
        let mut sample = count(&[(Some(100), 5.0), (None, 3.0)]);
        sample.references = 6;
        sample.complete();
        assert_eq!(missing(&sample, 1), (6, 6));
        assert_eq!(missing(&sample, 200), (3, 6));
    }

    #[test]
    fn equal_parts_have_no_error_and_different_ones_have() {
        let part = |misses| count(&[(Some(9), misses)]).distances;
        let none = Count::default();
        let error = |parts: &[Histogram]| {
            let whole = Whole {
                line_bytes: 64,
                fine: false,
                all: &none,
                reads: &none,
                writes: &none,
                parts,
            };
            whole.standard_error(1)
        };
        assert_eq!(error(&vec![part(10.0); PARTS]), 0.0);
        let mut parts = vec![part(0.0); PARTS];
        parts[3] = part(16.0);
        // Deviations of 1 fifteen times and of 15 once: 240 x 16 / 15.
        assert!((error(&parts) - 16.0).abs() < 1e-9);
    }
}
