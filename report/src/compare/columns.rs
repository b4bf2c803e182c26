//! What the columns of a table are for.

use crate::{Column, Table, Unit};

/// What a column does for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Says which thing a row is about.
    Name,
    /// Where in the source it stands; edits elsewhere in the file move it.
    Position,
    /// The text that stands there.
    SourceText,
    /// It is new for each build or run, or describes how the row was measured.
    Serial,
    /// What is compared.
    Measure,
}

pub fn role(column: Column) -> Role {
    match column.unit() {
        Unit::Text if matches!(column.name(), "rate_by" | "confidence" | "data_type" | "span") => {
            Role::Serial
        }
        Unit::Text | Unit::Path => Role::Name,
        Unit::Source => Role::SourceText,
        Unit::Number => match column.name() {
            "line" | "column" => Role::Position,
            "site" | "block" | "thread" | "inlined" => Role::Serial,
            _ => Role::Name,
        },
        Unit::Count | Unit::Bytes | Unit::Share | Unit::Rate | Unit::Change | Unit::Ratio => Role::Measure,
    }
}

/// The columns of that role which both tables have, each of them in both.
pub fn common<'t>(before: &'t Table, after: &'t Table, wanted: Role) -> Vec<(Column<'t>, Column<'t>)> {
    let of_role = after.columns().filter(|column| role(*column) == wanted);
    of_role
        .filter_map(|after| {
            let before = before.column(after.name())?;
            (role(before) == wanted).then_some((before, after))
        })
        .collect()
}

/// Names of the columns to compare: the chosen ones that both tables have or, if none are chosen, the one by which the
/// tables are ranked, else all counts.
pub fn measures(before: &Table, after: &Table, chosen: &[String]) -> Vec<String> {
    let common = common(before, after, Role::Measure);
    let names = |fits: &dyn Fn(Column) -> bool| -> Vec<String> {
        let fitting = common.iter().filter(|(_, column)| fits(*column));
        fitting.map(|(_, column)| column.name().to_owned()).collect()
    };
    if !chosen.is_empty() {
        return names(&|column| chosen.iter().any(|name| name == column.name()));
    }
    let ranked = names(&|column| after.ranked_by() == Some(column.name()));
    match ranked.is_empty() {
        true => names(&|column| matches!(column.unit(), Unit::Count | Unit::Bytes)),
        false => ranked,
    }
}
