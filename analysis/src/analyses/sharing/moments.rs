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
/// With more lines, threads and times, each of which takes about 80 bytes, transfers aren't told apart by line.
const MOST_LINES: usize = 1 << 19;

type Counts<K> = HashMap<(K, Moment), LineTransfers>;

/// Transfers by when a thread took the line: by the taking site, by the thread that had the line, and by line.
#[derive(Debug)]
pub(super) struct TransferMoments {
    cursor: MomentCursor,
    by_site: Counts<SiteId>,
    by_thread: Counts<u32>,
    /// None if there are too many.
    by_line: Option<Counts<u32>>,
}

impl TransferMoments {
    pub fn new(bins: &MomentBins) -> TransferMoments {
        TransferMoments {
            cursor: MomentCursor::new(bins),
            by_site: HashMap::new(),
            by_thread: HashMap::new(),
            by_line: Some(HashMap::new()),
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
        if let Some(by_line) = &mut self.by_line {
            *by_line.entry((passage.line, moment)).or_default() += transfer;
        }
        self.forget_lines_if_many();
    }

    fn forget_lines_if_many(&mut self) {
        self.by_line = self.by_line.take().filter(|lines| lines.len() <= MOST_LINES);
    }

    /// Adds transfers of other lines.
    pub fn append(&mut self, from: TransferMoments) {
        append(&mut self.by_site, from.by_site);
        append(&mut self.by_thread, from.by_thread);
        self.by_line = self.by_line.take().zip(from.by_line).map(|(mut lines, more)| {
            append(&mut lines, more);
            lines
        });
        self.forget_lines_if_many();
    }

    /// The same where the lines have other positions.
    pub fn moved(self, to: impl Fn(u32) -> u32) -> TransferMoments {
        let moved = |lines: Counts<u32>| {
            let lines = lines.into_iter();
            lines
                .map(|((line, moment), counts)| ((to(line), moment), counts))
                .collect()
        };
        TransferMoments {
            by_line: self.by_line.map(moved),
            ..self
        }
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

    /// By the ranks of lines, of which `rank_of` has that of each line that is listed; none if there are too many lines.
    pub fn lines(&self, rank_of: impl Fn(u32) -> Option<usize>) -> Option<Table> {
        let listed = self
            .by_line
            .as_ref()?
            .iter()
            .filter_map(|(&(line, moment), counts)| Some(((rank_of(line)? as u64, moment), *counts)));
        let title = "Cache lines by thread and time";
        Some(table(("shared_line_moments", title), "rank", listed.collect()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::model::moments::{ChunkTimes, TimeBins};

    fn taken(lines: std::ops::Range<u32>) -> TransferMoments {
        let mut moments = TransferMoments::new(&MomentBins {
            times: Arc::new(ChunkTimes::default()),
            bins: TimeBins::new(0, 99, 4),
        });
        let interval = Interval {
            end: 1,
            first_ns: 50,
            last_ns: 60,
        };
        let transfer = LineTransfers {
            reads: 1,
            ..LineTransfers::default()
        };
        for line in lines {
            let passage = Passage {
                line,
                from: SiteId(0),
                to: SiteId(1),
                from_thread: 2,
                to_thread: 3,
            };
            moments.count((0, interval), &passage, &transfer);
        }
        moments
    }

    #[test]
    fn lines_keep_their_transfers_where_they_move() {
        let mut moments = taken(0..2);
        moments.append(taken(0..1).moved(|line| line + 2));
        let ranks = moments.moved(|line| 2 - line).lines(|line| Some(line as usize));
        let ranks = ranks.unwrap();
        let column = |name| {
            (0..3)
                .map(|row| ranks.integer(name, row).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(column("rank"), [0, 1, 2]);
        assert_eq!(column("read_hand_overs"), [1, 1, 1]);
        assert_eq!(column("bin"), [1, 1, 1]);
    }

    #[test]
    fn too_many_lines_are_not_told_apart() {
        let moments = taken(0..MOST_LINES as u32 + 1);
        assert!(moments.lines(|line| Some(line as usize)).is_none());
        let pairs = moments.thread_pairs();
        assert_eq!(pairs.integer("read_hand_overs", 0), Some(MOST_LINES as u64 + 1));
    }
}
