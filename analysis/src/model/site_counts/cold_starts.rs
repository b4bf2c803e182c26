//! The misses of caches that would have been warm when a burst began, estimated from caches that begin each burst empty.
//!
//! It is known for sure of an LRU set how many other lines were used since a line's last use, if that lies in the burst:
//! fewer than the set has ways is a hit. A line that wasn't used in the burst before misses for sure once the set is full
//! of lines of this burst. Of other first uses only a lower bound is known: the lines of the burst in the set. Such
//! observations are right-censored, and the estimator of E. L. Kaplan and P. Meier ("Nonparametric Estimation from
//! Incomplete Observations", Journal of the American Statistical Association 53, 1958) tells the part of them that
//! misses. It is computed for each site, with a few observations of all sites added, and for each level on what missed in
//! the level before.

use std::collections::HashMap;

use trackway_trace::{Batch, Piece};

use super::part::LinePart;
use crate::model::cache::{CacheGeometry, Caches};

/// A search through more ways takes too long.
const MOST_WAYS: u32 = 64;
/// So many observations of all sites are added to those of each.
const PRIOR: f64 = 2.0;
/// What happens so often in the mean isn't seen at all in one of twenty cases.
const UNSEEN_USES: f64 = 3.0;

/// What was seen of a use of a line in a set.
enum Seen {
    /// So many other lines of the set were used since the last use.
    Again(usize),
    /// At least as many as it has ways.
    Deep,
    /// At least so many, and perhaps as many as it has ways.
    First(usize),
}

/// One level's sets, with the lines that were used in the present burst, the last one first.
#[derive(Debug, Clone)]
struct Stacks {
    sets: u64,
    ways: usize,
    line_shift: u32,
    lines: Vec<u64>,
    filled: Vec<u8>,
}

impl Stacks {
    fn new(geometry: &CacheGeometry) -> Stacks {
        let (sets, ways) = (geometry.sets(), geometry.ways as usize);
        Stacks {
            sets,
            ways,
            line_shift: geometry.line_bytes.trailing_zeros(),
            lines: vec![0; sets as usize * ways],
            filled: vec![0; sets as usize],
        }
    }

    fn empty(&mut self) {
        self.filled.fill(0);
    }

    fn touch(&mut self, address: u64) -> Seen {
        let line = address >> self.line_shift;
        let set = (line % self.sets) as usize;
        let filled = self.filled[set] as usize;
        let lines = &mut self.lines[set * self.ways..][..self.ways];
        if let Some(depth) = lines[..filled].iter().position(|&other| other == line) {
            lines[..=depth].rotate_right(1);
            return Seen::Again(depth);
        }
        let kept = (filled + 1).min(self.ways);
        lines[..kept].rotate_right(1);
        lines[0] = line;
        self.filled[set] = kept as u8;
        match filled == self.ways {
            true => Seen::Deep,
            false => Seen::First(filled),
        }
    }
}

/// The levels of a thread.
#[derive(Debug, Clone)]
struct Hierarchy {
    burst: u32,
    levels: Vec<Stacks>,
}

/// How often each depth was seen, at each level.
type Seens = Box<[u32]>;

/// Where the counts of a level begin in a site's: uses again by depth, first uses by the set's lines, deep ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Columns {
    first: usize,
    ways: usize,
}

impl Columns {
    fn again(self, depth: usize) -> usize {
        self.first + depth
    }

    fn first(self, filled: usize) -> usize {
        self.first + self.ways + filled
    }

    fn deep(self) -> usize {
        self.first + 2 * self.ways
    }
}

/// What is seen of the levels up to a measured one, apart by parts of the run and sites.
#[derive(Debug, Clone)]
pub(super) struct ColdStarts {
    template: Vec<Stacks>,
    threads: HashMap<u32, Hierarchy>,
    columns: Vec<Columns>,
    width: usize,
    parts: Vec<HashMap<u32, Seens>>,
    /// The present part, whose counts lie here by site.
    part: usize,
    present: Vec<u32>,
    /// Whether a site has any there, and those that have.
    is_present: Vec<bool>,
    present_sites: Vec<u32>,
}

