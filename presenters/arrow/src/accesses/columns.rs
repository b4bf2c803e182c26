//! The columns of accesses: their own, and those that follow from the site.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::cells::described;
use crate::sites;

/// Columns of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessColumn {
    Process,
    Thread,
    Chunk,
    Position,
    Sequence,
    TimeNs,
    Site,
    Address,
    Size,
    Uncertain,
    /// The column of that index in the table of sites.
    OfSite(usize),
}

const OWN: [(AccessColumn, &str, DataType, &str, &str); 10] = [
    (
        AccessColumn::Process,
        "process",
        DataType::UInt32,
        "",
        "number of the process in the trace",
    ),
    (
        AccessColumn::Thread,
        "thread",
        DataType::UInt32,
        "",
        "number of the thread's stream in the trace",
    ),
    (
        AccessColumn::Chunk,
        "chunk",
        DataType::UInt64,
        "",
        "number of the chunk in its stream; thread, chunk, position is program order",
    ),
    (
        AccessColumn::Position,
        "position",
        DataType::UInt64,
        "",
        "number of the access in its chunk, from 0",
    ),
    (
        AccessColumn::Sequence,
        "sequence",
        DataType::UInt64,
        "",
        "number of the access in its stream, from 0; the first query for it reads the trace once more",
    ),
    (
        AccessColumn::TimeNs,
        "time_ns",
        DataType::UInt64,
        "ns",
        "CLOCK_MONOTONIC, estimated: evenly spread between the two times of the access's chunk",
    ),
    (
        AccessColumn::Site,
        "site",
        DataType::UInt32,
        "",
        "the instruction: sites.site",
    ),
    (
        AccessColumn::Address,
        "address",
        DataType::UInt64,
        "",
        "where memory was accessed",
    ),
    (
        AccessColumn::Size,
        "size",
        DataType::UInt64,
        "bytes",
        "how much was accessed",
    ),
    (
        AccessColumn::Uncertain,
        "uncertain",
        DataType::Boolean,
        "",
        "about to happen when the thread was stopped; it may not have happened",
    ),
];

/// All columns in their order.
pub fn all() -> Vec<(AccessColumn, Field)> {
    let own = OWN.into_iter();
    let own = own.map(|(column, name, data_type, unit, meaning)| {
        (column, described(name, data_type, false, unit, meaning))
    });
    let of_sites = sites::columns();
    let last = of_sites
        .iter()
        .position(|column| column.name == sites::LAST_OF_ACCESSES);
    let of_sites = of_sites
        .into_iter()
        .take(last.map_or(0, |last| last + 1))
        .enumerate()
        .skip(1);
    own.chain(of_sites.map(|(index, column)| (AccessColumn::OfSite(index), keyed(column.field()))))
        .collect()
}

pub fn schema() -> SchemaRef {
    Arc::new(Schema::new(
        all().into_iter().map(|(_, field)| field).collect::<Vec<_>>(),
    ))
}

/// Whether there is a column of that name that follows from the site.
pub fn is_of_sites(name: &str) -> bool {
    let mut all = all().into_iter();
    all.any(|(column, field)| {
        matches!(column, AccessColumn::Site | AccessColumn::OfSite(_)) && field.name() == name
    })
}

/// Columns of the counts of a site's accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountColumn {
    Process,
    Thread,
    Site,
    OfSite(usize),
    Accesses,
    Bytes,
    Lowest,
    Highest,
}

/// All columns of the counts of sites: the accesses that a row stands for, and their totals.
pub fn all_of_counts() -> Vec<(CountColumn, Field)> {
    let keys = all().into_iter().filter_map(|(column, field)| {
        let key = match column {
            AccessColumn::Process => CountColumn::Process,
            AccessColumn::Thread => CountColumn::Thread,
            AccessColumn::Site => CountColumn::Site,
            AccessColumn::OfSite(index) => CountColumn::OfSite(index),
            _ => return None,
        };
        Some((key, field))
    });
    let sum = |column, name, unit, meaning| (column, described(name, DataType::UInt64, false, unit, meaning));
    let sums = [
        sum(CountColumn::Accesses, "accesses", "count", "number of accesses"),
        sum(CountColumn::Bytes, "bytes", "bytes", "sum of their sizes"),
        sum(
            CountColumn::Lowest,
            "lowest_address",
            "",
            "lowest of their addresses",
        ),
        sum(
            CountColumn::Highest,
            "highest_address",
            "",
            "highest of their addresses",
        ),
    ];
    keys.chain(sums).collect()
}

pub fn counts_schema() -> SchemaRef {
    let fields = all_of_counts().into_iter().map(|(_, field)| field);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Texts stand once for all accesses of a site.
fn keyed(field: Field) -> Field {
    match field.data_type() {
        DataType::Utf8 => {
            let keyed = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
            field.with_data_type(keyed)
        }
        _ => field,
    }
}
