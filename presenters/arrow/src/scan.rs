//! Reading a part of a table.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use trackway_trace::{Trace, TraceError};

use crate::accesses::{AccessScan, CountScan};
use crate::cells::{batch, Column};
use crate::{functions, sites, threads, Partition, Relation, Selection, TraceTables};

/// Rows of a batch, about.
pub const BATCH_ROWS: usize = 1 << 16;

/// The wanted rows of a part of a table, batch by batch. After an error, which names what could not be read, it goes on
/// behind that.
pub struct Scan {
    schema: SchemaRef,
    batches: Batches,
}

enum Batches {
    Accesses(Box<AccessScan>),
    Counts(Box<CountScan>),
    Whole(Option<RecordBatch>),
}

impl Scan {
    /// Reads a trace for nothing else; see [`TraceTables::scan`].
    pub fn new(trace: Trace, relation: Relation, partition: Partition, selection: Selection) -> Scan {
        Arc::new(TraceTables::new(trace)).scan(relation, partition, selection)
    }

    /// Of the columns that are wanted.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The same with about so many rows in a batch instead of [`BATCH_ROWS`].
    pub fn with_batch_rows(mut self, rows: usize) -> Scan {
        if let Batches::Accesses(accesses) = &mut self.batches {
            accesses.batch_rows = rows.max(1);
        }
        self
    }
}

impl Iterator for Scan {
    type Item = Result<RecordBatch, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.batches {
            Batches::Accesses(accesses) => accesses.next(),
            Batches::Counts(counts) => counts.next(),
            Batches::Whole(batch) => batch.take().map(Ok),
        }
    }
}

impl TraceTables {
    /// Reads a part of a table. Nothing is read before the first batch is asked for, but of small tables.
    pub fn scan(self: &Arc<Self>, relation: Relation, partition: Partition, selection: Selection) -> Scan {
        let trace = self.trace();
        let whole = match relation {
            Relation::Accesses => {
                let accesses = AccessScan::new(self.clone(), &partition, selection);
                return Scan {
                    schema: accesses.schema(),
                    batches: Batches::Accesses(Box::new(accesses)),
                };
            }
            Relation::SiteCounts => {
                let counts = CountScan::new(self.clone(), &partition, selection);
                return Scan {
                    schema: counts.schema(),
                    batches: Batches::Counts(Box::new(counts)),
                };
            }
            Relation::Sites => sites::with_rows(trace, |rows| {
                let wanted = |row: &sites::SiteRow| selection.keeps_site(Some(row.number()));
                limited(&sites::columns(), &selection, rows, wanted)
            }),
            Relation::Functions => functions::with_rows(trace, |rows| {
                limited(&functions::columns(), &selection, rows, |_| true)
            }),
            Relation::Threads => {
                let rows = threads::rows(trace, &selection);
                limited(&threads::columns(), &selection, &rows, |_| true)
            }
        };
        Scan {
            schema: whole.schema(),
            batches: Batches::Whole(Some(whole)),
        }
    }
}

/// The chosen columns of the first rows that are wanted.
fn limited<R: Clone>(
    columns: &[Column<R>],
    selection: &Selection,
    rows: &[R],
    wanted: impl Fn(&R) -> bool,
) -> RecordBatch {
    let limit = selection
        .limit
        .map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let rows: Vec<R> = rows
        .iter()
        .filter(|row| wanted(row))
        .take(limit)
        .cloned()
        .collect();
    batch(columns, &selection.chosen(columns.len()), &rows)
}