impl ColdStarts {
    /// None unless the levels up to that one, from 0, are plain and each thread has its own.
    pub fn new(caches: &Caches, level: usize, parts: usize) -> Option<ColdStarts> {
        let levels = caches.levels().get(..=level)?;
        let suits = |level: &crate::model::cache::CacheLevel| {
            level.is_plain() && !level.shared && level.geometry.ways <= MOST_WAYS
        };
        if !levels.iter().all(suits) {
            return None;
        }
        let template: Vec<Stacks> = levels.iter().map(|level| Stacks::new(&level.geometry)).collect();
        let mut width = 0;
        let columns = template.iter().map(|stacks| {
            let first = width;
            width += 2 * stacks.ways + 1;
            Columns {
                first,
                ways: stacks.ways,
            }
        });
        let columns = columns.collect();
        Some(ColdStarts {
            template,
            threads: HashMap::new(),
            columns,
            width,
            parts: vec![HashMap::new(); parts],
            part: 0,
            present: Vec::new(),
            is_present: Vec::new(),
            present_sites: Vec::new(),
        })
    }

    /// Takes what a thread did in a burst, which belongs to a part of the run.
    pub fn take(&mut self, batch: &Batch, lines: LinePart, burst: u32, part: usize) {
        if part != self.part {
            self.end_part();
            self.part = part;
        }
        let mut hierarchy = self.threads.remove(&batch.stream).unwrap_or_else(|| Hierarchy {
            burst,
            levels: self.template.clone(),
        });
        if hierarchy.burst != burst {
            hierarchy.burst = burst;
            hierarchy.levels.iter_mut().for_each(Stacks::empty);
        }
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => range.for_each(|index| {
                    let site = batch.site[index].index();
                    self.access(
                        &mut hierarchy,
                        lines,
                        site,
                        batch.address[index],
                        batch.length(index),
                    );
                }),
                Piece::Run(run) => {
                    for iteration in 0..run.count {
                        for lane in batch.lanes(run) {
                            let address = lane.address_in(iteration);
                            self.access(
                                &mut hierarchy,
                                lines,
                                lane.site.index(),
                                address,
                                lane.size.into(),
                            );
                        }
                    }
                }
            }
        }
        self.threads.insert(batch.stream, hierarchy);
    }

    fn access(&mut self, hierarchy: &mut Hierarchy, lines: LinePart, site: usize, address: u64, length: u64) {
        if length == 0 {
            return;
        }
        if lines.is_in_one_line(address, length) {
            if lines.is_whole() || lines.has(address) {
                self.touch(hierarchy, site, address);
            }
            return;
        }
        let step = 1u64 << hierarchy.levels[0].line_shift;
        let last = address.saturating_add(length - 1);
        let mut at = address & !(step - 1);
        loop {
            if lines.is_whole() || lines.has(at) {
                self.touch(hierarchy, site, at);
            }
            match at.checked_add(step) {
                Some(next) if next <= last => at = next,
                _ => break,
            }
        }
    }

    fn touch(&mut self, hierarchy: &mut Hierarchy, site: usize, address: u64) {
        let row = site * self.width;
        if self.present.len() < row + self.width {
            self.present.resize(row + self.width, 0);
            self.is_present.resize(site + 1, false);
        }
        if !self.is_present[site] {
            self.is_present[site] = true;
            self.present_sites.push(site as u32);
        }
        let counts = &mut self.present[row..row + self.width];
        // What surely missed in the levels before is seen by a level. What may have missed only moves its lines.
        let mut is_sure = true;
        for (stacks, columns) in hierarchy.levels.iter_mut().zip(&self.columns) {
            let (column, goes_on, is_known) = match stacks.touch(address) {
                Seen::Again(depth) => (columns.again(depth), false, true),
                Seen::Deep => (columns.deep(), true, true),
                Seen::First(filled) => (columns.first(filled), true, false),
            };
            counts[column] += u32::from(is_sure);
            is_sure &= is_known;
            if !goes_on {
                break;
            }
        }
    }

    /// Threads whose batches take turns may be in different parts: so what this costs must not grow with sites that have nothing.
    fn end_part(&mut self) {
        let width = self.width;
        let Some(part) = self.parts.get_mut(self.part) else {
            return;
        };
        for site in self.present_sites.drain(..) {
            let counts = &mut self.present[site as usize * width..][..width];
            add(part, site, counts);
            counts.fill(0);
            self.is_present[site as usize] = false;
        }
    }

    pub fn merge(&mut self, other: &ColdStarts) {
        self.end_part();
        let mut other = other.clone();
        other.end_part();
        for (part, added) in self.parts.iter_mut().zip(&other.parts) {
            for (site, counts) in added {
                add(part, *site, counts);
            }
        }
    }

    /// The misses of the last level.
    pub fn estimates(mut self) -> WarmMisses {
        self.end_part();
        let mut sums: HashMap<u32, Vec<f64>> = HashMap::new();
        for part in &self.parts {
            for (site, counts) in part {
                let sum = sums.entry(*site).or_insert_with(|| vec![0.0; self.width]);
                sum.iter_mut()
                    .zip(counts.iter())
                    .for_each(|(sum, &count)| *sum += f64::from(count));
            }
        }
        let mut places: Vec<u32> = sums.keys().copied().collect();
        places.sort_unstable();
        let mut rows: Vec<Vec<f64>> = places.iter().filter_map(|site| sums.remove(site)).collect();
        let mut pool = vec![0.0; self.width];
        for row in &rows {
            pool.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        let all = self.misses(&rows, &pool);
        let mut without = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            // Counts are whole numbers, so that the sums come back exactly.
            change(&mut rows, &mut pool, &places, part, |sum, count| *sum -= count);
            without.push(self.misses(&rows, &pool));
            change(&mut rows, &mut pool, &places, part, |sum, count| *sum += count);
        }
        let sure = self
            .columns
            .iter()
            .map(|&columns| Survival::sure_part(&pool, columns));
        WarmMisses {
            doubtful: 1.0 - sure.product::<f64>(),
            ..WarmMisses::new(places, all, without)
        }
    }

    /// The misses of each site.
    fn misses(&self, rows: &[Vec<f64>], pool: &[f64]) -> Vec<f64> {
        let pools: Vec<Survival> = self
            .columns
            .iter()
            .map(|&columns| Survival::of_all(pool, columns))
            .collect();
        rows.iter()
            .map(|row| {
                let (first, others) = (self.columns[0], &self.columns[1..]);
                let mut misses = pools[0].misses(row, first).0;
                for (columns, pool) in others.iter().zip(&pools[1..]) {
                    misses *= pool.miss_ratio(row, *columns);
                }
                misses
            })
            .collect()
    }
}

