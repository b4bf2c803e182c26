//! The map in some of its resolutions, as the page's chart takes it.

use std::collections::{BTreeMap, HashMap, HashSet};

use trackway_answers::page::MOST_CELLS;
use trackway_report::{Table, TableBuilder};

use crate::charts::{integer, text};

/// Maximum number of cells of all resolutions together.
const MOST_CELLS_OF_ALL: u64 = 160_000;
/// Each resolution has cells half as wide and half as high as the one before.
const RESOLUTIONS: usize = 3;

/// A row of the picture: what holds the memory, by the number of its process and its own, and the address.
type Place = (u64, u64, u64);

/// What is known of a place.
struct Granule {
    bytes: u64,
    name: String,
}

/// One resolution.
struct Resolution {
    time_bins: u64,
    bin_ns: u64,
    places: BTreeMap<Place, Granule>,
    /// Reads and writes by time, place and thread.
    cells: BTreeMap<(u64, Place, u64), (u64, u64)>,
}

/// A line of the chart's tables.
struct Cell {
    level: u64,
    time: u64,
    address: u64,
    stream: u64,
    reads: u64,
    writes: u64,
}

struct Row<'r> {
    level: u64,
    number: u64,
    first_row: u64,
    address: u64,
    granule: &'r Granule,
}

/// Cells, scales of time and scales of addresses; level 0 is the coarsest.
pub fn map(tables: &[Table]) -> Option<[Table; 3]> {
    let named = |name: &str| tables.iter().find(|table| table.name() == name);
    let (cells, levels, whole) = (named("cells")?, named("levels")?, named("map")?);
    let first_ns = integer(whole.column("from_ns"), 0);
    let mut resolutions = resolutions(cells, levels, first_ns);
    resolutions.reverse();
    let finest = resolutions.last()?;
    let rows: HashMap<Place, u64> = finest.places.keys().copied().zip(0..).collect();
    let first_row = |place: &Place| {
        let first = finest.places.range(place..).next();
        first.map_or(0, |(place, _)| rows[place])
    };
    let numbered: Vec<(u64, &Resolution)> = (0..).zip(&resolutions).collect();
    let addresses: Vec<Row> = numbered
        .iter()
        .flat_map(|&(level, resolution)| {
            let places = (0..).zip(&resolution.places);
            places.map(move |(number, (place, granule))| (level, number, place, granule))
        })
        .map(|(level, number, place, granule)| Row {
            level,
            number,
            first_row: first_row(place),
            address: place.2,
            granule,
        })
        .collect();
    Some([
        cells_table(&numbered),
        times_table(&numbered),
        addresses_table(&addresses),
    ])
}

