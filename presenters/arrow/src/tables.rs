//! A trace with what its tables share.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{Field, Schema};
use trackway_analysis::moments::{ChunkTimes, Span};
use trackway_analysis::served::{Served, ServedChunk};
use trackway_trace::{ChunkRef, Decoder, Stream, Trace, TraceError};

use crate::accesses::AccessColumn;
use crate::{accesses, cells, sites, Relation};

/// A trace, the names of its sites as columns, and the times of its chunks; the latter are made when first asked for.
pub struct TraceTables {
    trace: Trace,
    /// The columns of the table of sites, by their indices.
    site_columns: Vec<OnceLock<ArrayRef>>,
    times: OnceLock<ChunkTimes>,
    numbers: OnceLock<AccessNumbers>,
    decoded_chunks: AtomicU64,
    decoded_bytes: AtomicU64,
    /// What serves accesses; set before `level` or `cycles` are asked for.
    served_by: OnceLock<Served>,
    levels: OnceLock<HashMap<(u32, u64), Arc<ServedChunk>>>,
    cycles: OnceLock<HashMap<(u32, u64), Arc<ServedChunk>>>,
}

/// How many accesses stand in a stream before each of its chunks, by stream and sequence.
struct AccessNumbers {
    first: HashMap<(u32, u64), u64>,
    times: ChunkTimes,
}

impl TraceTables {
    pub fn new(trace: Trace) -> Self {
        TraceTables {
            trace,
            site_columns: sites::columns().iter().map(|_| OnceLock::new()).collect(),
            times: OnceLock::new(),
            numbers: OnceLock::new(),
            decoded_chunks: AtomicU64::new(0),
            decoded_bytes: AtomicU64::new(0),
            served_by: OnceLock::new(),
            levels: OnceLock::new(),
            cycles: OnceLock::new(),
        }
    }

    /// Opens a trace.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open(path: &Path) -> Result<Arc<Self>, TraceError> {
        Ok(Arc::new(TraceTables::new(Trace::open(path)?)))
    }

    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Chunks of records that scans have begun to decode until now, and their bytes in the file.
    pub fn decoded(&self) -> (u64, u64) {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (now(&self.decoded_chunks), now(&self.decoded_bytes))
    }

    pub(crate) fn note_decoding(&self, chunk: &ChunkRef) {
        self.decoded_chunks.fetch_add(1, Ordering::Relaxed);
        let bytes = u64::from(chunk.header.stored_length);
        self.decoded_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether accesses have a column of that name that follows from their site.
    pub fn is_of_sites(name: &str) -> bool {
        accesses::is_of_sites(name)
    }

    /// What accesses take from their sites: a row for each site, with the columns of those names in
    /// [`Relation::Accesses`].
    ///
    /// # Panics
    /// If accesses have no such column of their site.
    pub fn keys_of_sites(&self, names: &[&str]) -> RecordBatch {
        let schema = Relation::Accesses.schema();
        let sites: ScalarBuffer<u32> = (0..self.trace.program().sites.len() as u32).collect();
        let columns = sites::columns();
        let array = |name: &&str| {
            let index = columns.iter().position(|column| column.name == *name);
            let index = index.expect("a column of sites");
            accesses::of_sites(self.site_column(index), &sites)
        };
        let field = |name: &&str| {
            schema
                .field_with_name(name)
                .expect("a column of accesses")
                .clone()
        };
        let fields: Vec<Field> = names.iter().map(field).collect();
        let arrays = names.iter().map(array).collect();
        cells::record_batch(Arc::new(Schema::new(fields)), arrays, sites.len())
    }

    /// The column of the table of sites of that index: the cell of a site stands at its number.
    pub(crate) fn site_column(&self, index: usize) -> &ArrayRef {
        self.site_columns[index].get_or_init(|| sites::column(&self.trace, index))
    }

    /// Says what serves the accesses: the caches whose `level` is asked for, and the machine whose `cycles` are. It holds
    /// for all scans; later calls change nothing.
    pub fn serve_by(&self, served: Served) {
        self.served_by.get_or_init(|| served);
    }

    /// What served the accesses of a chunk, of a stream and with a sequence. The first call for each column simulates the
    /// whole trace.
    pub(crate) fn served(&self, column: AccessColumn, chunk: (u32, u64)) -> Arc<ServedChunk> {
        let (all, caches, machine) = match column {
            AccessColumn::Cycles => (&self.cycles, false, true),
            _ => (&self.levels, true, false),
        };
        let all = all.get_or_init(|| {
            let by = self.served_by.get().expect("it was said what serves accesses");
            let wanted = Served {
                caches: by.caches.clone().filter(|_| caches),
                machine: by.machine.clone().filter(|_| machine),
            };
            let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            let found = wanted.accesses_of(&self.trace, threads, &|_, _| {});
            found
                .into_iter()
                .map(|(chunk, served)| (chunk, Arc::new(served)))
                .collect()
        });
        all.get(&chunk).cloned().unwrap_or_default()
    }

    /// The times between which a chunk's accesses took place; their number is unknown.
    pub(crate) fn span(&self, stream: u32, sequence: u64) -> Span {
        let times = self
            .times
            .get_or_init(|| ChunkTimes::new(&self.trace, &HashMap::new()));
        times.span(stream, sequence)
    }

    /// The same with the number of accesses, which is counted if it is not known yet. Damaged parts of the chunk are
    /// not counted.
    pub(crate) fn counted_span(&self, decoder: &mut Decoder, stream: &Stream, chunk: usize) -> Span {
        let chunk = &stream.chunks[chunk];
        let sequence = chunk.header.sequence;
        if let Some(numbers) = self.numbers.get() {
            return numbers.times.span(stream.id, sequence);
        }
        let mut span = self.span(stream.id, sequence);
        if let Ok(mut batches) = decoder.decode(chunk) {
            while let Ok(Some(batch)) = batches.next_batch() {
                span.accesses = span.accesses.saturating_add(batch.access_count());
            }
        }
        span
    }

    /// How many accesses stand in the stream before a chunk. The first call reads the whole trace.
    pub(crate) fn accesses_before(&self, stream: u32, sequence: u64) -> u64 {
        let numbers = self.numbers.get_or_init(|| AccessNumbers::count(&self.trace));
        numbers.first.get(&(stream, sequence)).copied().unwrap_or(0)
    }
}

impl AccessNumbers {
    fn count(trace: &Trace) -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let times = ChunkTimes::count(trace, threads, &|_, _| {});
        let mut first = HashMap::new();
        for stream in trace.streams() {
            let mut before = 0u64;
            for chunk in &stream.chunks {
                let sequence = chunk.header.sequence;
                first.insert((stream.id, sequence), before);
                before = before.saturating_add(times.span(stream.id, sequence).accesses);
            }
        }
        AccessNumbers { first, times }
    }
}