/// Changes the rows of sites, and the sum of all, by what a part has of them.
fn change(
    rows: &mut [Vec<f64>],
    pool: &mut [f64],
    places: &[u32],
    part: &HashMap<u32, Seens>,
    by: impl Fn(&mut f64, f64),
) {
    for (site, counts) in part {
        let row = places.binary_search(site).ok().map(|place| &mut rows[place][..]);
        for row in row.into_iter().chain([&mut *pool]) {
            row.iter_mut()
                .zip(counts.iter())
                .for_each(|(sum, &count)| by(sum, f64::from(count)));
        }
    }
}

fn add(part: &mut HashMap<u32, Seens>, site: u32, counts: &[u32]) {
    match part.get_mut(&site) {
        Some(sums) => sums
            .iter_mut()
            .zip(counts)
            .for_each(|(sum, count)| *sum = sum.saturating_add(*count)),
        None => drop(part.insert(site, counts.into())),
    }
}

/// The hazards of all sites at a level: of the uses with at least so many other lines since the last use, the part with
/// exactly so many.
struct Survival {
    hazards: Vec<f64>,
    miss_ratio: f64,
}

impl Survival {
    fn of_all(counts: &[f64], columns: Columns) -> Survival {
        let nothing = Survival::always(0.0, columns);
        let mut hazards = vec![0.0; columns.ways];
        nothing.walk(counts, columns, 0.0, |depth, hazard| hazards[depth] = hazard);
        let mut survival = Survival {
            hazards,
            miss_ratio: 0.0,
        };
        let (misses, all) = survival.misses(counts, columns);
        survival.miss_ratio = if all > 0.0 { misses / all } else { 0.0 };
        survival
    }

