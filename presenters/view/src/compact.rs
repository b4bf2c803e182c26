//! Tables as JSON with rows as arrays: a page holds too many for each to repeat the names of its columns.

use serde_json::{json, Value as Json};
use trackway_report::{Layout, Table};

/// Maximum number of cells of a table in a page.
const MAX_CELLS: usize = 800_000;

/// The first rows of a table; `row_count` says how many it has, `total_rows` how many before it was cut to the top.
pub fn compact(table: &Table) -> Json {
    let columns: Vec<Json> = table
        .columns()
        .map(|column| json!({"name": column.name(), "title": column.title(), "unit": column.unit().name()}))
        .collect();
    let shown = table.row_count().min(MAX_CELLS / columns.len().max(1));
    let rows: Vec<Json> = (0..shown).map(|row| row_array(table, row)).collect();
    json!({
        "name": table.name(),
        "title": table.title(),
        "layout": match table.layout() {
            Layout::Rows => "rows",
            Layout::Record => "record",
        },
        "columns": columns,
        "rows": rows,
        "row_count": table.row_count(),
        "total_rows": table.total_rows(),
    })
}

fn row_array(table: &Table, row: usize) -> Json {
    table
        .columns()
        .map(|column| Json::from(column.value(row)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_report::TableBuilder;

    #[test]
    fn cells_stand_in_the_order_of_the_columns() {
        let rows = [("arc.ident", 3), ("arc.cost", 0)];
        let table = TableBuilder::new("fields", "Fields", &rows)
            .text("field", |row| row.0)
            .count("misses", |row| row.1)
            .share("share", |row| (row.1, row.1))
            .build();
        let json = compact(&table);
        assert_eq!(
            json["rows"],
            json!([["arc.ident", 3, 1.0], ["arc.cost", 0, null]])
        );
        assert_eq!(
            json["columns"][1],
            json!({"name": "misses", "title": "misses", "unit": "count"})
        );
        assert_eq!(json["layout"], "rows");
    }

    #[test]
    fn long_tables_are_cut_and_say_so() {
        let rows: Vec<u64> = (0..MAX_CELLS as u64 + 5).collect();
        let table = TableBuilder::new("long", "Long", &rows)
            .number("number", |row| *row)
            .build();
        let json = compact(&table);
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(MAX_CELLS));
        assert_eq!(json["row_count"], MAX_CELLS + 5);
    }
}
