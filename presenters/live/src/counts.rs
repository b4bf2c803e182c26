//! Accesses by name and thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use trackway_trace::{Batch, Piece, Program};

use crate::columns::batch;
use crate::naming::Naming;
use crate::{By, LiveError, LiveTrace, PlacedChunk};

/// Schema of the batches that [`LiveTrace::counts`] makes; no value is ever null.
pub fn counts_schema() -> SchemaRef {
    CountRows::default().into_batch().schema()
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    accesses: u64,
    bytes: u64,
}

/// Tallies by process and thread, then by site.
type Tallies = BTreeMap<(u32, u32), Vec<Tally>>;

impl LiveTrace {
    /// How many accesses the chunks have, how many of these write, and how many bytes they access, for each process,
    /// thread and name. Counts of several calls may be added up, if no chunk is in two of them.
    pub fn counts(&self, chunks: &[PlacedChunk], by: By) -> Result<RecordBatch, LiveError> {
        let mut tallies = Tallies::new();
        let sites = self.trace().program().sites.len();
        self.decode(chunks, |batch| {
            let of_thread = tallies.entry((batch.process, batch.stream));
            count(batch, of_thread.or_insert_with(|| vec![Tally::default(); sites]));
        })?;
        Ok(CountRows::of(self.trace().program(), &tallies, by).into_batch())
    }
}

fn count(batch: &Batch, tallies: &mut [Tally]) {
    let mut add = |site: usize, accesses: u64, bytes: u64| {
        let tally = &mut tallies[site];
        tally.accesses = tally.accesses.saturating_add(accesses);
        tally.bytes = tally.bytes.saturating_add(bytes);
    };
    for piece in batch.pieces() {
        match piece {
            Piece::Accesses(range) => {
                range.for_each(|index| add(batch.site[index].index(), 1, batch.length(index)));
            }
            Piece::Run(run) => {
                for lane in batch.lanes(run) {
                    let bytes = run.count.saturating_mul(lane.size.into());
                    add(lane.site.index(), run.count, bytes);
                }
            }
        }
    }
}

/// The columns.
#[derive(Default)]
struct CountRows {
    processes: Vec<i32>,
    threads: Vec<i32>,
    /// Indices into `all_names`.
    names: Vec<u32>,
    all_names: Vec<String>,
    accesses: Vec<i64>,
    writes: Vec<i64>,
    bytes: Vec<i64>,
}

impl CountRows {
    fn of(program: &Program, tallies: &Tallies, by: By) -> CountRows {
        let naming = Naming::of(program, by);
        let mut rows = CountRows::default();
        for ((process, thread), of_sites) in tallies {
            // Accesses, those that write, bytes.
            let mut sums = vec![[0u64; 3]; naming.names.len()];
            for ((tally, names), site) in of_sites.iter().zip(&naming.of_site).zip(&program.sites) {
                let writes = if site.kind.writes() { tally.accesses } else { 0 };
                for &name in names {
                    let sum = &mut sums[name as usize];
                    for (sum, more) in sum.iter_mut().zip([tally.accesses, writes, tally.bytes]) {
                        *sum = sum.saturating_add(more);
                    }
                }
            }
            for (name, [accesses, writes, bytes]) in (0..).zip(sums) {
                if accesses > 0 {
                    rows.processes.push(*process as i32);
                    rows.threads.push(*thread as i32);
                    rows.names.push(name);
                    rows.accesses.push(signed(accesses));
                    rows.writes.push(signed(writes));
                    rows.bytes.push(signed(bytes));
                }
            }
        }
        rows.all_names = naming.names;
        rows
    }

    fn into_batch(self) -> RecordBatch {
        let names = self
            .names
            .iter()
            .map(|&name| self.all_names[name as usize].as_str());
        batch([
            ("process", Arc::new(Int32Array::from(self.processes))),
            ("thread", Arc::new(Int32Array::from(self.threads))),
            ("name", Arc::new(StringArray::from_iter_values(names))),
            ("accesses", Arc::new(Int64Array::from(self.accesses))),
            ("writes", Arc::new(Int64Array::from(self.writes))),
            ("bytes", Arc::new(Int64Array::from(self.bytes))),
        ])
    }
}

/// Tables of other engines have no unsigned numbers.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