    /// The same hazard at each depth.
    fn always(hazard: f64, columns: Columns) -> Survival {
        Survival {
            hazards: vec![hazard; columns.ways],
            miss_ratio: 0.0,
        }
    }

    /// The expected misses of what was counted, and its uses, with so many uses added that behave as all sites' do. Tells each
    /// depth's hazard, the deepest one first.
    #[inline(always)]
    fn walk(
        &self,
        counts: &[f64],
        columns: Columns,
        prior: f64,
        mut tell: impl FnMut(usize, f64),
    ) -> (f64, f64) {
        // Those of which it is known that they are deeper.
        let mut deeper = counts[columns.deep()];
        let (mut misses, mut uses) = (deeper, deeper);
        let mut survives = 1.0;
        for depth in (0..columns.ways).rev() {
            let exactly = counts[columns.again(depth)];
            let first = counts[columns.first(depth)];
            let at_risk = deeper + exactly + prior;
            let hazard = match at_risk > 0.0 {
                true => (exactly + prior * self.hazards[depth]) / at_risk,
                false => 0.0,
            };
            tell(depth, hazard);
            survives *= 1.0 - hazard;
            misses += first * survives;
            uses += first + exactly;
            // A first use with so many lines in the set is at least so deep.
            deeper += exactly + first;
        }
        (misses, uses)
    }

    /// The part of all sites' misses that is left if at each depth so many more uses had hit that, by chance, none
    /// might have been seen of them.
    fn sure_part(counts: &[f64], columns: Columns) -> f64 {
        let (misses, _) = Survival::always(0.0, columns).walk(counts, columns, 0.0, |_, _| ());
        let (sure, _) = Survival::always(1.0, columns).walk(counts, columns, UNSEEN_USES, |_, _| ());
        if misses > 0.0 {
            sure / misses
        } else {
            1.0
        }
    }

    /// The expected misses of a site, and its uses.
    fn misses(&self, counts: &[f64], columns: Columns) -> (f64, f64) {
        self.walk(counts, columns, PRIOR, |_, _| ())
    }

    fn miss_ratio(&self, counts: &[f64], columns: Columns) -> f64 {
        let (misses, uses) = self.misses(counts, columns);
        (misses + PRIOR * self.miss_ratio) / (uses + PRIOR)
    }
}

/// The misses of each site that the caches would have had if they had been warm.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WarmMisses {
    sites: Vec<u32>,
    all: Misses,
    /// The same without one part of the run.
    without: Vec<Misses>,
    /// Which part of the misses may be hits, since bursts hold too few uses with as many other lines in between.
    pub doubtful: f64,
}

/// Misses by place in the list of sites.
#[derive(Debug, Clone, Default, PartialEq)]
struct Misses {
    by_place: Vec<f64>,
    sum: f64,
}

impl Misses {
    fn new(by_place: Vec<f64>) -> Misses {
        let sum = by_place.iter().sum();
        Misses { by_place, sum }
    }

    /// None without misses.
    fn share(&self, places: &[usize]) -> Option<f64> {
        let misses: f64 = places.iter().map(|&place| self.by_place[place]).sum();
        (self.sum > 0.0).then(|| misses / self.sum)
    }
}

impl WarmMisses {
    fn new(sites: Vec<u32>, all: Vec<f64>, without: Vec<Vec<f64>>) -> WarmMisses {
        WarmMisses {
            sites,
            all: Misses::new(all),
            without: without.into_iter().map(Misses::new).collect(),
            doubtful: 0.0,
        }
    }

    /// The share of some sites.
    pub fn share(&self, sites: &[u32]) -> Option<f64> {
        self.all.share(&self.places(sites))
    }

    /// The share, and what it would be by each part alone (pseudo-values of the jackknife; M. H. Quenouille, "Notes on
    /// Bias in Estimation", Biometrika 43, 1956).
    pub fn pseudo_values(&self, sites: &[u32]) -> Option<(f64, Vec<f64>)> {
        let places = self.places(sites);
        let (all, parts) = (self.all.share(&places)?, self.without.len() as f64);
        let value = |without: &Misses| parts * all - (parts - 1.0) * without.share(&places).unwrap_or(all);
        Some((all, self.without.iter().map(value).collect()))
    }

