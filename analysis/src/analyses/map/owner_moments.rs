//! Accesses to the memory of owners, by thread and time.

use std::collections::{BTreeMap, HashMap};

use trackway_report::{Table, TableBuilder};

use super::shard::MapShard;
use super::Map;
use crate::model::moments::{rows_with_room, Moment};

/// Rows that are listed: owners that have no room are left out as a whole.
const MOST_ROWS: usize = 6_000;

/// By the rows of the table of owners, of which these are listed there. It adds up cells of the grid.
pub(super) fn table(map: &Map, shard: &MapShard, listed: impl Iterator<Item = u32>) -> Table {
    let row_of: HashMap<u32, usize> = listed.zip(0..).collect();
    let mut sums: BTreeMap<(usize, Moment), [u64; 2]> = BTreeMap::new();
    for (place, cells) in shard.grid.rows() {
        let Some(&row) = row_of.get(&place.owner) else {
            continue;
        };
        for (bin, counts) in cells.iter().enumerate().filter(|(_, counts)| **counts != [0, 0]) {
            let moment = (place.stream, map.moment_bin(bin));
            let sum = sums.entry((row, moment)).or_default();
            *sum = [0, 1].map(|kind| sum[kind].saturating_add(counts[kind]));
        }
    }
    let rows: Vec<((usize, Moment), [u64; 2])> = sums.into_iter().collect();
    let room = rows_with_room(rows.iter().map(|((row, _), _)| *row), MOST_ROWS);
    TableBuilder::new("owner_moments", "Memory by thread and time", &rows[..room])
        .total_rows(rows.len())
        .number("row", |((row, _), _)| *row)
        .number("stream", |((_, moment), _)| moment.0)
        .number("bin", |((_, moment), _)| moment.1)
        .count("reads", |(_, [reads, _])| *reads)
        .count("writes", |(_, [_, writes])| *writes)
        .build()
}
