//! Tables of analyses in the shapes that the page's charts are drawn from (`presenters/view/README.md`).

use std::collections::{BTreeMap, HashMap};

use trackway_report::{Column, Table, TableBuilder, Unit, Value};

/// A level of the map with more cells is too large for the page.
pub const MAX_CELLS: usize = 20_000;
/// Shares of the curves are exact to this.
const WHOLE: u64 = 1_000_000_000;

fn integer(column: Option<Column>, row: usize) -> u64 {
    match column.map(|column| column.value(row)) {
        Some(Value::Integer(number)) => number,
        _ => 0,
    }
}

fn text<'t>(column: Option<Column<'t>>, row: usize) -> &'t str {
    match column.map(|column| column.value(row)) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

/// The miss-ratio curve of all accesses, then those of the groups.
pub fn curves(tables: &[Table]) -> Option<Table> {
    let mut points: Vec<(String, u64, f64)> = Vec::new();
    for name in ["miss_ratio_curve", "group_curves"] {
        let Some(table) = tables.iter().find(|table| table.name() == name) else {
            continue;
        };
        let columns = ["name", "cache_bytes", "miss_ratio"].map(|name| table.column(name));
        for row in 0..table.row_count() {
            let ratio = columns[2].map(|column| column.value(row));
            if let Some(Value::Real(ratio)) = ratio {
                let group = columns[0].map_or("all accesses", |column| text(Some(column), row));
                points.push((group.to_owned(), integer(columns[1], row), ratio));
            }
        }
    }
    let table = TableBuilder::new("curves", "Miss ratio of LRU caches, by size", &points)
        .text("group", "group", |point| point.0.clone())
        .integer("size_bytes", "size", Unit::Bytes, |point| point.1)
        .share("miss_ratio", "miss ratio", |point| {
            ((point.2 * WHOLE as f64) as u64, WHOLE)
        });
    (!points.is_empty()).then(|| table.build())
}

struct Member {
    structure: String,
    name: String,
    offset: u64,
    size: u64,
    accesses: u64,
    misses: u64,
}

/// The members of all structures; `misses` names the column of the ranking measure.
pub fn members(tables: &[Table], misses: &str) -> Option<Table> {
    let mut members = Vec::new();
    for table in tables.iter().filter(|table| table.name() == "members") {
        let column = |name| table.column(name);
        for row in 0..table.row_count() {
            let name = text(column("member"), row);
            // Holes, and accesses of the whole, are no members.
            let is_member = !name.is_empty() && !name.starts_with('(');
            if is_member {
                members.push(Member {
                    structure: text(column("type"), row).to_owned(),
                    name: name.to_owned(),
                    offset: integer(column("offset_bytes"), row),
                    size: integer(column("size_bytes"), row),
                    accesses: integer(column("accesses"), row),
                    misses: integer(column(misses), row),
                });
            }
        }
    }
    let table = TableBuilder::new("layouts", "Structures to scale", &members)
        .text("type", "type", |member| member.structure.clone())
        .text("field", "field", |member| member.name.clone())
        .integer("offset", "offset", Unit::Number, |member| member.offset)
        .integer("size", "size", Unit::Bytes, |member| member.size)
        .integer("accesses", "accesses", Unit::Count, |member| member.accesses)
        .integer("misses", "misses", Unit::Count, |member| member.misses);
    (!members.is_empty()).then(|| table.build())
}

/// A row of the picture: what holds the memory, by the number of its process and its own, and the address.
type Place = (u64, u64, u64);

/// The finest level of a map that is small enough: its cells, its scale of time and its scale of addresses.
pub fn map(tables: &[Table]) -> Option<[Table; 3]> {
    let named = |name: &str| tables.iter().find(|table| table.name() == name);
    let (cells, levels, whole) = (named("cells")?, named("levels")?, named("map")?);
    let level =
        (0..levels.row_count()).find(|&row| integer(levels.column("cells"), row) <= MAX_CELLS as u64)?;
    let number = integer(levels.column("level"), level);
    let bin_ns = integer(levels.column("bin_ns"), level).max(1);
    let first_ns = integer(whole.column("from_ns"), 0);
    let shown = (0..cells.row_count()).filter(|&row| integer(cells.column("level"), row) == number);
    let place = |row| -> Place {
        let column = |name| integer(cells.column(name), row);
        (column("process"), column("owner"), column("address"))
    };
    let mut places: BTreeMap<Place, (u64, String)> = BTreeMap::new();
    for row in shown.clone() {
        let granule = integer(cells.column("granule_bytes"), row);
        places.insert(place(row), (granule, text(cells.column("name"), row).to_owned()));
    }
    let positions: HashMap<Place, u64> = places.keys().copied().zip(0..).collect();
    // The threads of a cell are added up.
    let mut sums: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for row in shown {
        let time = integer(cells.column("from_ns"), row).saturating_sub(first_ns) / bin_ns;
        let sum = sums.entry((time, positions[&place(row)])).or_default();
        sum.0 = sum.0.saturating_add(integer(cells.column("reads"), row));
        sum.1 = sum.1.saturating_add(integer(cells.column("writes"), row));
    }
    let sums: Vec<_> = sums.into_iter().collect();
    let addresses: Vec<_> = places.into_iter().collect();
    Some([
        TableBuilder::new("map_cells", "Accesses by time and address", &sums)
            .integer("level", "level", Unit::Number, |_| 0)
            .integer("time_bin", "time", Unit::Number, |cell| cell.0 .0)
            .integer("address_bin", "address", Unit::Number, |cell| cell.0 .1)
            .integer("reads", "reads", Unit::Count, |cell| cell.1 .0)
            .integer("writes", "writes", Unit::Count, |cell| cell.1 .1)
            .build(),
        TableBuilder::new("map_times", "Scale of time", &[()])
            .integer("level", "level", Unit::Number, |()| 0)
            .integer("time_bins", "bins", Unit::Count, |()| {
                integer(levels.column("time_bins"), level)
            })
            .integer("first_ns", "first, ns", Unit::Number, |()| 0)
            .integer("bin_ns", "bin, ns", Unit::Number, |()| bin_ns)
            .build(),
        TableBuilder::new("map_addresses", "Scale of addresses", &addresses)
            .integer("level", "level", Unit::Number, |_| 0)
            .integer("address_bin", "number", Unit::Number, |row| positions[&row.0])
            .integer("first_address", "address", Unit::Number, |row| row.0 .2)
            .integer("size_bytes", "bytes", Unit::Bytes, |row| row.1 .0)
            .text("name", "name", |row| row.1 .1.clone())
            .build(),
    ])
}
