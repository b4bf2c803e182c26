//! Splits payloads of records.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::encoding_times::Stopwatch;
use crate::module::ModulePayload;
use crate::payload::Effort;
use crate::table::Segment;

use super::packed::{has_compressed, pack, pack_lengths, pack_steps, Compressor};
use super::shapes::Shapes;
use super::split::{split, Columns};

/// The modules of a trace as far as they were written, shared by the encoders of its chunks.
///
/// Tables of large programs take a tenth of a second to read, and programs that soon end would wait for that. So records
/// of such a module are split only when so many have come that reading its table hardly counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordShapes {
    modules: Arc<RwLock<Vec<Arc<Module>>>>,
    unread: Arc<Mutex<Unread>>,
}

/// Payloads of modules whose tables weren't read yet.
#[derive(Debug, Default)]
struct Unread {
    payloads: Vec<Vec<u8>>,
    /// The length of all payloads together.
    bytes: usize,
    /// How many bytes of records came since the first of them.
    record_bytes: usize,
}

/// Payloads of modules that are read at once have at most so many bytes.
const MOST_BYTES_AT_ONCE: usize = 1 << 18;
/// Reading a byte of a packed table takes as long as encoding a few bytes of records.
const RECORDS_FOR_TABLES: usize = 16;

#[derive(Debug)]
struct Module {
    first_id: u32,
    segments: Vec<Segment>,
}

impl Module {
    fn ids(&self) -> std::ops::Range<usize> {
        let first = self.first_id as usize;
        first..first + self.segments.len()
    }
}

impl Unread {
    /// The payloads that are to be read, after so many more bytes of records.
    fn due(&mut self, record_bytes: usize) -> Vec<Vec<u8>> {
        if self.payloads.is_empty() {
            return Vec::new();
        }
        self.record_bytes += record_bytes;
        match self.record_bytes / RECORDS_FOR_TABLES >= self.bytes {
            true => std::mem::take(self).payloads,
            false => Vec::new(),
        }
    }
}

impl RecordShapes {
    /// Takes the payload of a module's chunk.
    pub(crate) fn add(&self, payload: &[u8]) {
        if payload.len() <= MOST_BYTES_AT_ONCE {
            return self.read(payload);
        }
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.payloads.push(payload.to_vec());
        unread.bytes += payload.len();
    }

    /// Records of a module whose segments a reader would refuse are not split.
    fn read(&self, payload: &[u8]) {
        let parsed = ModulePayload::parse(payload).and_then(|module| {
            Ok(Module {
                first_id: module.first_segment,
                segments: module.parse_records()?,
            })
        });
        let Ok(module) = parsed else { return };
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        let ids = module.ids();
        let overlaps = |other: &Arc<Module>| other.ids().start < ids.end && ids.start < other.ids().end;
        if !modules.iter().any(overlaps) {
            modules.push(Arc::new(module));
        }
    }

    /// The modules from number `known` on, for the next records, which have so many bytes.
    fn from(&self, known: usize, record_bytes: usize) -> Vec<Arc<Module>> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let due = unread.due(record_bytes);
        drop(unread);
        due.iter().for_each(|payload| self.read(payload));
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        modules.get(known..).unwrap_or_default().to_vec()
    }
}

/// Splits payloads of records. Each encoding thread has one.
#[derive(Debug)]
pub(crate) struct ColumnWriter {
    modules: RecordShapes,
    known_modules: usize,
    shapes: Shapes,
    columns: Columns,
    packed_steps: Vec<u8>,
    packed_lengths: Vec<u8>,
    /// Compressors of steps, ids, lengths, residuals and the rest.
    compressors: [Compressor; COLUMNS],
    /// Whether the records of the latest payload were short on average.
    short_records: bool,
}

/// Columns of a payload.
const COLUMNS: usize = 5;
/// Records that are shorter on average mostly have no roots.
const SHORT_RECORD: usize = 3;
/// Splitting is worthwhile if all but one in so many bytes of a payload are records.
const MAX_REST: usize = 4;

impl ColumnWriter {
    pub(crate) fn new(modules: RecordShapes) -> Self {
        ColumnWriter {
            modules,
            known_modules: 0,
            shapes: Shapes::new(),
            columns: Columns::default(),
            packed_steps: Vec::new(),
            packed_lengths: Vec::new(),
            compressors: Default::default(),
            short_records: false,
        }
    }

    pub(crate) fn modules(&self) -> &RecordShapes {
        &self.modules
    }

    /// Whether the latest payload has hardly any roots.
    pub(crate) fn short_records(&self) -> bool {
        self.short_records
    }

    /// Appends the split records of `payload`. Returns false and appends nothing if they can't be split, or wouldn't
    /// become smaller.
    pub(crate) fn append(
        &mut self,
        payload: &[u8],
        effort: Effort,
        stopwatch: &mut Stopwatch,
        chunk: &mut Vec<u8>,
    ) -> bool {
        let split_length = stopwatch.step(|times| &mut times.splitting, || self.split(payload));
        let rest = &payload[split_length..];
        if rest.len() > payload.len() / MAX_REST {
            return false;
        }
        let start = chunk.len();
        let columns: [&[u8]; COLUMNS] = [
            &self.packed_steps,
            &self.columns.ids,
            &self.packed_lengths,
            &self.columns.residuals,
            rest,
        ];
        let compressors = &mut self.compressors;
        stopwatch.step(
            |times| &mut times.compressing,
            || pack(columns, compressors, effort, chunk),
        );
        if chunk.len() - start >= payload.len() {
            chunk.truncate(start);
            return false;
        }
        true
    }

    /// Splits the records into `columns`, and packs the small entries. Returns the bytes of the payload that were split.
    fn split(&mut self, payload: &[u8]) -> usize {
        for module in self.modules.from(self.known_modules, payload.len()) {
            self.shapes.add(module.first_id, &module.segments);
            self.known_modules += 1;
        }
        let split_length = split(&mut self.shapes, payload, self.short_records, &mut self.columns);
        self.short_records = split_length < self.columns.steps.len() * SHORT_RECORD;
        self.pack_small_entries();
        split_length
    }

    fn pack_small_entries(&mut self) {
        self.packed_steps.clear();
        pack_steps(&self.columns.steps, &mut self.packed_steps);
        self.packed_lengths.clear();
        pack_lengths(&self.columns.lengths, &mut self.packed_lengths);
    }
}

/// Whether a column of a stored payload is compressed.
pub(crate) fn has_compressed_columns(stored: &[u8]) -> bool {
    has_compressed(stored, COLUMNS)
}
