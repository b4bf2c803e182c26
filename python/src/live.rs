//! Traces whose chunks come one by one, for engines that add up what many processes decode.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use trackway_analysis::layout::Fragment;
use trackway_answers::soundness;
use trackway_live::{AffinityWindow, By, Granule, LiveError, PlacedChunk, SharedGranules};

use crate::report::Report;

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

    /// The accesses of a chunk from number `first` on, so many at most.
    fn rows(&self, py: Python, chunk: Chunk, first: u64, most: u64) -> PyResult<PyRecordBatch> {
        self.aggregate(py, &[chunk], move |live, chunks| {
            live.rows(chunks[0], first, most)
        })
    }

    /// Which fields of structures are accessed, and which together: for each stream a piece, to be joined.
    fn layouts(&self, py: Python, chunks: Vec<Chunk>, window: u64) -> PyResult<PyRecordBatch> {
        let window = AffinityWindow::new(window).map_err(|error| live_error(&error))?;
        self.aggregate(py, &chunks, move |live, chunks| live.layouts(chunks, window))
    }

    /// What `trackway layout --cache none` says of these pieces, one for each stream from its beginning.
    fn layout_report(
        &self,
        py: Python,
        pieces: Vec<PyBackedBytes>,
        window: u64,
        top: usize,
    ) -> PyResult<Report> {
        let found = py.detach(|| {
            let window = AffinityWindow::new(window)?;
            let pieces = pieces.iter().map(|piece| Ok(Fragment::from_bytes(piece)?));
            let pieces = pieces.collect::<Result<Vec<_>, LiveError>>()?;
            self.live.layout_findings(&pieces, window, top)
        });
        let findings = found.map_err(|error| live_error(&error))?;
        let mut warnings = soundness::losses(self.live.trace());
        if self.live.trace().end().is_none() {
            warnings[0] =
                "the program still runs, or its recording was cut: this is what has come so far".into();
        }
        Ok(Report::from(findings.into_report(warnings)))
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

/// One piece of a stream's layouts, of those that follow each other.
#[pyfunction]
pub fn join_layouts<'py>(py: Python<'py>, pieces: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyBytes>> {
    let joined = py.detach(|| -> Result<Vec<u8>, LiveError> {
        let mut joined: Option<Fragment> = None;
        for piece in &pieces {
            let next = Fragment::from_bytes(piece)?;
            match &mut joined {
                Some(before) => before.join(next)?,
                None => joined = Some(next),
            }
        }
        Ok(joined.map_or(Ok(Vec::new()), |joined| joined.to_bytes())?)
    });
    Ok(PyBytes::new(py, &joined.map_err(|error| live_error(&error))?))
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
