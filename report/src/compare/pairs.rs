//! Which rows of two tables are about the same thing.

use std::collections::HashMap;

use super::columns::{common, role, Role};
use super::lines::{align, Place};
use crate::{Column, Table, Value};

/// A row of each table, or of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub before: Option<usize>,
    pub after: Option<usize>,
}

/// Rows of the same names, in the order of the tables.
#[derive(Default)]
struct Namesakes {
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Pairs rows whose names are equal. Among those, rows with positions are aligned, see [`align`]; other rows are paired
/// in the order of the tables. Rows that are left over stand alone.
pub fn pair_rows(before: &Table, after: &Table) -> Vec<Pair> {
    let groups = namesakes(before, after);
    let has_positions = |table: &Table| table.columns().any(|column| role(column) == Role::Position);
    let aligned = has_positions(before) && has_positions(after);
    let (places_before, places_after) = (places(before), places(after));
    let mut pairs = Vec::new();
    for group in groups {
        let matches = match aligned {
            true => align(
                &group
                    .before
                    .iter()
                    .map(|&row| places_before[row])
                    .collect::<Vec<_>>(),
                &group
                    .after
                    .iter()
                    .map(|&row| places_after[row])
                    .collect::<Vec<_>>(),
            ),
            false => (0..group.before.len().min(group.after.len()))
                .map(|index| (index, index))
                .collect(),
        };
        push_pairs(&mut pairs, &group, &matches);
    }
    pairs
}

fn push_pairs(pairs: &mut Vec<Pair>, group: &Namesakes, matches: &[(usize, usize)]) {
    let mut is_matched = (vec![false; group.before.len()], vec![false; group.after.len()]);
    for &(before, after) in matches {
        is_matched.0[before] = true;
        is_matched.1[after] = true;
        pairs.push(Pair {
            before: Some(group.before[before]),
            after: Some(group.after[after]),
        });
    }
    let left = |rows: &[usize], is_matched: &[bool]| -> Vec<usize> {
        let rows = rows.iter().zip(is_matched);
        rows.filter(|(_, matched)| !**matched)
            .map(|(row, _)| *row)
            .collect()
    };
    pairs.extend(left(&group.before, &is_matched.0).into_iter().map(|row| Pair {
        before: Some(row),
        after: None,
    }));
    pairs.extend(left(&group.after, &is_matched.1).into_iter().map(|row| Pair {
        before: None,
        after: Some(row),
    }));
}

/// Rows of both tables by the names that both have; in the order in which the names come up.
fn namesakes(before: &Table, after: &Table) -> Vec<Namesakes> {
    let columns = common(before, after, Role::Name);
    let mut positions = HashMap::new();
    let mut groups: Vec<Namesakes> = Vec::new();
    let mut group_of = |names: Vec<String>| {
        *positions.entry(names).or_insert_with(|| {
            groups.push(Namesakes::default());
            groups.len() - 1
        })
    };
    let of_before: Vec<usize> = (0..before.row_count())
        .map(|row| group_of(columns.iter().map(|(column, _)| name(*column, row)).collect()))
        .collect();
    let of_after: Vec<usize> = (0..after.row_count())
        .map(|row| group_of(columns.iter().map(|(_, column)| name(*column, row)).collect()))
        .collect();
    of_before
        .iter()
        .enumerate()
        .for_each(|(row, &group)| groups[group].before.push(row));
    of_after
        .iter()
        .enumerate()
        .for_each(|(row, &group)| groups[group].after.push(row));
    groups
}

fn name(column: Column, row: usize) -> String {
    match column.value(row) {
        Value::None => String::new(),
        Value::Text(text) => text.to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
    }
}

fn places(table: &Table) -> Vec<Place<'_>> {
    let number = |name: &str, row| table.integer(name, row).unwrap_or(0);
    let source = table.columns().find(|column| role(*column) == Role::SourceText);
    let text = |row| match source.map(|column| column.value(row)) {
        Some(Value::Text(text)) if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    };
    (0..table.row_count())
        .map(|row| Place {
            line: number("line", row),
            column: number("column", row),
            text: text(row),
        })
        .collect()
}
