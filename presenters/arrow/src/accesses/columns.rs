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
    Level,
    Cycles,
}

/// Columns that caches and a machine are simulated for. They come last, and are only built where they are named.
fn served() -> [(AccessColumn, Field); 2] {
    [
        (
            AccessColumn::Level,
            described(
                "level",
                DataType::UInt8,
                false,
                "",
                "level of the simulated caches that served it: 1 for L1; one more than there are caches for memory",
            ),
        ),
        (
            AccessColumn::Cycles,
            described(
                "cycles",
                DataType::Float32,
                false,
                "cycles",
                "estimated cycles by which the program ends later because of it, as of report --time",
            ),
        ),
    ]
}

fn own() -> [(AccessColumn, Field); 10] {
    use AccessColumn::*;
    let of =
        |column, name, data_type, unit, meaning| (column, described(name, data_type, false, unit, meaning));
    let narrow = |column, name, meaning| of(column, name, DataType::UInt32, "", meaning);
    let wide = |column, name, unit, meaning| of(column, name, DataType::UInt64, unit, meaning);
    [
        narrow(Process, "process", "number of the process in the trace"),
        narrow(Thread, "thread", "number of the thread's stream in the trace"),
        wide(
            Chunk,
            "chunk",
            "",
            "number of the chunk in its stream; thread, chunk, position is program order",
        ),
        wide(
            Position,
            "position",
            "",
            "number of the access in its chunk, from 0",
        ),
        wide(
            Sequence,
            "sequence",
            "",
            "number of the access in its stream, from 0; the first query for it reads the trace once more",
        ),
        wide(
            TimeNs,
            "time_ns",
            "ns",
            "CLOCK_MONOTONIC, estimated: evenly spread between the two times of the access's chunk",
        ),
        narrow(Site, "site", "the instruction: sites.site"),
        wide(Address, "address", "", "where memory was accessed"),
        wide(Size, "size", "bytes", "how much was accessed"),
        of(
            Uncertain,
            "uncertain",
            DataType::Boolean,
            "",
            "about to happen when the thread was stopped; it may not have happened",
        ),
    ]
}

/// All columns in their order.
pub fn all() -> Vec<(AccessColumn, Field)> {
    recorded().into_iter().chain(served()).collect()
}

/// Those that follow from the trace alone.
fn recorded() -> Vec<(AccessColumn, Field)> {
    let of_sites = sites::columns();
    let last = of_sites
        .iter()
        .position(|column| column.name == sites::LAST_OF_ACCESSES);
    let of_sites = of_sites
        .into_iter()
        .take(last.map_or(0, |last| last + 1))
        .enumerate()
        .skip(1);
    own()
        .into_iter()
        .chain(of_sites.map(|(index, column)| (AccessColumn::OfSite(index), keyed(column.field()))))
        .collect()
}

pub fn schema() -> SchemaRef {
    schema_of(recorded())
}

/// With the columns that are simulated.
pub fn schema_with_served() -> SchemaRef {
    schema_of(all())
}

fn schema_of(columns: Vec<(AccessColumn, Field)>) -> SchemaRef {
    let fields = columns.into_iter().map(|(_, field)| field);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
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