/// The finest that is small enough, and coarser ones. The levels also count the cells of those that were too fine to be listed.
fn resolutions(cells: &Table, levels: &Table, first_ns: u64) -> Vec<Resolution> {
    let count = |row: usize| integer(levels.column("cells"), row);
    let listed: HashSet<u64> = (0..cells.row_count())
        .map(|row| integer(cells.column("level"), row))
        .collect();
    let is_listed = |row: usize| listed.contains(&integer(levels.column("level"), row));
    let finest = (0..levels.row_count()).find(|&row| is_listed(row) && count(row) <= MOST_CELLS as u64);
    let mut left = MOST_CELLS_OF_ALL;
    let mut fits = |row: &usize| {
        let rest = left.checked_sub(count(*row));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let from_finest = finest.into_iter().flat_map(|row| row..levels.row_count());
    from_finest
        .filter(|row| fits(row))
        .take(RESOLUTIONS)
        .map(|row| resolution(cells, levels, row, first_ns))
        .collect()
}

fn resolution(cells: &Table, levels: &Table, row: usize, first_ns: u64) -> Resolution {
    let number = integer(levels.column("level"), row);
    let mut resolution = Resolution {
        time_bins: integer(levels.column("time_bins"), row),
        bin_ns: integer(levels.column("bin_ns"), row).max(1),
        places: BTreeMap::new(),
        cells: BTreeMap::new(),
    };
    let column = |name| cells.column(name);
    for row in (0..cells.row_count()).filter(|&row| integer(column("level"), row) == number) {
        let value = |name| integer(column(name), row);
        let place = (value("process"), value("owner"), value("address"));
        resolution.places.entry(place).or_insert_with(|| Granule {
            bytes: value("granule_bytes"),
            name: text(column("name"), row).to_owned(),
        });
        let time = value("from_ns").saturating_sub(first_ns) / resolution.bin_ns;
        let sum = resolution
            .cells
            .entry((time, place, value("stream")))
            .or_default();
        sum.0 = sum.0.saturating_add(value("reads"));
        sum.1 = sum.1.saturating_add(value("writes"));
    }
    resolution
}

fn cells_table(resolutions: &[(u64, &Resolution)]) -> Table {
    let mut cells = Vec::new();
    for &(level, resolution) in resolutions {
        let positions: HashMap<Place, u64> = resolution.places.keys().copied().zip(0..).collect();
        let of_level = resolution.cells.iter();
        cells.extend(of_level.map(|((time, place, stream), counts)| Cell {
            level,
            time: *time,
            address: positions[place],
            stream: *stream,
            reads: counts.0,
            writes: counts.1,
        }));
    }
    let table = TableBuilder::new("map_cells", "Accesses by time and address", &cells)
        .number("level", |cell| cell.level)
        .number(("time_bin", "time"), |cell| cell.time)
        .number(("address_bin", "address"), |cell| cell.address);
    // Most traces have one thread, and the page is smaller without its number.
    let table = match cells.iter().any(|cell| cell.stream != 0) {
        true => table.number("stream", |cell| cell.stream),
        false => table,
    };
    table
        .count("reads", |cell| cell.reads)
        .count("writes", |cell| cell.writes)
        .build()
}

fn times_table(resolutions: &[(u64, &Resolution)]) -> Table {
    TableBuilder::new("map_times", "Scale of time", resolutions)
        .number("level", |row| row.0)
        .count(("time_bins", "bins"), |row| row.1.time_bins)
        .number(("first_ns", "first, ns"), |_| 0)
        .number(("bin_ns", "bin, ns"), |row| row.1.bin_ns)
        .build()
}

fn addresses_table(rows: &[Row]) -> Table {
    TableBuilder::new("map_addresses", "Scale of addresses", rows)
        .number("level", |row| row.level)
        .number(("address_bin", "number"), |row| row.number)
        .number(("first_row", "from row"), |row| row.first_row)
        .number(("first_address", "address"), |row| row.address)
        .bytes(("size_bytes", "bytes"), |row| row.granule.bytes)
        .text("name", |row| row.granule.name.clone())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Level, owner, address, time and reads of a cell; granules have 64 bytes << level, parts of time 8 ns << level.
    type Listed = (u64, u64, u64, u64, u64);

    fn with_streams(cells: &[Listed], streams: &[u64]) -> Table {
        let cells: Vec<(&Listed, &u64)> = cells.iter().zip(streams).collect();
        TableBuilder::new("cells", "", &cells)
            .number(("level", ""), |(cell, _)| cell.0)
            .number(("process", ""), |_| 0)
            .number(("owner", ""), |(cell, _)| cell.1)
            .text(("name", ""), |(cell, _)| format!("owner {}", cell.1))
            .number(("stream", ""), |(_, stream)| **stream)
            .number(("address", ""), |(cell, _)| cell.2)
            .bytes(("granule_bytes", ""), |(cell, _)| 64 << cell.0)
            .count(("from_ns", ""), |(cell, _)| 100 + cell.3)
            .count(("reads", ""), |(cell, _)| cell.4)
            .count(("writes", ""), |_| 1)
            .build()
    }

    fn tables(cells: &[Listed], levels: u64) -> Vec<Table> {
        let numbers: Vec<u64> = (0..levels).collect();
        vec![
            with_streams(cells, &vec![0; cells.len()]),
            TableBuilder::new("levels", "", &numbers)
                .number(("level", ""), |level| *level)
                .count(("cells", ""), |level| {
                    cells.iter().filter(|cell| cell.0 == *level).count()
                })
                .count(("time_bins", ""), |level| 16u64.div_ceil(1 << level))
                .count(("bin_ns", ""), |level| 8 << level)
                .build(),
            TableBuilder::new("map", "", &[()])
                .count(("from_ns", ""), |()| 100)
                .build(),
        ]
    }

    fn column(table: &Table, name: &str) -> Vec<u64> {
        (0..table.row_count())
            .map(|row| integer(table.column(name), row))
            .collect()
    }

    #[test]
    fn coarse_rows_begin_where_their_fine_ones_do() {
        let cells = [
            (0, 0, 0, 0, 5),
            (0, 0, 64, 8, 1),
            (0, 0, 128, 16, 2),
            (0, 1, 64, 24, 3),
            (1, 0, 0, 0, 6),
            (1, 0, 128, 0, 2),
            (1, 1, 0, 0, 3),
        ];
        let [cells, times, addresses] = map(&tables(&cells, 2)).unwrap();
        assert_eq!(column(&times, "bin_ns"), [16, 8], "the coarsest comes first");
        assert_eq!(column(&addresses, "level"), [0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(column(&addresses, "first_row"), [0, 2, 3, 0, 1, 2, 3]);
        assert_eq!(column(&cells, "level"), [0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(column(&cells, "time_bin"), [0, 0, 0, 0, 1, 2, 3]);
        assert_eq!(column(&cells, "reads"), [6, 2, 3, 5, 1, 2, 3]);
    }

    #[test]
    fn threads_are_told_apart_unless_all_cells_are_of_the_first() {
        let two = |streams: [u64; 2]| {
            let mut all = tables(&[(0, 0, 0, 0, 5), (0, 0, 0, 0, 6)], 1);
            all[0] = with_streams(&[(0, 0, 0, 0, 5), (0, 0, 0, 0, 6)], &streams);
            map(&all).unwrap()[0].clone()
        };
        let apart = two([3, 7]);
        let columns = ["stream", "reads", "writes"].map(|name| column(&apart, name));
        assert_eq!(columns, [vec![3, 7], vec![5, 6], vec![1, 1]]);
        let is_there = |table: &Table| table.columns().any(|column| column.name() == "stream");
        for (stream, is_told) in [(0, false), (3, true)] {
            let one = two([stream; 2]);
            assert_eq!([column(&one, "reads"), column(&one, "writes")], [[11], [2]]);
            assert_eq!(is_there(&one), is_told);
        }
    }

    #[test]
    fn levels_without_cells_are_no_resolutions() {
        let cells = [(1, 0, 0, 0, 6), (1, 0, 128, 16, 2)];
        let mut tables = tables(&cells, 2);
        // The finest level has cells, too, which are not listed.
        tables[1] = TableBuilder::new("levels", "", &[(0, 3), (1, 2)])
            .number(("level", ""), |row| row.0)
            .count(("cells", ""), |row| row.1)
            .count(("time_bins", ""), |row| 4 >> row.0)
            .count(("bin_ns", ""), |row| 8 << row.0)
            .build();
        let [_, times, addresses] = map(&tables).unwrap();
        assert_eq!(column(&times, "bin_ns"), [16]);
        assert_eq!(column(&addresses, "first_row"), [0, 1]);
    }

    #[test]
    fn all_resolutions_fit_the_page() {
        let many = MOST_CELLS as u64;
        let cells: Vec<Listed> = (0..7)
            .flat_map(|level| (0..many >> level).map(move |index| (level, index, 0, 0, 1)))
            .collect();
        let [cells, times, _] = map(&tables(&cells, 7)).unwrap();
        assert_eq!(cells.row_count() as u64, many + many / 4 + many / 16);
        assert_eq!(column(&times, "bin_ns"), [8 << 4, 8 << 2, 8]);
        assert!(map(&tables(&[], 0)).is_none());
    }
}
