//! Scales cells to the size of a picture.

use std::collections::BTreeMap;

use crate::{Column, Table, Value};

/// Rows of memory from the top, times from the left.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    pub title: String,
    pub rows: Vec<HeatRow>,
    /// When the first column begins.
    pub from_ns: u64,
    pub column_ns: u64,
}

/// One row of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatRow {
    /// The owner of the memory.
    pub label: String,
    /// The first address; none if the row stands for memory of several owners.
    pub address: Option<u64>,
    /// Bytes from there to the end of what was touched.
    pub bytes: u64,
    /// Reads and writes in each column.
    pub counts: Vec<[u64; 2]>,
}

/// One line of the table.
struct Cell<'t> {
    owner: (u64, u64),
    name: &'t str,
    address: u64,
    bytes: u64,
    from_ns: u64,
    width_ns: u64,
    counts: [u64; 2],
}

/// Memory of an owner: granules by address.
struct Group<'t> {
    name: &'t str,
    granules: BTreeMap<u64, Granule>,
    sum: u64,
}

#[derive(Clone)]
struct Granule {
    bytes: u64,
    counts: Vec<[u64; 2]>,
}

impl HeatMap {
    /// Makes a picture from a table with the columns `level`, `process`, `owner`, `name`, `address`, `granule_bytes`,
    /// `from_ns`, `width_ns`, `reads` and `writes`. It shows the finest level, in at most so many rows and columns.
    /// None if the table has no cell.
    pub fn from_cells(table: &Table, rows: usize, columns: usize) -> Option<HeatMap> {
        let cells = finest_cells(table)?;
        let from_ns = cells.iter().map(|cell| cell.from_ns).min()?;
        let last_ns = cells.iter().map(|cell| cell.from_ns).max()?;
        let width_ns = cells.first()?.width_ns.max(1);
        let bins = (last_ns - from_ns) / width_ns + 1;
        let bins_per_column = bins.div_ceil(columns.max(1) as u64);
        let column_ns = width_ns.saturating_mul(bins_per_column);
        let count = bins.div_ceil(bins_per_column) as usize;
        let column_of = |cell: &Cell| ((cell.from_ns - from_ns) / column_ns) as usize;
        let groups = grouped(&cells, count, column_of);
        Some(HeatMap {
            title: table.title().to_owned(),
            rows: fitted(groups, rows.max(1)),
            from_ns,
            column_ns,
        })
    }

    pub fn column_count(&self) -> usize {
        self.rows.first().map_or(0, |row| row.counts.len())
    }

    /// The largest sum of reads and writes.
    pub fn largest(&self) -> u64 {
        let counts = self.rows.iter().flat_map(|row| &row.counts);
        counts.map(|counts| sum(*counts)).max().unwrap_or(0)
    }

    pub fn end_ns(&self) -> u64 {
        let length = self.column_ns.saturating_mul(self.column_count() as u64);
        self.from_ns.saturating_add(length)
    }
}

/// How strongly a count is shown, logarithmically: 0 for none, and more than that for any, up to 1.
pub(super) fn strength(count: u64, largest: u64) -> f64 {
    if count == 0 || largest == 0 {
        return 0.0;
    }
    (1.0 + count as f64).ln() / (1.0 + largest as f64).ln()
}

pub(super) fn sum([reads, writes]: [u64; 2]) -> u64 {
    reads.saturating_add(writes)
}

fn finest_cells(table: &Table) -> Option<Vec<Cell<'_>>> {
    let column = |name| table.column(name);
    let integer = |column: &Column, row| column.integer(row).unwrap_or(0);
    let level = column("level")?;
    let (process, owner, name) = (column("process")?, column("owner")?, column("name")?);
    let (address, bytes) = (column("address")?, column("granule_bytes")?);
    let (from_ns, width_ns) = (column("from_ns")?, column("width_ns")?);
    let (reads, writes) = (column("reads")?, column("writes")?);
    let finest = (0..table.row_count()).map(|row| integer(&level, row)).min()?;
    let rows = (0..table.row_count()).filter(|row| integer(&level, *row) == finest);
    let cell = |row| Cell {
        owner: (integer(&process, row), integer(&owner, row)),
        name: match name.value(row) {
            Value::Text(text) => text,
            _ => "",
        },
        address: integer(&address, row),
        bytes: integer(&bytes, row),
        from_ns: integer(&from_ns, row),
        width_ns: integer(&width_ns, row),
        counts: [integer(&reads, row), integer(&writes, row)],
    };
    Some(rows.map(cell).collect())
}

/// Groups cells by owner, those with the lowest addresses first.
fn grouped<'t>(cells: &[Cell<'t>], columns: usize, column_of: impl Fn(&Cell) -> usize) -> Vec<Group<'t>> {
    let mut groups: BTreeMap<(u64, u64), Group> = BTreeMap::new();
    for cell in cells {
        let group = groups.entry(cell.owner).or_insert_with(|| Group {
            name: cell.name,
            granules: BTreeMap::new(),
            sum: 0,
        });
        let granule = group.granules.entry(cell.address).or_insert_with(|| Granule {
            bytes: cell.bytes,
            counts: vec![[0; 2]; columns],
        });
        add(&mut granule.counts[column_of(cell)], cell.counts);
        group.sum = group.sum.saturating_add(sum(cell.counts));
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| group.granules.keys().next().copied());
    groups
}

fn add(into: &mut [u64; 2], more: [u64; 2]) {
    into[0] = into[0].saturating_add(more[0]);
    into[1] = into[1].saturating_add(more[1]);
}

