//! What a recording in bursts says of the whole run: by how much shares of the bursts may lie off, and how many misses
//! may be those of caches that were cold when a burst began.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{Batch, ChunkKind, ChunkRef, Piece, Trace};

use super::cold_starts::{weight_of_a_part, ColdStarts, WarmMisses};
use super::columns::Sites;
use super::part::LinePart;
use super::Measure;
use crate::model::cache::{Caches, Totals, MAX_LEVELS};

/// Fewer bursts say nothing of each other.
const LEAST_BURSTS: usize = 10;
/// Counts are kept of so many parts of the run, at most. If there are more bursts, some that follow each other make up a
/// part.
const MOST_PARTS: usize = 200;

/// Misses come in phases, of which bursts may have met none: so bounds of misses hold as if so many parts of the run had
/// been missed. The number is measured (docs/analyses.md).
const UNSEEN_PARTS: f64 = 2.0;
/// What has so many parts of the run in the mean is in none of those that were seen in one of twenty cases (J. A. Hanley and
/// A. Lippman-Hand, "If Nothing Goes Wrong, Is Everything All Right?", JAMA 249, 1983).
const PARTS_OF_UNSEEN: f64 = 3.0;

/// To which burst each chunk belongs: a thread gives each window buffers of its own.
#[derive(Debug, Default)]
pub struct Bursts {
    of_chunk: HashMap<(u32, u64), BurstChunk>,
    count: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct BurstChunk {
    burst: u32,
    /// It belongs to the first half of what its thread recorded in the burst, which warms the caches for the second one.
    warms: bool,
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
        let mut by_thread: HashMap<(u32, u32), Vec<&ChunkRef>> = HashMap::new();
        for chunk in records {
            let burst = burst_of(chunk.header.first_ns).saturating_sub(1) as u32;
            by_thread
                .entry((chunk.header.stream, burst))
                .or_default()
                .push(chunk);
        }
        let of_chunk = by_thread.iter().flat_map(|((_, burst), chunks)| {
            let of = move |(chunk, warms): (&ChunkRef, bool)| {
                let place = (chunk.header.stream, chunk.header.sequence);
                (place, BurstChunk { burst: *burst, warms })
            };
            in_halves(chunks).map(of)
        });
        Some(Arc::new(Bursts {
            of_chunk: of_chunk.collect(),
            count: windows.len(),
        }))
    }

    fn bursts_in_part(&self) -> usize {
        self.count.div_ceil(MOST_PARTS).max(1)
    }

    fn parts(&self) -> usize {
        self.count.div_ceil(self.bursts_in_part())
    }

    fn chunk_of(&self, batch: &Batch) -> BurstChunk {
        let found = self.of_chunk.get(&(batch.stream, batch.sequence));
        found.copied().unwrap_or_default()
    }

    fn part_of(&self, burst: u32) -> usize {
        burst as usize / self.bursts_in_part()
    }
}

/// The chunks of a thread in a burst, and whether each belongs to the first half of their bytes. A single one doesn't.
fn in_halves<'c>(chunks: &'c [&'c ChunkRef]) -> impl Iterator<Item = (&'c ChunkRef, bool)> {
    let bytes = |chunk: &&ChunkRef| u64::from(chunk.header.raw_length);
    let all: u64 = chunks.iter().map(bytes).sum();
    let mut before = 0;
    chunks.iter().map(move |chunk| {
        let middle = 2 * before + bytes(chunk);
        before += bytes(chunk);
        (*chunk, middle < all)
    })
}

/// Counts apart by bursts.
#[derive(Debug, Clone)]
pub(crate) struct BurstCounts {
    bursts: Arc<Bursts>,
    measure: Measure,
    /// The measure of each site as it was last noted.
    before: Vec<u64>,
    /// The measure by part of the run and site; of misses, those of the second halves of bursts.
    parts: Vec<Vec<u64>>,
    /// What is seen of the misses of caches that begin each burst empty; none if these aren't simple enough.
    cold_starts: Option<ColdStarts>,
    /// Levels that each thread has for itself.
    private: usize,
    /// Of each cache and burst. Caches go by 1 + the number of their stream; shared ones by 0.
    misses: HashMap<(u32, u32), BurstMisses>,
}

/// Misses of each level in a burst.
#[derive(Debug, Default, Clone, Copy)]
struct BurstMisses {
    warming: [u64; MAX_LEVELS],
    counted: [u64; MAX_LEVELS],
}

