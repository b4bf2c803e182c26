//! Cache-line transfers by thread and time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use trackway_report::{Table, TableBuilder};
use trackway_trace::{Batch, Interval, SiteId};

use super::passages::Passage;
use super::LineTransfers;
use crate::model::moments::{Moment, MomentBins, MomentCursor};

/// Rows of a table that are listed.
const MOST_ROWS: usize = 10_000;

/// Transfers by when a thread took the line: by the taking site, and by the thread that had the line.
#[derive(Debug)]
pub(super) struct TransferMoments {
    cursor: MomentCursor,
    by_site: HashMap<(SiteId, Moment), LineTransfers>,
    by_thread: HashMap<(u32, Moment), LineTransfers>,
}

impl TransferMoments {
    pub fn new(bins: &MomentBins) -> TransferMoments {
        TransferMoments {
            cursor: MomentCursor::new(bins),
            by_site: HashMap::new(),
            by_thread: HashMap::new(),
        }
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.cursor.begin(batch);
    }

    /// Access number `index` of the batch, which took place in that interval, takes a line.
    pub fn count(
        &mut self,
        (index, interval): (usize, Interval),
        passage: &Passage,
        transfer: &LineTransfers,
    ) {
        let moment = self.cursor.moment_within(index as u64, interval);
        *self.by_site.entry((passage.to, moment)).or_default() += transfer;
        *self.by_thread.entry((passage.from_thread, moment)).or_default() += transfer;
    }

    /// Adds transfers of other lines.
    pub fn append(&mut self, from: TransferMoments) {
        append(&mut self.by_site, from.by_site);
        append(&mut self.by_thread, from.by_thread);
    }

    /// By the rows of a table, of which `row_of` has the one of each site; the first rows come first.
    pub fn table(&self, name: &str, title: &str, row_of: impl Fn(SiteId) -> Option<usize>) -> Table {
        let mut sums: BTreeMap<(u64, Moment), LineTransfers> = BTreeMap::new();
        for (&(site, moment), counts) in &self.by_site {
            if let Some(row) = row_of(site) {
                *sums.entry((row as u64, moment)).or_default() += counts;
            }
        }
        table((name, title), "row", sums)
    }

    /// By the threads from which lines come and to which they go.
    pub fn thread_pairs(&self) -> Table {
        let of_thread = self
            .by_thread
            .iter()
            .map(|(&(from, moment), counts)| ((from.into(), moment), *counts));
        let title = "From thread to thread, by time";
        table(("pair_moments", title), "from_stream", of_thread.collect())
    }
}

fn append<K: Eq + Hash>(into: &mut HashMap<K, LineTransfers>, from: HashMap<K, LineTransfers>) {
    for (key, counts) in from {
        *into.entry(key).or_default() += &counts;
    }
}

fn table(
    (name, title): (&str, &str),
    key: &'static str,
    sums: BTreeMap<(u64, Moment), LineTransfers>,
) -> Table {
    let rows: Vec<((u64, Moment), LineTransfers)> = sums.into_iter().collect();
    let listed = &rows[..rows.len().min(MOST_ROWS)];
    TableBuilder::new(name, title, listed)
        .total_rows(rows.len())
        .number(key, |((key, _), _)| *key)
        .number("to_stream", |((_, moment), _)| moment.0)
        .number("bin", |((_, moment), _)| moment.1)
        .count("read_hand_overs", |(_, counts)| counts.reads)
        .count("write_hand_overs", |(_, counts)| counts.writes)
        .count("invalidations", |(_, counts)| counts.invalidations)
        .count("false_hand_overs", |(_, counts)| counts.false_sharing)
        .count("certain_hand_overs", |(_, counts)| counts.certain)
        .build()
}
