//! The owners of the memory that each site accesses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use trackway_report::{Table, TableBuilder};
use trackway_trace::SiteId;

use super::owners::Owners;
use super::Map;
use crate::model::moments::{rows_with_room, Moment};
use crate::model::site_cells::SiteCells;
use crate::model::site_counts::SiteNames;

/// Rows of the table.
const MOST_ROWS: usize = 4_000;
/// Rows of the table by thread and time: what has no room is left out as a whole.
const MOST_MOMENTS: usize = 10_000;
/// With more, of some 60 bytes each, times and threads aren't told apart.
const MOST_CELLS: usize = 1 << 19;

/// What a row of the table is about: field, variable and type, the memory's label and kind.
type Key = ([String; 4], &'static str);

/// Accesses by site and owner of the memory, and by moment if asked for.
#[derive(Debug, Default)]
pub(super) struct SiteOwners {
    cells: SiteCells<(u32, Moment), u64>,
    /// Whether there were too many cells, so that moments aren't told apart any more.
    is_without_moments: bool,
}

impl SiteOwners {
    pub fn count(&mut self, site: SiteId, owner: u32, moment: Moment, accesses: u64) {
        let moment = match self.is_without_moments {
            true => Moment::default(),
            false => moment,
        };
        let count = self.cells.at(site, (owner, moment));
        *count = count.saturating_add(accesses);
        if self.cells.len() > MOST_CELLS && !self.is_without_moments {
            self.forget_moments();
        }
    }

    #[cold]
    fn forget_moments(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        self.is_without_moments = true;
        for (site, (owner, _), accesses) in cells.iter() {
            self.count(site, owner, Moment::default(), *accesses);
        }
    }

    /// The most accessed first; then the same by thread and time, if asked for and known.
    pub fn tables(&self, map: &Map, owners: &Owners) -> Vec<Table> {
        let rows = self.rows(map, owners);
        let of_time = map.moments.is_some() && !self.is_without_moments;
        let moments = of_time.then(|| self.moments(&rows));
        [table(&rows)].into_iter().chain(moments).collect()
    }

    fn rows(&self, map: &Map, owners: &Owners) -> Vec<Row> {
        let program = map.trace.program();
        let names = SiteNames::new(program);
        let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
        for ((site, owner), accesses) in self.sums() {
            let (known, kind) = (program.site(site), owners.list[owner as usize].kind);
            let name = [
                names.field(known),
                names.variable(known),
                names.type_name(known),
                map.names.label(kind),
            ];
            let row = rows.entry((name, map.names.kind(kind))).or_default();
            row.accesses = row.accesses.saturating_add(accesses);
            row.cells.push((site, owner));
        }
        let named = rows.into_iter().map(|(key, row)| Row { key, ..row });
        let mut rows: Vec<Row> = named.collect();
        rows.sort_by_key(|row| Reverse(row.accesses));
        rows
    }

    fn sums(&self) -> BTreeMap<(SiteId, u32), u64> {
        let mut sums: BTreeMap<(SiteId, u32), u64> = BTreeMap::new();
        for (site, (owner, _), accesses) in self.cells.iter() {
            let sum = sums.entry((site, owner)).or_default();
            *sum = sum.saturating_add(*accesses);
        }
        sums
    }

    /// By the rows of the table that are listed.
    fn moments(&self, rows: &[Row]) -> Table {
        let cells = (0..).zip(rows.iter().take(MOST_ROWS));
        let numbered = cells.flat_map(|(number, row)| row.cells.iter().map(move |cell| (*cell, number)));
        let row_of: HashMap<(SiteId, u32), usize> = numbered.collect();
        let mut sums: BTreeMap<(usize, Moment), u64> = BTreeMap::new();
        for (site, (owner, moment), accesses) in self.cells.iter() {
            if let Some(row) = row_of.get(&(site, owner)) {
                let sum = sums.entry((*row, moment)).or_default();
                *sum = sum.saturating_add(*accesses);
            }
        }
        let sums: Vec<((usize, Moment), u64)> = sums.into_iter().collect();
        let room = rows_with_room(sums.iter().map(|((row, _), _)| *row), MOST_MOMENTS);
        let title = "Memory by what it is accessed as, by thread and time";
        TableBuilder::new("site_owner_moments", title, &sums[..room])
            .total_rows(sums.len())
            .number("row", |((row, _), _)| *row)
            .number("stream", |((_, moment), _)| moment.0)
            .number("bin", |((_, moment), _)| moment.1)
            .count("accesses", |(_, accesses)| *accesses)
            .build()
    }
}

#[derive(Debug, Default)]
struct Row {
    key: Key,
    accesses: u64,
    /// What it sums up.
    cells: Vec<(SiteId, u32)>,
}

fn table(rows: &[Row]) -> Table {
    let listed = &rows[..rows.len().min(MOST_ROWS)];
    TableBuilder::new("site_owners", "Memory by what it is accessed as", listed)
        .total_rows(rows.len())
        .text("field", |row| row.key.0[0].clone())
        .text("variable", |row| row.key.0[1].clone())
        .text("type", |row| row.key.0[2].clone())
        .text("memory", |row| row.key.0[3].clone())
        .text("kind", |row| row.key.1)
        .count("accesses", |row| row.accesses)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_moments_are_not_told_apart() {
        let mut counts = SiteOwners::default();
        let site = SiteId(1);
        for bin in 0..=MOST_CELLS as u32 {
            counts.count(site, 5, (0, bin), 1);
        }
        counts.count(site, 6, (0, 0), 1);
        assert!(counts.is_without_moments);
        let sums: Vec<((SiteId, u32), u64)> = counts.sums().into_iter().collect();
        assert_eq!(sums, [((site, 5), MOST_CELLS as u64 + 1), ((site, 6), 1)]);
    }
}