fn add(sums: &mut [u64; MAX_LEVELS], added: &[u64; MAX_LEVELS]) {
    sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
}

impl BurstCounts {
    pub fn new(bursts: Arc<Bursts>, measure: Measure, caches: &Caches) -> BurstCounts {
        let parts = bursts.parts();
        BurstCounts {
            parts: vec![Vec::new(); parts],
            cold_starts: match measure {
                Measure::Misses(level) => ColdStarts::new(caches, level, parts),
                _ => None,
            },
            bursts,
            measure,
            before: Vec::new(),
            private: caches.private_levels(),
            misses: HashMap::new(),
        }
    }

    /// To be called when a batch was counted, with what it came to. `lines`: those that were.
    pub fn note(&mut self, batch: &Batch, sites: &Sites, lines: LinePart, come_to: &Totals) {
        let BurstChunk { burst, warms } = self.bursts.chunk_of(batch);
        let is_left_out = warms && matches!(self.measure, Measure::Misses(_));
        let part = (!is_left_out).then(|| self.bursts.part_of(burst));
        self.note_sites(batch, sites, part);
        if let Some(cold_starts) = &mut self.cold_starts {
            cold_starts.take(batch, lines, burst, self.bursts.part_of(burst));
        }
        for (index, level) in come_to.levels.iter().enumerate() {
            let cache = match index < self.private {
                true => batch.stream + 1,
                false => 0,
            };
            if level.misses > 0 {
                let misses = self.misses.entry((cache, burst)).or_default();
                let half = match warms {
                    true => &mut misses.warming,
                    false => &mut misses.counted,
                };
                half[index] += level.misses;
            }
        }
    }

    /// Notes by how much the sites of a batch have changed: threads whose batches take turns may be in different parts, and a
    /// look at all sites for each batch would take minutes.
    fn note_sites(&mut self, batch: &Batch, sites: &Sites, part: Option<usize>) {
        let (measure, before) = (self.measure, &mut self.before);
        before.resize(sites.len(), 0);
        let mut counts = part.map(|part| &mut self.parts[part]);
        if let Some(counts) = &mut counts {
            counts.resize(sites.len(), 0);
        }
        let mut note = |site: usize| {
            let now = sites.measured(site, measure);
            let more = now - std::mem::replace(&mut before[site], now);
            if let Some(counts) = &mut counts {
                counts[site] += more;
            }
        };
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => batch.site[range].iter().for_each(|site| note(site.index())),
                Piece::Run(run) => batch.lanes(run).iter().for_each(|lane| note(lane.site.index())),
            }
        }
    }

    /// Adds counts of another part of the work.
    pub fn merge(&mut self, other: &BurstCounts) {
        for (counts, added) in self.parts.iter_mut().zip(&other.parts) {
            counts.resize(counts.len().max(added.len()), 0);
            counts
                .iter_mut()
                .zip(added)
                .for_each(|(sum, added)| *sum += added);
        }
        if let Some((cold_starts, others)) = self.cold_starts.as_mut().zip(other.cold_starts.as_ref()) {
            cold_starts.merge(others);
        }
        for (key, added) in &other.misses {
            let misses = self.misses.entry(*key).or_default();
            add(&mut misses.warming, &added.warming);
            add(&mut misses.counted, &added.counted);
        }
    }

    pub fn estimates(self, caches: &Caches) -> Estimates {
        let mut cold = [0; MAX_LEVELS];
        let mut cold_counted = [0; MAX_LEVELS];
        for BurstMisses { warming, counted } in self.misses.values() {
            for (index, level) in caches.levels().iter().enumerate() {
                let lines = level.geometry.lines();
                cold[index] += lines.min(warming[index] + counted[index]);
                // What the first half hasn't touched may still be missing in the second one.
                cold_counted[index] += lines.min(counted[index]);
            }
        }
        let totals: Vec<u64> = self.parts.iter().map(|sites| sites.iter().sum()).collect();
        let counted: u64 = totals.iter().sum();
        let doubtful = match self.measure {
            Measure::Misses(level) => cold_counted[level] as f64 / counted.max(1) as f64,
            _ => 0.0,
        };
        Estimates {
            totals,
            parts: self.parts,
            cold,
            doubtful: doubtful.min(1.0),
            warm: self.cold_starts.map(ColdStarts::estimates),
        }
    }
}

