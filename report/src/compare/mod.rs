//! Two reports side by side: which rows of their tables belong together, and how their numbers changed.
//!
//! It doesn't depend on what the tables are about. Columns of names, paths and identifying numbers say which rows
//! belong together; columns of counts, bytes, shares and rates are compared.

mod changes;
mod columns;
mod lines;
mod noise;
mod number;
mod pairs;
mod records;

use crate::{grouped, Layout, Report, Table};
use changes::Changes;
use columns::measures;
use noise::Noise;
use number::Number;
pub use records::SHARES;

/// What a comparison shows.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Columns to compare; if empty, those by which tables are ranked or, where that is none, all counts.
    pub measures: Vec<String>,
    /// Rows per table.
    pub top: usize,
}

/// What changed between two reports.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The most important change in a sentence.
    pub answer: String,
    /// What could not be compared, or not fully.
    pub notes: Vec<String>,
    /// Rows that changed, the largest change first. Tables in which nothing changed are there, without rows.
    pub tables: Vec<Table>,
}

/// Compares the tables that both reports have. `again`: reports on further runs of what `before` is of; how far they differ
/// from it is noise.
pub fn compare(before: &Report, after: &Report, again: &[Report], selection: &Selection) -> Comparison {
    let mut comparison = Comparison {
        answer: "The reports have no table in common".into(),
        notes: missing_tables(before, after),
        tables: Vec::new(),
    };
    let mut is_first = true;
    let mut records = Vec::new();
    for (before, after) in common_tables(before, after) {
        if after.layout() == Layout::Record || before.layout() == Layout::Record {
            comparison.notes.extend(records::changed_texts(before, after));
            records.extend(records::tables(before, after));
            continue;
        }
        let pairs = pairs::pair_rows(before, after);
        comparison.notes.extend(cut_note(before, after));
        for measure in measures(before, after, &selection.measures) {
            let noise = Noise::new(before, again, &measure);
            let changes = Changes::new(before, after, &pairs, &measure, &noise);
            if is_first {
                comparison.answer = answer(&changes, &noise);
                is_first = false;
            }
            comparison.tables.push(changes.table(selection.top));
        }
    }
    comparison
        .notes
        .extend(unknown_measures(before, after, selection));
    comparison.tables.extend(records);
    comparison
}

fn common_tables<'r>(before: &'r Report, after: &'r Report) -> impl Iterator<Item = (&'r Table, &'r Table)> {
    let named = |name: &str| before.tables.iter().find(move |table| table.name() == name);
    after
        .tables
        .iter()
        .filter_map(move |after| Some((named(after.name())?, after)))
}

fn missing_tables(before: &Report, after: &Report) -> Vec<String> {
    let only = |one: &Report, other: &Report, which: &str| {
        let has = |name: &str| other.tables.iter().any(|table| table.name() == name);
        let missing = one.tables.iter().map(Table::name).filter(|name| !has(name));
        let missing = missing.collect::<Vec<_>>().join(", ");
        (!missing.is_empty()).then(|| format!("only the report {which} has: {missing}"))
    };
    [only(before, after, "before"), only(after, before, "after")]
        .into_iter()
        .flatten()
        .collect()
}

fn cut_note(before: &Table, after: &Table) -> Option<String> {
    let cut = |table: &Table| table.row_count() < table.total_rows();
    (cut(before) || cut(after)).then(|| {
        format!(
            "{} holds the top rows only ({} of {} before, {} of {} after): what only one side shows may be on the \
             other, too; save reports with --top 0",
            after.name(),
            before.row_count(),
            before.total_rows(),
            after.row_count(),
            after.total_rows(),
        )
    })
}

fn unknown_measures(before: &Report, after: &Report, selection: &Selection) -> Vec<String> {
    let known = |name: &String| {
        common_tables(before, after)
            .any(|(before, after)| !measures(before, after, std::slice::from_ref(name)).is_empty())
    };
    let unknown = selection.measures.iter().filter(|name| !known(name));
    unknown
        .map(|name| format!("no table that both reports have has a number {name}"))
        .collect()
}

/// A sentence such as "L2 misses: 39,240,000 before, 12,100,000 after (x0.308); the largest change is arc.ident,
/// -29,300,000". With further runs it also says whether the total changed by more than they differ.
fn answer(changes: &Changes, noise: &Noise) -> String {
    let title = changes.measure_title();
    let Some(largest) = changes.largest() else {
        return format!("{title}: no row changed");
    };
    let total = match changes.totals() {
        Some((before, after)) => format!(
            "{title}: {} before, {} after{}{}",
            grouped(before),
            grouped(after),
            Number::Integer(after)
                .ratio_to(Number::Integer(before))
                .map(|ratio| format!(" ({})", crate::ratio(ratio)))
                .unwrap_or_default(),
            against_noise(before.abs_diff(after), noise),
        ),
        None => title.to_owned(),
    };
    format!("{total}; the largest change is {largest}")
}

/// Such as ", within the noise of 1,200".
fn against_noise(change: u64, noise: &Noise) -> String {
    if !noise.is_known() {
        return String::new();
    }
    let size = noise.of_total() as u64;
    match change <= size {
        true => format!(", within the noise of {}", grouped(size)),
        false => format!(", more than the noise of {}", grouped(size)),
    }
}

#[cfg(test)]
mod tests;