/// Rows, at most so many. Owners with the least in them share the last row; the others have rows by the size of what
/// they touched.
fn fitted(mut groups: Vec<Group>, limit: usize) -> Vec<HeatRow> {
    let mut others = Vec::new();
    if groups.len() > limit {
        let mut sums: Vec<u64> = groups.iter().map(|group| group.sum).collect();
        sums.sort_unstable_by(|one, other| other.cmp(one));
        let least = sums[limit - 1];
        let mut kept = 0;
        let mut is_kept = |group: &Group| {
            let is_kept = group.sum > least;
            kept += usize::from(is_kept);
            is_kept
        };
        let (large, small): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|group| is_kept(group));
        groups = large;
        others.push(together(&small));
    }
    let granules: usize = groups.iter().map(|group| group.granules.len()).sum();
    let spare = limit.saturating_sub(groups.len() + others.len());
    let mut rows = Vec::new();
    for group in &groups {
        let more = spare * (group.granules.len() - 1) / granules.saturating_sub(groups.len()).max(1);
        rows.extend(rows_of(group, 1 + more));
    }
    rows.extend(others);
    rows
}

fn together(groups: &[Group]) -> HeatRow {
    let granules: Vec<&Granule> = groups.iter().flat_map(|group| group.granules.values()).collect();
    HeatRow {
        label: format!("{} others", groups.len()),
        address: None,
        bytes: granules
            .iter()
            .fold(0, |bytes, granule| bytes.saturating_add(granule.bytes)),
        counts: added(&granules),
    }
}

/// A group's granules in at most so many rows, each of about the same number.
fn rows_of<'g>(group: &'g Group, limit: usize) -> impl Iterator<Item = HeatRow> + 'g {
    let granules: Vec<(&u64, &Granule)> = group.granules.iter().collect();
    let count = limit.min(granules.len());
    let border = move |row: usize, all: usize| row * all / count;
    (0..count).map(move |row| {
        let part = &granules[border(row, granules.len())..border(row + 1, granules.len())];
        let (first, last) = (part[0], part[part.len() - 1]);
        let counted: Vec<&Granule> = part.iter().map(|(_, granule)| *granule).collect();
        HeatRow {
            label: group.name.to_owned(),
            address: Some(*first.0),
            bytes: (last.0 - first.0).saturating_add(last.1.bytes),
            counts: added(&counted),
        }
    })
}

fn added(granules: &[&Granule]) -> Vec<[u64; 2]> {
    let mut sums = vec![[0; 2]; granules.first().map_or(0, |granule| granule.counts.len())];
    for granule in granules {
        for (sum, counts) in sums.iter_mut().zip(&granule.counts) {
            add(sum, *counts);
        }
    }
    sums
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::TableBuilder;

    /// Owner, name, address, time, reads, writes; granules of 64 bytes, parts of 8 ns.
    pub type Row = (u64, &'static str, u64, u64, u64, u64);

    pub fn table(rows: &[Row]) -> Table {
        TableBuilder::new("cells", "Accesses", rows)
            .number("level", |_| 2)
            .number("process", |_| 0)
            .number("owner", |row| row.0)
            .text("name", |row| row.1)
            .number("address", |row| row.2)
            .bytes(("granule_bytes", "bytes"), |_| 64)
            .count(("from_ns", "from"), |row| row.3)
            .count(("width_ns", "width"), |_| 8)
            .count("reads", |row| row.4)
            .count("writes", |row| row.5)
            .build()
    }

    fn total(map: &HeatMap) -> u64 {
        let counts = map.rows.iter().flat_map(|row| &row.counts);
        counts.map(|counts| sum(*counts)).sum()
    }

    #[test]
    fn one_access_is_a_picture() {
        let map = HeatMap::from_cells(&table(&[(3, "x", 4096, 80, 1, 0)]), 40, 80).unwrap();
        assert_eq!((map.rows.len(), map.column_count()), (1, 1));
        assert_eq!((map.from_ns, map.column_ns, map.end_ns()), (80, 8, 88));
        assert_eq!(map.rows[0].counts, [[1, 0]]);
        assert_eq!((map.rows[0].address, map.rows[0].bytes), (Some(4096), 64));
        assert!(HeatMap::from_cells(&table(&[]), 40, 80).is_none());
    }

    #[test]
    fn gaps_take_no_rows_and_owners_stand_by_address() {
        let cells = [
            (0, "high", 1 << 40, 0, 1, 0),
            (0, "high", 1 << 41, 24, 0, 2),
            (1, "low", 64, 8, 5, 5),
        ];
        let map = HeatMap::from_cells(&table(&cells), 40, 80).unwrap();
        let labels: Vec<&str> = map.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["low", "high", "high"]);
        assert_eq!(map.rows[2].counts, [[0, 0], [0, 0], [0, 0], [0, 2]]);
        assert_eq!(map.largest(), 10);
    }

    #[test]
    fn nothing_is_lost_on_the_way_to_any_size() {
        let cells: Vec<Row> = (0..500)
            .map(|n| (n % 7, "x", n * 64, n * n % 311 / 8 * 8, n, 1))
            .collect();
        let all: u64 = (0..500).map(|n| n + 1).sum();
        for (rows, columns) in [(1, 1), (2, 3), (7, 5), (8, 40), (40, 80), (1000, 1000)] {
            let map = HeatMap::from_cells(&table(&cells), rows, columns).unwrap();
            assert!(map.rows.len() <= rows && map.column_count() <= columns);
            assert_eq!(total(&map), all, "{rows} x {columns}");
        }
    }

    #[test]
    fn strength_grows_with_the_count() {
        assert_eq!(strength(0, 100), 0.0);
        assert_eq!(strength(100, 100), 1.0);
        assert!(strength(1, u64::MAX) > 0.0 && strength(1, 100) < strength(2, 100));
        assert_eq!(strength(0, 0), 0.0);
    }
}
