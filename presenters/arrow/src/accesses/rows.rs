//! Rows of accesses on their way into a batch: only what its columns need.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, PrimitiveArray, RecordBatch, UInt32Array,
    UInt64Array, UInt8Array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, SchemaRef};
use trackway_trace::Batch;

use super::columns::AccessColumn;
use super::wanted::Chosen;
use crate::cells::record_batch;
use crate::TraceTables;
use trackway_analysis::moments::Span;
use trackway_analysis::served::ServedChunk;

/// Where the accesses of a batch stand.
#[derive(Debug, Clone)]
pub struct Place {
    /// Span of the chunk; if times are asked for, its accesses have been counted.
    pub span: Span,
    /// Accesses of the chunk before the batch.
    pub before: u64,
    /// Accesses of the stream before the chunk, if sequences are asked for.
    pub before_chunk: u64,
    /// What served the chunk's accesses, for each of both columns if it is asked for.
    pub levels: Option<Arc<ServedChunk>>,
    pub cycles: Option<Arc<ServedChunk>>,
}

/// The columns that grow, as far as they are wanted.
#[derive(Default)]
pub struct Rows {
    process: Option<Vec<u32>>,
    thread: Option<Vec<u32>>,
    chunk: Option<Vec<u64>>,
    position: Option<Vec<u64>>,
    sequence: Option<Vec<u64>>,
    time_ns: Option<Vec<u64>>,
    site: Option<Vec<u32>>,
    address: Option<Vec<u64>>,
    size: Option<Vec<u64>>,
    uncertain: Option<Vec<bool>>,
    level: Option<Vec<u8>>,
    cycles: Option<Vec<f32>>,
    count: usize,
}

