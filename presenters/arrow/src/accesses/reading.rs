//! Decodes the chunks of a part of the table into batches of rows.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use trackway_analysis::served::ServedChunk;
use trackway_trace::{Decoder, TraceError};

use super::current::{begin, queue, Decoding};

use super::columns::{self, AccessColumn};
use super::rows::{Place, Rows};
use super::wanted::Wanted;
use crate::{Partition, Selection, TraceTables, BATCH_ROWS};

/// The wanted accesses of a part of the table.
pub struct AccessScan {
    decoding: Decoding,
    /// Stream and index in it of the chunks that are still to be read.
    chunks: VecDeque<(u32, usize)>,
    chunk: Option<CurrentChunk>,
    wanted: Wanted,
    /// Rows that are still wanted.
    left: u64,
    columns: Vec<AccessColumn>,
    schema: SchemaRef,
    rows: Rows,
    /// Damage to report after the rows before it.
    damage: Option<TraceError>,
    pub batch_rows: usize,
}

/// The chunk that is being decoded.
struct CurrentChunk {
    place: Place,
    /// Positions of the wanted accesses.
    positions: Range<u64>,
}

impl AccessScan {
    pub fn new(tables: Arc<TraceTables>, partition: &Partition, selection: Selection) -> Self {
        let all = columns::all();
        let chosen = selection.chosen(all.len());
        let (columns, fields): (Vec<_>, Vec<_>) = chosen.iter().map(|index| all[*index].clone()).unzip();
        AccessScan {
            chunks: queue(partition, &selection),
            chunk: None,
            left: selection.limit.unwrap_or(u64::MAX),
            wanted: Wanted::new(selection, tables.trace().program().sites.len()),
            rows: Rows::new(&columns),
            columns,
            schema: Arc::new(Schema::new(fields)),
            damage: None,
            batch_rows: BATCH_ROWS,
            decoding: Decoding::accesses(tables),
        }
    }

    /// The next batch. An error comes after all rows before what is damaged.
    pub fn next(&mut self) -> Option<Result<RecordBatch, TraceError>> {
        while self.rows.len() < self.batch_rows && self.left > 0 && self.damage.is_none() {
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.damage = Some(error),
            }
        }
        if self.rows.len() > 0 {
            let tables = self.decoding.borrow_owner();
            return Some(Ok(self.rows.take(
                tables,
                &self.schema,
                &self.columns,
                self.batch_rows,
            )));
        }
        self.damage.take().map(Err)
    }

    /// Appends rows, or goes on to the next chunk; false at the end.
    fn step(&mut self) -> Result<bool, TraceError> {
        let Some(chunk) = &mut self.chunk else {
            return self.begin_chunk();
        };
        let (wanted, rows, left) = (&mut self.wanted, &mut self.rows, &mut self.left);
        let goes_on = self.decoding.with_dependent_mut(|_, decoder| {
            let Some(batch) = decoder.next_batch()? else {
                return Ok(false);
            };
            let before = chunk.place.before;
            let index = |position: u64| position.saturating_sub(before).min(batch.len() as u64) as usize;
            let range = index(chunk.positions.start)..index(chunk.positions.end);
            let limit = usize::try_from(*left).unwrap_or(usize::MAX);
            if !range.is_empty() {
                let chosen = wanted.choose(batch, range, limit);
                rows.push(batch, &chosen, &chunk.place);
                *left -= chosen.len() as u64;
            }
            chunk.place.before += batch.len() as u64;
            Ok(chunk.place.before < chunk.positions.end)
        });
        if !matches!(goes_on, Ok(true)) {
            self.chunk = None;
        }
        goes_on.map(|_| true)
    }

    /// What served a chunk's accesses, if that column is wanted.
    fn served(
        &self,
        tables: &TraceTables,
        column: AccessColumn,
        chunk: (u32, u64),
    ) -> Option<Arc<ServedChunk>> {
        let is_wanted = self.columns.contains(&column);
        is_wanted.then(|| tables.served(column, chunk))
    }

    fn begin_chunk(&mut self) -> Result<bool, TraceError> {
        let Some((id, index)) = self.chunks.pop_front() else {
            return Ok(false);
        };
        let tables = self.decoding.borrow_owner().clone();
        let Some((stream, chunk)) = begin(&mut self.decoding, &tables, id, index)? else {
            return Ok(true);
        };
        let sequence = chunk.header.sequence;
        let mut span = tables.span(id, sequence);
        let divides = self.wanted.divides(&span);
        if divides || self.columns.contains(&AccessColumn::TimeNs) {
            let mut counter = Decoder::new(tables.trace()).with_runs();
            span = tables.counted_span(&mut counter, stream, index);
        }
        let before_chunk = match self.columns.contains(&AccessColumn::Sequence) {
            true => tables.accesses_before(id, sequence),
            false => 0,
        };
        self.decoding
            .with_dependent_mut(|_, decoder| decoder.begin(chunk))?;
        self.chunk = Some(CurrentChunk {
            place: Place {
                span,
                before: 0,
                before_chunk,
                levels: self.served(&tables, AccessColumn::Level, (id, sequence)),
                cycles: self.served(&tables, AccessColumn::Cycles, (id, sequence)),
            },
            positions: match divides {
                true => self.wanted.positions(&span),
                false => 0..u64::MAX,
            },
        });
        Ok(true)
    }
}
