//! The counts of sites in a part of the accesses.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{Schema, SchemaRef};
use trackway_trace::{Decoder, TraceError};

use super::columns::{self, CountColumn};
use super::current::{begin, queue, Decoding};
use super::rows::of_sites;
use super::tally::Tally;
use super::wanted::Wanted;
use crate::cells::record_batch;
use crate::{Partition, Selection, TraceTables};

/// Counts thread by thread: a batch for each.
pub struct CountScan {
    decoding: Decoding,
    chunks: VecDeque<(u32, usize)>,
    selection: Selection,
    wanted: Wanted,
    columns: Vec<CountColumn>,
    schema: SchemaRef,
    /// Process and thread of what has been counted.
    counted: Option<(u32, u32)>,
    tally: Tally,
    damage: VecDeque<TraceError>,
}

impl CountScan {
    pub fn new(tables: Arc<TraceTables>, partition: &Partition, selection: Selection) -> Self {
        let all = columns::all_of_counts();
        let chosen = selection.chosen(all.len());
        let (columns, fields): (Vec<_>, Vec<_>) = chosen.iter().map(|index| all[*index].clone()).unzip();
        let sites = tables.trace().program().sites.len();
        // Unwanted sites are left out of what was counted.
        let of_rows = Selection {
            sites: None,
            ..selection.clone()
        };
        let whole_runs = selection.has_every_time() && selection.has_every_address();
        CountScan {
            chunks: queue(partition, &selection),
            wanted: Wanted::new(of_rows, sites),
            selection,
            tally: Tally::new(sites, &columns),
            columns,
            schema: Arc::new(Schema::new(fields)),
            counted: None,
            damage: VecDeque::new(),
            decoding: match whole_runs {
                true => Decoding::runs(tables),
                false => Decoding::accesses(tables),
            },
        }
    }

    /// The counts of the next thread. Damage of its chunks is reported before them.
    pub fn next(&mut self) -> Option<Result<RecordBatch, TraceError>> {
        while let Some(&(stream, index)) = self.chunks.front() {
            if self.counted.is_some_and(|(_, thread)| thread != stream) {
                break;
            }
            self.chunks.pop_front();
            if let Err(error) = self.count_chunk(stream, index) {
                self.damage.push_back(error);
            }
        }
        if let Some(error) = self.damage.pop_front() {
            return Some(Err(error));
        }
        let (process, thread) = self.counted.take()?;
        Some(Ok(self.batch(process, thread)))
    }

    fn count_chunk(&mut self, id: u32, index: usize) -> Result<(), TraceError> {
        let tables = self.decoding.borrow_owner().clone();
        let Some((stream, chunk)) = begin(&mut self.decoding, &tables, id, index)? else {
            return Ok(());
        };
        self.counted = Some((chunk.header.process, id));
        let mut span = tables.span(id, chunk.header.sequence);
        let divides = self.wanted.divides(&span);
        let mut positions = 0..u64::MAX;
        if divides {
            let mut counter = Decoder::new(tables.trace()).with_runs();
            span = tables.counted_span(&mut counter, stream, index);
            positions = self.wanted.positions(&span);
        }
        let (wanted, tally) = (&mut self.wanted, &mut self.tally);
        let takes_all = wanted.takes_all() && !divides;
        self.decoding.with_dependent_mut(|_, decoder| {
            let mut before = 0;
            while let Some(batch) = decoder.next_batch()? {
                if takes_all {
                    tally.add_batch(batch);
                    continue;
                }
                let length = batch.len() as u64;
                let place = |position: u64| position.saturating_sub(before).min(length) as usize;
                let range = place(positions.start)..place(positions.end);
                if !range.is_empty() {
                    tally.add_chosen(batch, &wanted.choose(batch, range, usize::MAX));
                }
                before += length;
            }
            Ok(())
        })
    }

    /// The counts of a thread; counting begins anew.
    fn batch(&mut self, process: u32, thread: u32) -> RecordBatch {
        let tables = self.decoding.borrow_owner();
        let sites = tables.trace().program().sites.len();
        let tally = std::mem::replace(&mut self.tally, Tally::new(sites, &self.columns));
        let is_wanted =
            |site: &u32| tally.accesses[*site as usize] > 0 && self.selection.keeps_site(Some(*site));
        let sites: Vec<u32> = (0..sites as u32).filter(is_wanted).collect();
        let sites = ScalarBuffer::from(sites);
        let all = |number: u32| Arc::new(UInt32Array::from(vec![number; sites.len()])) as ArrayRef;
        let of = |numbers: &[u64]| {
            let numbers = sites.iter().map(|site| numbers[*site as usize]);
            Arc::new(UInt64Array::from_iter_values(numbers)) as ArrayRef
        };
        let array = |column: &CountColumn| match column {
            CountColumn::Process => all(process),
            CountColumn::Thread => all(thread),
            CountColumn::Site => Arc::new(UInt32Array::new(sites.clone(), None)),
            CountColumn::OfSite(index) => of_sites(tables.site_column(*index), &sites),
            CountColumn::Accesses => of(&tally.accesses),
            CountColumn::Bytes => of(&tally.bytes),
            CountColumn::Lowest => of(&tally.lowest),
            CountColumn::Highest => of(&tally.highest),
        };
        let arrays = self.columns.iter().map(array).collect();
        record_batch(self.schema.clone(), arrays, sites.len())
    }
}
