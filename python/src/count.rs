//! Accesses and bytes by thread and site, in a part of a trace.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use trackway_analysis::misses::{count_chunks, SiteCounters};

use crate::errors::trace_error;
use crate::partition::Partition;
use crate::trace::Trace;

/// What a site came to in a thread.
struct Row {
    thread: u32,
    site: u32,
    counters: SiteCounters,
}

/// Columns `thread`, `site`, `accesses` and `bytes`; what made no access has no row. A thread may have several rows of a site.
#[pyfunction]
pub fn count_accesses(py: Python, trace: &Trace, partition: Partition) -> PyResult<PyRecordBatch> {
    let trace = trace.tables().trace();
    let rows = py.detach(|| rows(trace, &partition.into_inner()))?;
    let columns: [(&str, ArrayRef); 4] = [
        (
            "thread",
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.thread))),
        ),
        (
            "site",
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.site))),
        ),
        ("accesses", count(&rows, |counters| counters.accesses)),
        ("bytes", count(&rows, |counters| counters.bytes)),
    ];
    let batch = RecordBatch::try_from_iter(columns);
    Ok(PyRecordBatch::new(
        batch.map_err(|error| PyValueError::new_err(error.to_string()))?,
    ))
}

fn rows(trace: &trackway_trace::Trace, part: &trackway_arrow::Partition) -> PyResult<Vec<Row>> {
    let mut rows = Vec::new();
    for range in &part.chunks {
        let stream = trace.stream(range.stream);
        let chunks = stream.and_then(|stream| stream.chunks.get(range.first..)?.get(..range.count));
        let chunks = chunks.ok_or_else(|| {
            PyValueError::new_err(format!(
                "thread {} has no such chunks: this part is of another trace",
                range.stream
            ))
        })?;
        let counted = count_chunks(trace, chunks).map_err(|error| trace_error(&error))?;
        let used = (0..).zip(counted).filter(|(_, counters)| counters.accesses > 0);
        rows.extend(used.map(|(site, counters)| Row {
            thread: range.stream,
            site,
            counters,
        }));
    }
    Ok(rows)
}

fn count(rows: &[Row], of: impl Fn(&SiteCounters) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(
        rows.iter().map(|row| of(&row.counters)),
    ))
}
