//! Reading a part of a table.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use trackway_trace::{Trace, TraceError};

use crate::accesses::{AccessScan, CountScan};
use crate::allocations::AllocationScan;
use crate::cells::{batch, Column};
use crate::{
    functions, regions, samples, sites, threads, types, Partition, Relation, Selection, TraceTables,
};

/// About so many rows are in a batch.
pub const BATCH_ROWS: usize = 1 << 16;

/// The wanted rows of a part of a table, batch by batch. After an error, which names what could not be read, it goes on
/// after that.
pub struct Scan {
    schema: SchemaRef,
    batches: Batches,
}

enum Batches {
    Accesses(Box<AccessScan>),
    Counts(Box<CountScan>),
    Allocations(Box<AllocationScan>),
    /// What could not be read, and the only batch.
    Whole(VecDeque<TraceError>, Option<RecordBatch>),
}

impl Scan {
    /// Reads a trace for nothing else; see [`TraceTables::scan`].
    pub fn new(trace: Trace, relation: Relation, partition: Partition, selection: Selection) -> Scan {
        Arc::new(TraceTables::new(trace)).scan(relation, partition, selection)
    }

    /// Schema of the wanted columns.
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
            Batches::Allocations(allocations) => allocations.next(),
            Batches::Whole(damage, batch) => {
                let damage = damage.pop_front().map(Err);
                damage.or_else(|| batch.take().map(Ok))
            }
        }
    }
}

impl TraceTables {
    /// Reads a part of a table. Except for small tables, nothing is read before the first batch is asked for.
    pub fn scan(self: &Arc<Self>, relation: Relation, partition: Partition, selection: Selection) -> Scan {
        let schema = relation.schema_with_served();
        let mut selection = selection;
        let chosen = selection.chosen(relation.schema().fields().len());
        selection.columns = Some(chosen.clone());
        let fields: Vec<_> = chosen.iter().map(|index| schema.field(*index).clone()).collect();
        Scan {
            schema: Arc::new(Schema::new(fields)),
            batches: batches(self, relation, &partition, selection),
        }
    }
}

fn batches(
    tables: &Arc<TraceTables>,
    relation: Relation,
    partition: &Partition,
    selection: Selection,
) -> Batches {
    let (trace, tables) = (tables.trace(), tables.clone());
    let batch = match relation {
        Relation::Accesses => {
            return Batches::Accesses(Box::new(AccessScan::new(tables, partition, selection)));
        }
        Relation::SiteCounts => {
            return Batches::Counts(Box::new(CountScan::new(tables, partition, selection)));
        }
        Relation::Allocations => {
            return Batches::Allocations(Box::new(AllocationScan::new(tables, selection)))
        }
        Relation::Samples => {
            return samples::with_rows(trace, &selection, |rows, damage| {
                Batches::Whole(damage.into(), Some(all(&samples::columns(), &selection, rows)))
            });
        }
        Relation::Sites => sites::with_rows(trace, |rows| {
            let wanted = |row: &sites::SiteRow| selection.keeps_site(Some(row.number()));
            limited(&sites::columns(), &selection, rows, wanted)
        }),
        Relation::Functions => {
            functions::with_rows(trace, |rows| all(&functions::columns(), &selection, rows))
        }
        Relation::Threads => all(&threads::columns(), &selection, &threads::rows(trace, &selection)),
        Relation::Types => all(&types::columns(), &selection, &types::rows(trace)),
        Relation::Fields => all(&types::field_columns(), &selection, &types::field_rows(trace)),
        Relation::Regions => {
            let chosen = selection.chosen(regions::schema().fields().len());
            regions::batch(trace, &chosen, selection.most_rows())
        }
    };
    Batches::Whole(VecDeque::new(), Some(batch))
}

fn all<R: Clone>(columns: &[Column<R>], selection: &Selection, rows: &[R]) -> RecordBatch {
    limited(columns, selection, rows, |_| true)
}

/// The chosen columns of the first rows that are wanted.
fn limited<R: Clone>(
    columns: &[Column<R>],
    selection: &Selection,
    rows: &[R],
    wanted: impl Fn(&R) -> bool,
) -> RecordBatch {
    let rows: Vec<R> = rows
        .iter()
        .filter(|row| wanted(row))
        .take(selection.most_rows())
        .cloned()
        .collect();
    batch(columns, &selection.chosen(columns.len()), &rows)
}
