//! What a recording in bursts says of the whole run: by how much shares of the bursts may lie off, and how many misses
//! may be those of caches that were cold when a burst began.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{Batch, ChunkKind, Trace};

use super::columns::Sites;
use super::Measure;
use crate::model::cache::{Caches, Totals, MAX_LEVELS};

/// Fewer bursts say nothing of each other.
const LEAST_BURSTS: usize = 10;
/// The bursts are dealt out to so many groups: how these differ says how far all of them may lie off.
const MOST_GROUPS: usize = 20;
/// Counts are added up so often, at most: bursts next to each other go to the same group if there are more.
const MOST_TURNS: usize = 2000;
/// Two-sided 95 % points of Student's distribution for 1 to [`MOST_GROUPS`] - 1 degrees of freedom.
const STUDENT: [f64; MOST_GROUPS - 1] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093,
];

/// To which burst each chunk belongs: a thread gives each window buffers of its own.
#[derive(Debug, Default)]
pub struct Bursts {
    of_chunk: HashMap<(u32, u64), u32>,
    count: usize,
}

impl Bursts {
    /// None unless the trace was recorded in bursts at random times, and in enough of them.
    pub fn of(trace: &Trace) -> Option<Arc<Bursts>> {
        let windows = trace.windows();
        if windows.len() < LEAST_BURSTS || windows.iter().any(|window| window.cause != "burst") {
            return None;
        }
        let chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
        let records = chunks.filter(|chunk| chunk.header.kind == ChunkKind::Records);
        let burst_of = |first_ns| windows.partition_point(|window| window.begin_ns <= first_ns);
        let of_chunk = records.map(|chunk| {
            let header = &chunk.header;
            let burst = burst_of(header.first_ns).saturating_sub(1);
            ((header.stream, header.sequence), burst as u32)
        });
        Some(Arc::new(Bursts {
            of_chunk: of_chunk.collect(),
            count: windows.len(),
        }))
    }

    fn groups(&self) -> usize {
        self.count.min(MOST_GROUPS)
    }

    fn burst_of(&self, batch: &Batch) -> usize {
        let found = self.of_chunk.get(&(batch.stream, batch.sequence));
        found.map_or(0, |burst| *burst as usize)
    }

    fn turn_of(&self, burst: usize) -> usize {
        burst / self.count.div_ceil(MOST_TURNS).max(1)
    }
}

/// Counts apart by groups of bursts.
#[derive(Debug)]
pub(crate) struct BurstCounts {
    bursts: Arc<Bursts>,
    measure: Measure,
    turn: Option<usize>,
    /// The measure of each site when the present turn began.
    before: Vec<u64>,
    /// Of each group and site.
    groups: Vec<Vec<u64>>,
    /// Levels that each thread has for itself.
    private: usize,
    /// At each level, of each cache and burst. Caches go by 1 + the number of their stream; shared ones by 0.
    misses: HashMap<(u32, u32), [u64; MAX_LEVELS]>,
}

impl BurstCounts {
    pub fn new(bursts: Arc<Bursts>, measure: Measure, private: usize) -> BurstCounts {
        BurstCounts {
            groups: vec![Vec::new(); bursts.groups()],
            bursts,
            measure,
            turn: None,
            before: Vec::new(),
            private,
            misses: HashMap::new(),
        }
    }

    /// To be called before a batch is counted.
    pub fn begin(&mut self, batch: &Batch, sites: &Sites) {
        let turn = self.bursts.turn_of(self.bursts.burst_of(batch));
        if self.turn != Some(turn) {
            self.end_turn(sites);
            self.turn = Some(turn);
        }
    }

    /// To be called when a batch was counted, with what it came to.
    pub fn note_misses(&mut self, batch: &Batch, come_to: &Totals) {
        let burst = self.bursts.burst_of(batch) as u32;
        for (index, level) in come_to.levels.iter().enumerate() {
            let cache = match index < self.private {
                true => batch.stream + 1,
                false => 0,
            };
            if level.misses > 0 {
                self.misses.entry((cache, burst)).or_default()[index] += level.misses;
            }
        }
    }

    fn end_turn(&mut self, sites: &Sites) {
        let now: Vec<u64> = sites
            .counters()
            .iter()
            .map(|site| self.measure.of(site))
            .collect();
        self.before.resize(now.len(), 0);
        if let Some(turn) = self.turn {
            let groups = self.groups.len();
            let group = &mut self.groups[turn % groups];
            group.resize(now.len(), 0);
            for ((sum, now), before) in group.iter_mut().zip(&now).zip(&self.before) {
                *sum += now - before;
            }
        }
        self.before = now;
    }

    /// Adds counts of another part of the work. `own` and `others` are the sites before they are merged.
    pub fn merge(&mut self, own: &Sites, other: &BurstCounts, others: &Sites) {
        self.end_turn(own);
        self.turn = None;
        for (group, added) in self.groups.iter_mut().zip(other.finished(others).groups) {
            group.resize(group.len().max(added.len()), 0);
            group.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
        }
        for (key, added) in &other.misses {
            let misses = self.misses.entry(*key).or_default();
            misses
                .iter_mut()
                .zip(added)
                .for_each(|(sum, added)| *sum += added);
        }
    }

