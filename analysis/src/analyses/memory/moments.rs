//! Allocations by site, thread and time.

use std::collections::{BTreeMap, HashMap};

use trackway_report::{Table, TableBuilder};
use trackway_trace::AllocationSiteId;

use super::curve::Amount;
use crate::model::moments::{Moment, TimeBins};

/// Rows that are listed, those of the first sites.
const MOST_ROWS: usize = 10_000;

/// What a site's blocks did at a moment. Its thread is the one that allocated them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Allocated {
    pub blocks: Amount,
    pub failed: u64,
    /// Those of the blocks that are live at the end of the trace.
    pub never_released: Amount,
    /// Blocks that ended then, whichever thread released them.
    pub ended: Amount,
}

impl Allocated {
    fn merge(&mut self, from: &Allocated) {
        self.blocks.merge(from.blocks);
        self.failed += from.failed;
        self.never_released.merge(from.never_released);
        self.ended.merge(from.ended);
    }
}

/// The allocations of each site at each moment.
#[derive(Debug, Clone)]
pub(super) struct AllocationMoments {
    bins: TimeBins,
    cells: HashMap<(AllocationSiteId, Moment), Allocated>,
}

impl AllocationMoments {
    pub fn new(bins: TimeBins) -> AllocationMoments {
        AllocationMoments {
            bins,
            cells: HashMap::new(),
        }
    }

    pub fn moment(&self, stream: u32, time_ns: u64) -> Moment {
        (stream, self.bins.nearest(time_ns) as u32)
    }

    /// A block of that site ends, which was allocated at that moment.
    pub fn end(&mut self, site: AllocationSiteId, allocated: Moment, time_ns: u64, bytes: u64) {
        let moment = self.moment(allocated.0, time_ns);
        self.at(site, moment).ended.add(bytes);
    }

    pub fn at(&mut self, site: AllocationSiteId, moment: Moment) -> &mut Allocated {
        self.cells.entry((site, moment)).or_default()
    }

    /// By the rows of a table, of which `row_of` has the one of each site; the first rows come first.
    pub fn table(&self, row_of: impl Fn(AllocationSiteId) -> Option<usize>) -> Table {
        let mut sums: BTreeMap<(usize, Moment), Allocated> = BTreeMap::new();
        for (&(site, moment), allocated) in &self.cells {
            if let Some(row) = row_of(site) {
                sums.entry((row, moment)).or_default().merge(allocated);
            }
        }
        sums.retain(|_, allocated| *allocated != Allocated::default());
        let rows: Vec<((usize, Moment), Allocated)> = sums.into_iter().collect();
        let listed = &rows[..rows.len().min(MOST_ROWS)];
        TableBuilder::new("allocation_moments", "Allocations by thread and time", listed)
            .total_rows(rows.len())
            .number("row", |((row, _), _)| *row)
            .number("stream", |((_, moment), _)| moment.0)
            .number("bin", |((_, moment), _)| moment.1)
            .count("allocations", |(_, all)| all.blocks.blocks)
            .bytes("allocated_bytes", |(_, all)| all.blocks.bytes)
            .count("failed", |(_, all)| all.failed)
            .count("never_released", |(_, all)| all.never_released.blocks)
            .bytes("never_released_bytes", |(_, all)| all.never_released.bytes)
            .count("ended", |(_, all)| all.ended.blocks)
            .bytes("ended_bytes", |(_, all)| all.ended.bytes)
            .build()
    }
}