impl Rows {
    pub fn new(columns: &[AccessColumn]) -> Self {
        let mut rows = Rows::default();
        for column in columns {
            match column {
                AccessColumn::Process => rows.process = Some(Vec::new()),
                AccessColumn::Thread => rows.thread = Some(Vec::new()),
                AccessColumn::Chunk => rows.chunk = Some(Vec::new()),
                AccessColumn::Position => rows.position = Some(Vec::new()),
                AccessColumn::Sequence => rows.sequence = Some(Vec::new()),
                AccessColumn::TimeNs => rows.time_ns = Some(Vec::new()),
                AccessColumn::Site | AccessColumn::OfSite(_) => rows.site = Some(Vec::new()),
                AccessColumn::Address => rows.address = Some(Vec::new()),
                AccessColumn::Size => rows.size = Some(Vec::new()),
                AccessColumn::Uncertain => rows.uncertain = Some(Vec::new()),
                AccessColumn::Level => rows.level = Some(Vec::new()),
                AccessColumn::Cycles => rows.cycles = Some(Vec::new()),
            }
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Appends the chosen accesses.
    pub fn push(&mut self, batch: &Batch, chosen: &Chosen, place: &Place) {
        let count = chosen.len();
        self.count += count;
        repeat(&mut self.process, batch.process, count);
        repeat(&mut self.thread, batch.stream, count);
        repeat(&mut self.chunk, batch.sequence, count);
        let position = |index: usize| place.before + index as u64;
        extend(&mut self.position, chosen, position);
        extend(&mut self.sequence, chosen, |index| {
            place.before_chunk + position(index)
        });
        extend(&mut self.time_ns, chosen, |index| {
            place.span.time_of(position(index))
        });
        copy(&mut self.site, chosen, &batch.site, |site| site.0);
        copy(&mut self.address, chosen, &batch.address, |address| *address);
        match batch.long_blocks.is_empty() {
            true => copy(&mut self.size, chosen, &batch.size, |size| u64::from(*size)),
            false => extend(&mut self.size, chosen, |index| batch.length(index)),
        }
        let certain = batch.uncertain_from.map_or(usize::MAX, |from| from as usize);
        extend(&mut self.uncertain, chosen, |index| index >= certain);
        let before = place.before as usize;
        if let Some(served) = &place.levels {
            let level = |index: usize| served.levels.get(before + index).copied();
            extend(&mut self.level, chosen, |index| level(index).unwrap_or_default());
        }
        if let Some(served) = &place.cycles {
            let cycles = |index: usize| served.cycles.get(before + index).copied();
            extend(&mut self.cycles, chosen, |index| {
                cycles(index).unwrap_or_default()
            });
        }
    }

    /// The rows as a batch of these columns; none are left. Room for `expected` more is made.
    pub fn take(
        &mut self,
        tables: &TraceTables,
        schema: &SchemaRef,
        columns: &[AccessColumn],
        expected: usize,
    ) -> RecordBatch {
        let taken = Rows {
            process: renew(&mut self.process, expected),
            thread: renew(&mut self.thread, expected),
            chunk: renew(&mut self.chunk, expected),
            position: renew(&mut self.position, expected),
            sequence: renew(&mut self.sequence, expected),
            time_ns: renew(&mut self.time_ns, expected),
            site: renew(&mut self.site, expected),
            address: renew(&mut self.address, expected),
            size: renew(&mut self.size, expected),
            uncertain: renew(&mut self.uncertain, expected),
            level: renew(&mut self.level, expected),
            cycles: renew(&mut self.cycles, expected),
            count: std::mem::take(&mut self.count),
        };
        let count = taken.count;
        let finished = Finished::from(taken);
        let arrays = columns
            .iter()
            .map(|column| finished.array(*column, tables))
            .collect();
        record_batch(schema.clone(), arrays, count)
    }
}

/// The columns when they no longer grow: buffers that arrays share.
struct Finished {
    process: ScalarBuffer<u32>,
    thread: ScalarBuffer<u32>,
    chunk: ScalarBuffer<u64>,
    position: ScalarBuffer<u64>,
    sequence: ScalarBuffer<u64>,
    time_ns: ScalarBuffer<u64>,
    site: ScalarBuffer<u32>,
    address: ScalarBuffer<u64>,
    size: ScalarBuffer<u64>,
    uncertain: Vec<bool>,
    level: ScalarBuffer<u8>,
    cycles: ScalarBuffer<f32>,
}

impl From<Rows> for Finished {
    fn from(rows: Rows) -> Self {
        Finished {
            process: rows.process.unwrap_or_default().into(),
            thread: rows.thread.unwrap_or_default().into(),
            chunk: rows.chunk.unwrap_or_default().into(),
            position: rows.position.unwrap_or_default().into(),
            sequence: rows.sequence.unwrap_or_default().into(),
            time_ns: rows.time_ns.unwrap_or_default().into(),
            site: rows.site.unwrap_or_default().into(),
            address: rows.address.unwrap_or_default().into(),
            size: rows.size.unwrap_or_default().into(),
            uncertain: rows.uncertain.unwrap_or_default(),
            level: rows.level.unwrap_or_default().into(),
            cycles: rows.cycles.unwrap_or_default().into(),
        }
    }
}

impl Finished {
    fn array(&self, column: AccessColumn, tables: &TraceTables) -> ArrayRef {
        let narrow =
            |numbers: &ScalarBuffer<u32>| Arc::new(UInt32Array::new(numbers.clone(), None)) as ArrayRef;
        let wide =
            |numbers: &ScalarBuffer<u64>| Arc::new(UInt64Array::new(numbers.clone(), None)) as ArrayRef;
        match column {
            AccessColumn::Process => narrow(&self.process),
            AccessColumn::Thread => narrow(&self.thread),
            AccessColumn::Chunk => wide(&self.chunk),
            AccessColumn::Position => wide(&self.position),
            AccessColumn::Sequence => wide(&self.sequence),
            AccessColumn::TimeNs => wide(&self.time_ns),
            AccessColumn::Site => narrow(&self.site),
            AccessColumn::Address => wide(&self.address),
            AccessColumn::Size => wide(&self.size),
            AccessColumn::Uncertain => Arc::new(BooleanArray::from(self.uncertain.clone())),
            AccessColumn::Level => Arc::new(UInt8Array::new(self.level.clone(), None)),
            AccessColumn::Cycles => Arc::new(Float32Array::new(self.cycles.clone(), None)),
            AccessColumn::OfSite(index) => of_sites(tables.site_column(index), &self.site),
        }
    }
}

/// A column of the table of sites, for a number of sites: texts by reference, numbers one by one.
pub fn of_sites(cells: &ArrayRef, sites: &ScalarBuffer<u32>) -> ArrayRef {
    let sites = PrimitiveArray::<UInt32Type>::new(sites.clone(), None);
    match cells.data_type() {
        DataType::Utf8 => Arc::new(DictionaryArray::new(sites, cells.clone())),
        _ => arrow_select::take::take(cells, &sites, None).expect("the decoder knows the sites"),
    }
}

fn renew<T>(column: &mut Option<Vec<T>>, expected: usize) -> Option<Vec<T>> {
    let column = column.as_mut()?;
    Some(std::mem::replace(column, Vec::with_capacity(expected)))
}

fn repeat<T: Copy>(column: &mut Option<Vec<T>>, value: T, count: usize) {
    if let Some(column) = column {
        column.resize(column.len() + count, value);
    }
}

fn extend<T>(column: &mut Option<Vec<T>>, chosen: &Chosen, value: impl Fn(usize) -> T) {
    let Some(column) = column else {
        return;
    };
    match chosen {
        Chosen::Range(range) => column.extend(range.clone().map(value)),
        Chosen::Some(indices) => column.extend(indices.iter().map(|index| value(*index as usize))),
    }
}

fn copy<S, T>(column: &mut Option<Vec<T>>, chosen: &Chosen, source: &[S], value: impl Fn(&S) -> T) {
    let Some(column) = column else {
        return;
    };
    match chosen {
        Chosen::Range(range) => column.extend(source[range.clone()].iter().map(value)),
        Chosen::Some(indices) => column.extend(indices.iter().map(|index| value(&source[*index as usize]))),
    }
}