    /// The root mean square of the parts' misses, over the misses of all of them.
    pub fn weight_of_a_part(&self) -> f64 {
        let parts = self.without.iter().map(|without| self.all.sum - without.sum);
        weight_of_a_part(parts, self.all.sum)
    }

    fn places(&self, sites: &[u32]) -> Vec<usize> {
        sites
            .iter()
            .filter_map(|site| self.sites.binary_search(site).ok())
            .collect()
    }
}

/// The root mean square of the parts' measures, over that of all. Not a number without anything measured.
pub(super) fn weight_of_a_part(parts: impl ExactSizeIterator<Item = f64>, all: f64) -> f64 {
    let count = parts.len().max(1) as f64;
    let squares: f64 = parts.map(|part| part * part).sum();
    (squares / count).sqrt() / all
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns = Columns { first: 0, ways: 2 };

    #[test]
    fn depths_are_those_of_lru_sets() {
        let geometry = CacheGeometry {
            size_bytes: 2 * 64 * 2,
            ways: 2,
            line_bytes: 64,
        };
        let mut stacks = Stacks::new(&geometry);
        // Lines of set 0; set 1 is untouched by them.
        let seen: Vec<_> = [0, 2, 0, 4, 2, 2, 1]
            .into_iter()
            .map(|line| match stacks.touch(line * 64) {
                Seen::Again(depth) => format!("again {depth}"),
                Seen::Deep => "deep".to_owned(),
                Seen::First(filled) => format!("first {filled}"),
            })
            .collect();
        assert_eq!(
            seen,
            ["first 0", "first 1", "again 1", "deep", "deep", "again 0", "first 0"]
        );
    }

    #[test]
    fn first_uses_miss_as_often_as_what_was_seen_to_go_as_deep() {
        // Uses again: 10 at depth 0, 30 at depth 1; deep: 60. Nothing is censored: 60 of 100.
        let pool = Survival {
            hazards: vec![0.1, 1.0 / 3.0],
            miss_ratio: 0.6,
        };
        let mut counts = [10.0, 30.0, 0.0, 0.0, 60.0];
        assert!((pool.misses(&counts, COLUMNS).0 - 60.0).abs() < 1e-9);
        // 50 that are at least as deep as 0, and 9 as 1: 60 % and two thirds of them, with hazards that know of the 9.
        counts[COLUMNS.first(1)] = 9.0;
        counts[COLUMNS.first(0)] = 50.0;
        let (misses, uses) = pool.misses(&counts, COLUMNS);
        assert!((uses - 159.0).abs() < 1e-9);
        let hazards = [(10.0 + 0.2) / (109.0 + 2.0), (30.0 + 2.0 / 3.0) / 92.0];
        let deep = 1.0 - hazards[1];
        assert!((misses - (60.0 + 9.0 * deep + 50.0 * deep * (1.0 - hazards[0]))).abs() < 1e-9);
    }

    #[test]
    fn depths_that_bursts_seldom_reach_leave_doubts() {
        let sure = |scale: f64| {
            Survival::sure_part(
                &[10.0, 30.0, 20.0, 10.0, 60.0].map(|count| count * scale),
                COLUMNS,
            )
        };
        assert!(sure(1000.0) > 0.99 && sure(1.0) > 0.9 && sure(0.01) < 0.8);
        assert_eq!(Survival::sure_part(&[10.0, 30.0, 0.0, 0.0, 6.0], COLUMNS), 1.0);
        assert!(Survival::sure_part(&[0.0, 0.0, 100.0, 0.0, 0.0], COLUMNS) < 0.01);
    }

    #[test]
    fn pseudo_values_of_equal_parts_are_the_share() {
        let warm = WarmMisses::new(vec![3, 7], vec![30.0, 10.0], vec![vec![15.0, 5.0]; 2]);
        assert_eq!(warm.share(&[3]), Some(0.75));
        assert_eq!(warm.pseudo_values(&[3]), Some((0.75, vec![0.75, 0.75])));
        assert_eq!(warm.share(&[1]), Some(0.0));
        assert_eq!(warm.weight_of_a_part(), 0.5);
    }
}
