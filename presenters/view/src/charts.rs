//! Tables of analyses in the shapes that the page's charts are drawn from (`README.md`).

use trackway_report::{Column, Table, TableBuilder, Value};

/// Shares of the curves have this precision: parts of so many.
const WHOLE: u64 = 1_000_000_000;

pub fn integer(column: Option<Column>, row: usize) -> u64 {
    column.and_then(|column| column.integer(row)).unwrap_or(0)
}

pub fn text<'t>(column: Option<Column<'t>>, row: usize) -> &'t str {
    column.and_then(|column| column.text(row)).unwrap_or("")
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
        .text("group", |point| point.0.clone())
        .bytes(("size_bytes", "size"), |point| point.1)
        .share("miss_ratio", |point| ((point.2 * WHOLE as f64) as u64, WHOLE));
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
        .text("type", |member| member.structure.clone())
        .text("field", |member| member.name.clone())
        .number("offset", |member| member.offset)
        .bytes("size", |member| member.size)
        .count("accesses", |member| member.accesses)
        .count("misses", |member| member.misses);
    (!members.is_empty()).then(|| table.build())
}
