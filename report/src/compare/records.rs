//! Changes of tables that have one row: a list of its numbers.

use super::changes::difference;
use super::columns::{common, Role};
use super::number::Number;
use crate::{Column, Table, TableBuilder, Unit, Value};

/// Ends the name of a table of shares that changed.
pub const SHARES: &str = "_shares";

struct Row<'t> {
    column: Column<'t>,
    before: Number,
    after: Number,
}

/// The numbers that changed: whole ones in one table, others in another. Empty tables are left out.
pub fn tables(before: &Table, after: &Table) -> Vec<Table> {
    let (whole, others): (Vec<Row>, Vec<Row>) = rows(before, after).into_iter().partition(is_whole);
    let of = after.title();
    let mut tables = Vec::new();
    if !whole.is_empty() {
        let builder = start(after.name().to_owned(), format!("{of}: what changed"), &whole)
            .count("before", |row| row.before.as_integer())
            .count("after", |row| row.after.as_integer())
            .change("change", |row| {
                Some(difference(row.before.as_integer()?, row.after.as_integer()?))
            });
        tables.push(finish(builder));
    }
    if !others.is_empty() {
        let title = format!("{of}: shares that changed");
        let builder = start(format!("{}{SHARES}", after.name()), title, &others)
            .share("before", |row| Some(row.before.as_real()))
            .share("after", |row| Some(row.after.as_real()))
            .real("change", Unit::Change, |row| {
                Some(row.after.as_real() - row.before.as_real())
            });
        tables.push(finish(builder));
    }
    tables
}

/// "Trace: ended well was yes and is no".
pub fn changed_texts(before: &Table, after: &Table) -> Vec<String> {
    let columns = common(before, after, Role::Name);
    let changed = columns
        .iter()
        .filter_map(|(was, is)| match (first(*was), first(*is)) {
            (Value::Text(was), Value::Text(now)) if was != now => Some(format!(
                "{}: {} was {was} and is {now}",
                after.title(),
                is.title()
            )),
            _ => None,
        });
    changed.collect()
}

fn rows<'t>(before: &'t Table, after: &'t Table) -> Vec<Row<'t>> {
    let columns = common(before, after, Role::Measure).into_iter();
    let rows = columns.filter_map(|(before, after)| {
        Some(Row {
            column: after,
            before: Number::of(first(before))?,
            after: Number::of(first(after))?,
        })
    });
    rows.filter(|row| row.before != row.after).collect()
}

fn first(column: Column<'_>) -> Value<'_> {
    match column.row_count() {
        0 => Value::None,
        _ => column.value(0),
    }
}

fn is_whole(row: &Row) -> bool {
    row.before.as_integer().is_some() && row.after.as_integer().is_some()
}

fn start<'r, 't>(name: String, title: String, rows: &'r [Row<'t>]) -> TableBuilder<'r, Row<'t>> {
    TableBuilder::new(name, title, rows).text("number", |row| row.column.name().to_owned())
}

fn finish(builder: TableBuilder<Row>) -> Table {
    builder
        .ratio("ratio", |row| row.after.ratio_to(row.before))
        .build()
}