/// What bursts say of the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimates {
    /// The measure of each part of the run and site.
    parts: Vec<Vec<u64>>,
    totals: Vec<u64>,
    /// Misses of each level that a cache which was warm at the begin of each burst might not have had: of each burst as
    /// many as the cache has lines, at most.
    pub cold: [u64; MAX_LEVELS],
    /// Which part of the measure may come from cold caches though the first halves of bursts have warmed them.
    pub doubtful: f64,
    /// The misses of caches that are warm when a burst begins, if they can be estimated. It has doubts of its own.
    warm: Option<WarmMisses>,
}

/// Bounds of the 95 % interval of a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The bounds if the run has more, of a weight that is a part of what was seen, in which the share may be anything.
    fn with_unseen(self, weight: f64) -> Interval {
        Interval {
            low: self.low / (1.0 + weight),
            high: (self.high + weight) / (1.0 + weight),
        }
    }

    /// The bounds if a part of the whole may not count, whichever share of it is inside.
    fn without(self, doubtful: f64) -> Interval {
        let left = 1.0 - doubtful;
        if left <= 0.0 {
            return Interval { low: 0.0, high: 1.0 };
        }
        Interval {
            low: ((self.low - doubtful) / left).max(0.0),
            high: (self.high / left).min(1.0),
        }
    }
}

impl Estimates {
    /// The share of some sites in the whole run's misses; none if that of the bursts is the best estimate.
    pub fn share(&self, sites: &[u32]) -> Option<f64> {
        self.warm.as_ref()?.share(sites)
    }

    /// How many parts of the run were counted apart.
    pub fn parts(&self) -> u64 {
        self.parts.len() as u64
    }

    /// How large the share of something in the measure may be in the whole run, at most, if no burst accessed it. None without
    /// anything to share.
    pub fn unseen(&self) -> Option<f64> {
        let (weight, doubtful) = match &self.warm {
            Some(warm) => (warm.weight_of_a_part(), warm.doubtful),
            None => {
                let wholes = self.totals.iter().map(|&total| total as f64);
                (weight_of_a_part(wholes.clone(), wholes.sum()), self.doubtful)
            }
        };
        if !weight.is_finite() {
            return None;
        }
        let nothing = Interval { low: 0.0, high: 0.0 };
        Some(
            nothing
                .with_unseen(PARTS_OF_UNSEEN * weight)
                .without(doubtful)
                .high,
        )
    }

    /// How large the share of some sites in the measure may be in the whole run. None without anything to share.
    pub fn interval(&self, sites: &[u32]) -> Option<Interval> {
        if let Some(warm) = &self.warm {
            let (share, parts) = warm.pseudo_values(sites)?;
            let unseen = UNSEEN_PARTS * warm.weight_of_a_part();
            return Some(around(share, &parts)?.with_unseen(unseen).without(warm.doubtful));
        }
        let share_of = |counts: &Vec<u64>| -> u64 {
            let counts = sites.iter().filter_map(|&site| counts.get(site as usize));
            counts.sum()
        };
        let shares: Vec<f64> = self.parts.iter().map(|counts| share_of(counts) as f64).collect();
        let wholes: Vec<f64> = self.totals.iter().map(|&total| total as f64).collect();
        Some(interval(&shares, &wholes)?.without(self.doubtful))
    }
}

/// By the differences between bursts that follow each other, since one is taken in each period (K. M. Wolter,
/// Introduction to Variance Estimation, 2007, section 8.2, the estimator v2), of a ratio of sums (W. G. Cochran, Sampling
/// Techniques, 1977, section 2.11).
fn interval(shares: &[f64], wholes: &[f64]) -> Option<Interval> {
    let (sum, whole): (f64, f64) = (shares.iter().sum(), wholes.iter().sum());
    if whole == 0.0 {
        return None;
    }
    let share = sum / whole;
    let parts = shares.len() as f64;
    let linear = |(part, of_whole): (&f64, &f64)| share + parts * (part - share * of_whole) / whole;
    around(
        share,
        &shares.iter().zip(wholes).map(linear).collect::<Vec<f64>>(),
    )
}

/// The interval of a mean by the values of parts that follow each other.
fn around(share: f64, parts: &[f64]) -> Option<Interval> {
    let differences = parts.len().checked_sub(1).filter(|count| *count > 0)? as f64;
    let squares: f64 = parts.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let variance = squares / 2.0 / parts.len() as f64 / differences;
    // Differences that share a burst depend on each other.
    let half = student(differences * 2.0 / 3.0) * variance.sqrt();
    Some(Interval {
        low: (share - half).max(0.0),
        high: (share + half).min(1.0),
    })
}

