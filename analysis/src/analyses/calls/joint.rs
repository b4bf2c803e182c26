//! What each site accesses by the path of its call, and by thread and time.

use std::sync::Arc;

use trackway_trace::{Batch, SiteId};

use super::path_moments::{PathCost, PathKey, PathMoments};
use super::tree::Tree;
use super::SiteCounts;
use crate::model::moments::{ChunkTimes, Moment, MomentBins, MomentCursor, TimeBins};
use crate::model::site_cells::SiteCells;
use crate::model::site_counts::Measure;
use crate::model::structures::Structures;

/// Parts of time that are told apart, at most.
const MOST_BINS: usize = 64;
/// Cells that are counted before they are added to those that are kept.
const MOST_RECENT: usize = 1 << 16;
/// Cells by path and moment that are kept, each of which takes about a hundred bytes.
const MOST_PATHS: usize = 1 << 19;

/// How finely time is told apart, and by what rows are ranked where not all can be listed.
#[derive(Debug)]
pub struct Moments {
    of: MomentBins,
    rank_by: Measure,
    /// The places of their members are listed.
    structures: Structures,
}

impl Moments {
    pub fn new(times: Arc<ChunkTimes>, rank_by: Measure, structures: Structures) -> Moments {
        let (first_ns, last_ns) = times.range_ns();
        let bins = TimeBins::new(first_ns, last_ns, MOST_BINS);
        Moments {
            of: MomentBins { times, bins },
            rank_by,
            structures,
        }
    }

    pub(super) fn structures(&self) -> &Structures {
        &self.structures
    }

    pub(super) fn bins(&self) -> TimeBins {
        self.of.bins
    }

    /// When the first bin begins, from the beginning of the recording on.
    pub(super) fn first_shown_ns(&self) -> u64 {
        self.of.times.shown_ns(self.of.bins.start_ns(0, 0))
    }

    pub(super) fn rank(&self, counts: &SiteCounts) -> u64 {
        match self.rank_by {
            Measure::Misses(level) => counts.misses[level],
            Measure::Bytes => counts.bytes,
            Measure::Accesses | Measure::Cycles => counts.accesses,
        }
    }
}

/// What an access counts for: its site, its node in the call tree, and its moment in the joint counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub node: u32,
    pub site: SiteId,
    pub moment: Moment,
}

/// The joint counts, and how far the present batch is.
#[derive(Debug)]
pub(super) struct Joint {
    moments: Arc<Moments>,
    cursor: MomentCursor,
    pub moment: Moment,
    /// Counts by node of the call tree and moment that the others don't have yet.
    recent: SiteCells<(u32, Moment), PathCost>,
    /// By the node of the call tree.
    pub by_node: SiteCells<u32, SiteCounts>,
    pub by_moment: SiteCells<Moment, SiteCounts>,
    /// Counts by site, node and moment.
    pub by_path: PathMoments,
}

impl Joint {
    pub fn new(moments: &Arc<Moments>) -> Joint {
        Joint {
            moments: Arc::clone(moments),
            cursor: MomentCursor::new(&moments.of),
            moment: Moment::default(),
            recent: SiteCells::default(),
            by_node: SiteCells::default(),
            by_moment: SiteCells::default(),
            by_path: PathMoments::default(),
        }
    }

    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.cursor.begin(batch);
    }

    /// How many of the next accesses, of which there are `left`, fall into one bin: at least one. These come next.
    pub fn same_moment(&mut self, left: u64) -> u64 {
        let (moment, count) = self.cursor.next(left);
        self.moment = moment;
        count
    }

    pub fn pass(&mut self, accesses: u64) {
        self.cursor.pass(accesses);
    }

    pub fn count(&mut self, owner: Owner, accesses: u64, bytes: u64) {
        self.recent(owner).counts.add(accesses, bytes);
    }

    pub fn add_misses(&mut self, owner: Owner, level: usize, lines: u64) {
        self.recent(owner).counts.misses[level] += lines;
    }

    /// Cycles of a stretch of accesses, the first of which is this owner's. They are known by node alone.
    pub fn add_cycles(&mut self, owner: Owner, cycles: u64) {
        let cell = self.recent(owner);
        cell.cycles = cell.cycles.saturating_add(cycles);
    }

    fn recent(&mut self, owner: Owner) -> &mut PathCost {
        self.recent.at(owner.site, (owner.node, owner.moment))
    }

    /// Adds up what was counted if that takes much room.
    pub fn settle_if_full(&mut self, tree: &Tree) {
        if self.recent.len() >= MOST_RECENT {
            self.settle(tree);
        }
    }

    /// Adds up what was counted.
    pub fn settle(&mut self, tree: &Tree) {
        for (site, (node, moment), cost) in std::mem::take(&mut self.recent).iter() {
            self.by_node.at(site, node).merge(&cost.counts);
            self.by_moment.at(site, moment).merge(&cost.counts);
            let key = |unit| PathKey { node, moment, unit };
            let counts = PathCost { cycles: 0, ..*cost };
            self.by_path.add(key(Some(site.0)), &counts);
            if cost.cycles > 0 {
                let cycles = PathCost {
                    cycles: cost.cycles,
                    ..PathCost::default()
                };
                self.by_path.add(key(None), &cycles);
            }
        }
        self.fold(tree);
    }

    /// Half of the room is left, so that it isn't full again at once.
    fn fold(&mut self, tree: &Tree) {
        if self.by_path.len() > MOST_PATHS {
            self.by_path.fold_to(MOST_PATHS / 2, tree);
        }
    }

    /// Adds what is settled in another one; `nodes` has the nodes of this one's tree, by those of the other one's.
    pub fn merge(&mut self, from: &Joint, nodes: &[u32], tree: &Tree) {
        for (site, node, counts) in from.by_node.iter() {
            self.by_node.at(site, nodes[node as usize]).merge(counts);
        }
        for (site, moment, counts) in from.by_moment.iter() {
            self.by_moment.at(site, moment).merge(counts);
        }
        let of_this = from.by_path.with_keys(|key| PathKey {
            node: nodes[key.node as usize],
            ..*key
        });
        self.by_path.merge(&of_this);
        self.fold(tree);
    }
}