    /// To be called when the sites' counts have changed otherwise.
    pub fn begin_anew(&mut self, sites: &Sites) {
        self.turn = None;
        self.end_turn(sites);
    }

    /// The counts with those of the present turn.
    pub fn finished(&self, sites: &Sites) -> BurstCounts {
        let mut finished = BurstCounts {
            bursts: Arc::clone(&self.bursts),
            measure: self.measure,
            turn: self.turn,
            before: self.before.clone(),
            private: self.private,
            groups: self.groups.clone(),
            misses: self.misses.clone(),
        };
        finished.end_turn(sites);
        finished
    }

    pub fn estimates(&self, caches: &Caches) -> Estimates {
        let mut cold = [0; MAX_LEVELS];
        for misses in self.misses.values() {
            for ((cold, misses), level) in cold.iter_mut().zip(misses).zip(caches.levels()) {
                *cold += (*misses).min(level.geometry.lines());
            }
        }
        Estimates {
            totals: self.groups.iter().map(|sites| sites.iter().sum()).collect(),
            groups: self.groups.clone(),
            bursts: self.bursts.count,
            cold,
        }
    }
}

/// What bursts say of the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimates {
    /// The measure of each group of bursts and site.
    groups: Vec<Vec<u64>>,
    totals: Vec<u64>,
    bursts: usize,
    /// Misses of each level that a cache which was warm at the begin of each burst might not have had: of each burst as
    /// many as the cache has lines, at most.
    pub cold: [u64; MAX_LEVELS],
}

/// Bounds of the 95 % interval of a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Estimates {
    pub fn bursts(&self) -> usize {
        self.bursts
    }

    /// How large the share of some sites in the measure may be in the whole run, by the variance of a ratio of sums over
    /// groups (W. G. Cochran, Sampling Techniques, 1977, section 2.11; K. M. Wolter, Introduction to Variance Estimation, 2007,
    /// chapter 2). None without anything to share.
    pub fn interval(&self, sites: &[u32]) -> Option<Interval> {
        let part_of = |group: &Vec<u64>| -> u64 {
            let counts = sites.iter().filter_map(|&site| group.get(site as usize));
            counts.sum()
        };
        let parts: Vec<f64> = self.groups.iter().map(|group| part_of(group) as f64).collect();
        let wholes: Vec<f64> = self.totals.iter().map(|&total| total as f64).collect();
        interval(&parts, &wholes)
    }
}

fn interval(parts: &[f64], wholes: &[f64]) -> Option<Interval> {
    let (part, whole): (f64, f64) = (parts.iter().sum(), wholes.iter().sum());
    let freedom = parts.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    if whole == 0.0 {
        return None;
    }
    let share = part / whole;
    let residuals = parts.iter().zip(wholes).map(|(part, whole)| part - share * whole);
    let squares: f64 = residuals.map(|residual| residual * residual).sum();
    let variance = squares * parts.len() as f64 / freedom as f64 / (whole * whole);
    let half = STUDENT[(freedom - 1).min(STUDENT.len() - 1)] * variance.sqrt();
    Some(Interval {
        low: (share - half).max(0.0),
        high: (share + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a run of so many milliseconds: what a field and what all fields have in each. Phases of some length, and noise.
    fn run(length: usize, random: &mut impl FnMut() -> f64) -> (Vec<f64>, Vec<f64>) {
        let mut field = Vec::new();
        let mut all = Vec::new();
        for millisecond in 0..length {
            let phase = (millisecond / 170) % 3;
            let whole = 1000.0 * (1.0 + phase as f64) * (0.5 + random());
            let share = [0.2, 0.5, 0.35][phase] + 0.2 * (random() - 0.5);
            field.push(whole * share);
            all.push(whole);
        }
        (field, all)
    }

    fn xorshift(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn intervals_cover_the_whole_runs_share_as_often_as_they_say() {
        let mut random = xorshift(88_172_645_463_325_252);
        let (field, all) = run(20_000, &mut random);
        let truth = field.iter().sum::<f64>() / all.iter().sum::<f64>();
        let (choices, every) = (1000, 100);
        let mut covered = 0;
        let mut widths = 0.0;
        for _ in 0..choices {
            let groups = MOST_GROUPS;
            let (mut parts, mut wholes) = (vec![0.0; groups], vec![0.0; groups]);
            for burst in 0..all.len() / every {
                let at = burst * every + (random() * every as f64) as usize;
                parts[burst % groups] += field[at];
                wholes[burst % groups] += all[at];
            }
            let interval = interval(&parts, &wholes).unwrap();
            covered += usize::from((interval.low..=interval.high).contains(&truth));
            widths += interval.high - interval.low;
        }
        let share = covered as f64 / choices as f64;
        assert!((0.93..=0.97).contains(&share), "{share}");
        assert!(widths / (choices as f64) < 0.06, "{}", widths / choices as f64);
    }

    #[test]
    fn equal_groups_leave_no_doubt_and_one_group_says_nothing() {
        let [low, high] = [0.25; 2];
        assert_eq!(
            interval(&[1.0, 2.0, 3.0], &[4.0, 8.0, 12.0]),
            Some(Interval { low, high })
        );
        assert_eq!(interval(&[1.0], &[4.0]), None);
        assert_eq!(interval(&[0.0, 0.0], &[0.0, 0.0]), None);
    }
}
