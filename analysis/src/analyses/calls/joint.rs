//! What each site accesses by the path of its call, and by thread and time.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::Batch;

use super::SiteCounts;
use crate::model::moments::{ChunkTimes, Clock, Position, TimeBins};
use crate::model::site_counts::Measure;

/// Parts of time that are told apart, at most.
const MOST_BINS: usize = 64;

/// How finely time is told apart, and by what rows are ranked where not all can be listed.
#[derive(Debug)]
pub struct Moments {
    times: Arc<ChunkTimes>,
    bins: TimeBins,
    rank_by: Measure,
}

impl Moments {
    pub fn new(times: Arc<ChunkTimes>, rank_by: Measure) -> Moments {
        let (first_ns, last_ns) = times.range_ns();
        Moments {
            times,
            bins: TimeBins::new(first_ns, last_ns, MOST_BINS),
            rank_by,
        }
    }

    pub(super) fn bins(&self) -> TimeBins {
        self.bins
    }

    /// When the first bin begins, from the beginning of the recording on.
    pub(super) fn first_shown_ns(&self) -> u64 {
        self.times.shown_ns(self.bins.start_ns(0, 0))
    }

    pub(super) fn rank(&self, counts: &SiteCounts) -> u64 {
        match self.rank_by {
            Measure::Misses(level) => counts.misses[level],
            Measure::Bytes => counts.bytes,
            Measure::Accesses | Measure::Cycles => counts.accesses,
        }
    }
}

/// Counts by site and by something else.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// For each site the key that was counted last, and its place.
    latest: Vec<Option<(u32, u32)>>,
    index: HashMap<(u32, u32), u32>,
    cells: Vec<((u32, u32), SiteCounts)>,
}

impl Cells {
    #[inline]
    fn at(&mut self, site: usize, key: u32) -> &mut SiteCounts {
        if self.latest.len() <= site {
            self.latest.resize(site + 1, None);
        }
        let place = match self.latest[site] {
            Some((latest, place)) if latest == key => place,
            _ => self.find(site, key),
        };
        &mut self.cells[place as usize].1
    }

    fn find(&mut self, site: usize, key: u32) -> u32 {
        let next = self.cells.len() as u32;
        let full = (site as u32, key);
        let place = *self.index.entry(full).or_insert(next);
        if place == next {
            self.cells.push((full, SiteCounts::default()));
        }
        self.latest[site] = Some((key, place));
        place
    }

    /// Site, key and counts of each.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u32, &SiteCounts)> {
        let cells = self.cells.iter();
        cells.map(|((site, key), counts)| (*site as usize, *key, counts))
    }

    fn merge(&mut self, from: &Cells, key: impl Fn(u32) -> u32) {
        for (site, of_other, counts) in from.iter() {
            self.at(site, key(of_other)).merge(counts);
        }
    }
}

/// Where and when an access counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointPlace {
    pub site: usize,
    pub node: u32,
    pub moment: u32,
}

/// The joint counts, and how far the present batch is.
#[derive(Debug)]
pub(super) struct Joint {
    moments: Arc<Moments>,
    clock: Clock,
    position: Position,
    stream: u32,
    pub moment: u32,
    /// By the node of the call tree.
    pub by_node: Cells,
    /// By thread and bin of time; see [`Joint::thread_and_bin`].
    pub by_moment: Cells,
}

impl Joint {
    pub fn new(moments: &Arc<Moments>) -> Joint {
        Joint {
            moments: Arc::clone(moments),
            clock: Clock::default(),
            position: Position {
                chunk: crate::model::moments::Span::default(),
                before: 0,
            },
            stream: 0,
            moment: 0,
            by_node: Cells::default(),
            by_moment: Cells::default(),
        }
    }

    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.position = self.clock.advance(&self.moments.times, batch);
        self.stream = batch.stream;
    }

    /// How many of the next accesses, of which there are `left`, fall into one bin: at least one. These come next.
    pub fn same_moment(&mut self, left: u64) -> u64 {
        let bins = &self.moments.bins;
        let bin = bins.of(self.position.time_of(0)).unwrap_or(0);
        self.moment = self.stream * MOST_BINS as u32 + bin as u32;
        match bin + 1 < bins.count() {
            true => self.position.first_at(bins.end_ns(bin)).clamp(1, left.max(1)),
            false => left,
        }
    }

    pub fn pass(&mut self, accesses: u64) {
        self.position.pass(accesses);
    }

    pub fn count(&mut self, place: JointPlace, accesses: u64, bytes: u64) {
        self.by_node.at(place.site, place.node).add(accesses, bytes);
        self.by_moment.at(place.site, place.moment).add(accesses, bytes);
    }

    pub fn add_misses(&mut self, place: JointPlace, level: usize, lines: u64) {
        self.by_node.at(place.site, place.node).misses[level] += lines;
        self.by_moment.at(place.site, place.moment).misses[level] += lines;
    }

    /// `nodes` has the nodes of this one's tree, by those of the other one's.
    pub fn merge(&mut self, from: &Joint, nodes: &[u32]) {
        self.by_node.merge(&from.by_node, |node| nodes[node as usize]);
        self.by_moment.merge(&from.by_moment, |moment| moment);
    }

    pub fn thread_and_bin(moment: u32) -> (u32, u32) {
        (moment / MOST_BINS as u32, moment % MOST_BINS as u32)
    }
}
