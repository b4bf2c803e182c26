//! Traces whose chunks come one by one, for engines that add up what many processes decode.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3_arrow::PyRecordBatch;
use trackway_live::{By, Granule, LiveError, PlacedChunk, SharedGranules};

/// What is known of a trace whose chunks come one by one.
#[pyclass(module = "trackway")]
pub struct LiveTrace {
    name: String,
    live: trackway_live::LiveTrace,
}

/// Offset in the trace's file, and header and payload.
type Chunk = (u64, PyBackedBytes);

impl LiveTrace {
    /// Without the interpreter's lock, so that other threads go on.
    fn aggregate(
        &self,
        py: Python,
        chunks: &[Chunk],
        aggregate: impl FnOnce(&trackway_live::LiveTrace, &[PlacedChunk]) -> Result<arrow_array::RecordBatch, LiveError>
            + Send,
    ) -> PyResult<PyRecordBatch> {
        let made = py.detach(|| {
            let chunks: Vec<PlacedChunk> = chunks
                .iter()
                .map(|(position, bytes)| PlacedChunk {
                    position: *position,
                    bytes,
                })
                .collect();
            aggregate(&self.live, &chunks)
        });
        made.map(PyRecordBatch::new).map_err(|error| live_error(&error))
    }
}

#[pymethods]
impl LiveTrace {
    /// `name` stands for the trace in messages.
    #[new]
    fn new(name: String) -> LiveTrace {
        LiveTrace {
            live: trackway_live::LiveTrace::new(&name),
            name,
        }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// All definitions before this offset are known, bytes.
    #[getter]
    fn position(&self) -> u64 {
        self.live.position()
    }

    /// Takes the next chunk that defines something.
    fn define(&mut self, position: u64, chunk: &[u8]) -> PyResult<()> {
        let bytes = chunk;
        let defined = self.live.define(PlacedChunk { position, bytes });
        defined.map_err(|error| live_error(&error))
    }

    /// Says that up to this offset nothing is defined but what was taken.
    fn pass_over(&mut self, position: u64) {
        self.live.pass_over(position);
    }

    /// Accesses, writes and bytes of chunks of records by process, thread and name.
    fn counts(&self, py: Python, chunks: Vec<Chunk>, by: &str) -> PyResult<PyRecordBatch> {
        let by = By::parse(by).map_err(|error| live_error(&error))?;
        self.aggregate(py, &chunks, move |live, chunks| live.counts(chunks, by))
    }

    /// Which threads touch which pieces of memory, under which name.
    fn touches(
        &self,
        py: Python,
        chunks: Vec<Chunk>,
        by: &str,
        granule_bytes: u64,
    ) -> PyResult<PyRecordBatch> {
        let (by, granule) = parse(by, granule_bytes)?;
        self.aggregate(py, &chunks, move |live, chunks| live.touches(chunks, granule, by))
    }

    /// Accesses to pieces of memory that are shared, each given by its process and its address.
    fn details(
        &self,
        py: Python,
        chunks: Vec<Chunk>,
        by: &str,
        granule_bytes: u64,
        shared: Vec<(u32, u64)>,
    ) -> PyResult<PyRecordBatch> {
        let (by, granule) = parse(by, granule_bytes)?;
        let shared = SharedGranules::new(shared);
        self.aggregate(py, &chunks, move |live, chunks| {
            live.details(chunks, granule, by, &shared)
        })
    }
}

fn parse(by: &str, granule_bytes: u64) -> PyResult<(By, Granule)> {
    By::parse(by)
        .and_then(|by| Granule::new(granule_bytes).map(|granule| (by, granule)))
        .map_err(|error| live_error(&error))
}

/// `trackway.TraceError` with its message.
fn live_error(error: &LiveError) -> PyErr {
    let raise = |py: Python| {
        let class = py.import("trackway.errors")?.getattr("TraceError")?;
        Ok(PyErr::from_value(class.call1((error.to_string(),))?))
    };
    Python::attach(|py| raise(py).unwrap_or_else(|failed: PyErr| failed))
}