/// The two-sided 95 % point of Student's distribution (M. Abramowitz and I. Stegun, Handbook of Mathematical Functions,
/// 1964, 26.7.5), for at least six degrees of freedom within 1 %.
fn student(freedom: f64) -> f64 {
    const NORMAL: f64 = 1.959_963_985;
    let first = (NORMAL.powi(3) + NORMAL) / 4.0;
    let second = (5.0 * NORMAL.powi(5) + 16.0 * NORMAL.powi(3) + 3.0 * NORMAL) / 96.0;
    NORMAL + first / freedom + second / (freedom * freedom)
}

#[cfg(test)]
mod tests {
    use trackway_trace::SiteId;

    use super::super::shard::MissesShard;
    use super::*;
    use crate::WorkPart;

    /// What a field and what all fields have in each millisecond of a run, in phases of some milliseconds.
    fn run(phases: usize, random: &mut impl FnMut() -> f64) -> (Vec<f64>, Vec<f64>) {
        let mut field = Vec::new();
        let mut all = Vec::new();
        for millisecond in 0..20_000 {
            let phase = (millisecond / phases) % 3;
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

    /// How often the interval of bursts of 1 ms in each 100 ms has the whole run's share, of 1000 choices.
    fn covered(phases: usize) -> f64 {
        let mut random = xorshift(88_172_645_463_325_252);
        let (field, all) = run(phases, &mut random);
        let truth = field.iter().sum::<f64>() / all.iter().sum::<f64>();
        let (choices, every) = (1000, 100);
        let mut covered = 0;
        for _ in 0..choices {
            let random_in = |period: usize| period * every + (random() * every as f64) as usize;
            let bursts: Vec<usize> = (0..all.len() / every).map(random_in).collect();
            let of = |counts: &[f64]| bursts.iter().map(|&at| counts[at]).collect::<Vec<f64>>();
            let interval = interval(&of(&field), &of(&all)).unwrap();
            assert!(interval.high - interval.low < 0.06);
            covered += usize::from((interval.low..=interval.high).contains(&truth));
        }
        covered as f64 / choices as f64
    }

    const CHUNKS: u64 = 24;

    /// Chunk after chunk of a thread, each with its accesses of three sites.
    fn chunks_of(stream: u32) -> Vec<Batch> {
        let mut random = xorshift(7 + u64::from(stream));
        let chunk = |sequence| {
            let count = 40 + (40.0 * random()) as usize;
            let mut below = |limit: u64| (random() * limit as f64) as u64;
            let mut batch = Batch::default();
            batch.site = (0..count).map(|_| SiteId(below(3) as u32)).collect();
            batch.address = (0..count).map(|_| below(4096)).collect();
            batch.size = vec![4; count];
            (batch.stream, batch.sequence) = (stream, sequence);
            batch
        };
        (0..CHUNKS).map(chunk).collect()
    }

    #[test]
    fn it_makes_no_difference_how_threads_take_turns() {
        let caches: Caches = "L1=512,2,64:L2=1K,4,64".parse().unwrap();
        let of_chunk = |stream| {
            (0..CHUNKS).map(move |sequence| {
                let burst = sequence as u32 / 2;
                let warms = sequence % 2 == 0;
                ((stream, sequence), BurstChunk { burst, warms })
            })
        };
        let bursts = Arc::new(Bursts {
            of_chunk: of_chunk(0).chain(of_chunk(1)).collect(),
            count: CHUNKS as usize / 2,
        });
        let [first, second] = [0, 1].map(chunks_of);
        let one_after_the_other: Vec<&Batch> = first.iter().chain(&second).collect();
        // The second thread is three chunks late: in another burst, and in the other half.
        let in_turn = (0..first.len() + 3).flat_map(|turn| {
            let late = turn.checked_sub(3).and_then(|turn| second.get(turn));
            first.get(turn).into_iter().chain(late)
        });
        let in_turn: Vec<&Batch> = in_turn.collect();
        let estimates = |measure, batches: &[&Batch]| {
            let shard = MissesShard::new(&caches, WorkPart::WHOLE);
            let mut shard = shard.with_bursts(Some(&bursts), measure, &caches);
            shard.take_sites([false, true, false].into_iter());
            batches.iter().for_each(|batch| shard.take(batch));
            shard.estimates(&caches).unwrap()
        };
        for measure in [Measure::Accesses, Measure::Bytes] {
            let expected = estimates(measure, &one_after_the_other);
            assert!(expected.totals.iter().all(|&total| total > 0), "{measure}");
            assert_eq!(estimates(measure, &in_turn), expected, "{measure}");
        }
        // The caches of a shard are one thread's. The estimate for warm ones knows threads apart.
        let measure = Measure::Misses(1);
        let expected = estimates(measure, &one_after_the_other).warm;
        assert!(expected.is_some());
        assert_eq!(estimates(measure, &in_turn).warm, expected);
    }

    #[test]
    fn intervals_cover_the_whole_runs_share_as_often_as_they_say() {
        for phases in [7, 37, 5000] {
            let covered = covered(phases);
            assert!((0.93..=0.97).contains(&covered), "{phases}: {covered}");
        }
        // Phases about as long as periods: bursts that follow each other differ more than those of one period would.
        assert!(covered(170) >= 0.93);
    }

    #[test]
    fn what_may_be_cold_widens_bounds() {
        let bounds = |doubtful| Interval { low: 0.4, high: 0.6 }.without(doubtful);
        assert_eq!(bounds(0.0), Interval { low: 0.4, high: 0.6 });
        // A tenth may not count: all of it, or nothing of it, is inside.
        let tenth = bounds(0.1);
        assert!((tenth.low - 0.3 / 0.9).abs() < 1e-12 && (tenth.high - 0.6 / 0.9).abs() < 1e-12);
        assert_eq!(bounds(1.0), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn what_no_burst_may_have_met_widens_bounds() {
        let bounds = Interval { low: 0.4, high: 0.6 }.with_unseen(0.25);
        assert!((bounds.low - 0.32).abs() < 1e-12 && (bounds.high - 0.68).abs() < 1e-12);
        let none = Interval { low: 0.0, high: 0.0 }.with_unseen(0.25);
        assert!(none.low == 0.0 && (none.high - 0.2).abs() < 1e-12);
    }

    #[test]
    fn what_no_burst_met_has_at_most_what_three_of_them_have() {
        let of = |totals: Vec<u64>, doubtful| Estimates {
            totals,
            doubtful,
            ..Estimates::default()
        };
        let near = |share: Option<f64>, expected: f64| (share.unwrap() - expected).abs() < 1e-12;
        assert!(near(of(vec![7; 20], 0.0).unseen(), 3.0 / 23.0));
        assert!(near(of(vec![7; 20], 0.5).unseen(), 6.0 / 23.0));
        // One burst with nearly all may have been two or none.
        assert!(of(vec![1000, 1, 1, 1, 1, 1, 1, 1, 1, 1], 0.0).unseen().unwrap() > 0.4);
        assert_eq!(of(vec![0; 20], 0.0).unseen(), None);
        assert_eq!(of(Vec::new(), 0.0).unseen(), None);
    }

    /// What has as large a share as the bound, and has all of some bursts and nothing of the others, is in none of 60 bursts
    /// about once in twenty times.
    #[test]
    fn what_is_rare_is_missed_or_within_the_bound() {
        let mut random = xorshift(88_172_645_463_325_252);
        let bound = Estimates {
            totals: vec![1; 60],
            ..Estimates::default()
        };
        let bound = bound.unseen().unwrap();
        let misses_it = |share: f64, random: &mut dyn FnMut() -> f64| (0..60).all(|_| random() >= share);
        let missed = (0..2000).filter(|_| misses_it(bound, &mut random)).count();
        assert!((0.03..0.07).contains(&(missed as f64 / 2000.0)), "{missed}");
    }

    #[test]
    fn students_points_are_those_of_tables() {
        for (freedom, point) in [(6.0, 2.447), (10.0, 2.228), (20.0, 2.086), (100.0, 1.984)] {
            assert!((student(freedom) / point - 1.0).abs() < 0.01, "{freedom}");
        }
    }

    #[test]
    fn equal_bursts_leave_no_doubt_and_one_says_nothing() {
        let [low, high] = [0.25; 2];
        assert_eq!(
            interval(&[1.0, 2.0, 3.0], &[4.0, 8.0, 12.0]),
            Some(Interval { low, high })
        );
        assert_eq!(interval(&[1.0], &[4.0]), None);
        assert_eq!(interval(&[0.0, 0.0], &[0.0, 0.0]), None);
    }
}
