//! Reads what allocators did, batch by batch.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use self_cell::self_cell;
use trackway_trace::TraceError;

use super::calls::Calls;
use super::recorded::{of_chunk, sites, Sites};
use super::rows::{columns, AllocationRow};
use crate::cells::{batch, Column};
use crate::{Selection, TraceTables, BATCH_ROWS};

self_cell! {
    struct ReadCalls {
        owner: Arc<TraceTables>,
        #[not_covariant]
        dependent: Calls,
    }
}

/// First what the program recorded, stream by stream; then the calls in the order of time.
pub struct AllocationScan {
    tables: Arc<TraceTables>,
    sites: Sites,
    /// Stream and index in it of the chunks that are still to be read.
    chunks: VecDeque<(u32, usize)>,
    calls: Option<ReadCalls>,
    columns: Vec<Column<AllocationRow>>,
    chosen: Vec<usize>,
    selection: Selection,
    left: usize,
    rows: Vec<AllocationRow>,
    damage: VecDeque<TraceError>,
}

impl AllocationScan {
    pub fn new(tables: Arc<TraceTables>, selection: Selection) -> Self {
        let columns = columns();
        // A program that records no allocation needn't be decoded for any.
        let has_sites = !tables.trace().program().allocation_sites.is_empty();
        let streams = tables.trace().streams().iter().filter(|_| has_sites);
        let wanted = streams.filter(|stream| selection.keeps_thread(Some(stream.id)));
        let chunks = wanted.flat_map(|stream| (0..stream.chunks.len()).map(|index| (stream.id, index)));
        AllocationScan {
            chunks: chunks.collect(),
            sites: sites(tables.trace()),
            chosen: selection.chosen(columns.len()),
            columns,
            left: selection.most_rows(),
            selection,
            rows: Vec::new(),
            damage: VecDeque::new(),
            calls: None,
            tables,
        }
    }

    pub fn next(&mut self) -> Option<Result<RecordBatch, TraceError>> {
        while self.rows.len() < BATCH_ROWS.min(self.left) && self.step() {}
        if let Some(error) = self.damage.pop_front() {
            return Some(Err(error));
        }
        let count = self.rows.len().min(self.left);
        if count == 0 {
            return None;
        }
        let rest = self.rows.split_off(count);
        let rows = std::mem::replace(&mut self.rows, rest);
        self.left -= count;
        Some(Ok(batch(&self.columns, &self.chosen, &rows)))
    }

    /// Reads a chunk or a call; false at the end.
    fn step(&mut self) -> bool {
        if let Some(chunk) = self.chunks.pop_front() {
            let before = self.rows.len();
            if let Err(error) = of_chunk(&self.tables, &self.sites, chunk, &mut self.rows) {
                self.damage.push_back(error);
            }
            let new = self.rows.split_off(before);
            self.rows
                .extend(new.into_iter().filter(|row| row.is_wanted(&self.selection)));
            return true;
        }
        let tables = &self.tables;
        let damage = &mut self.damage;
        let calls = self
            .calls
            .get_or_insert_with(|| ReadCalls::new(tables.clone(), |tables| Calls::new(tables.trace())));
        let row = calls.with_dependent_mut(|_, calls| {
            damage.extend(calls.damage.drain(..));
            calls.next_row()
        });
        match row {
            Ok(Some(row)) => {
                if row.is_wanted(&self.selection) {
                    self.rows.push(row);
                }
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.damage.push_back(error);
                true
            }
        }
    }
}
