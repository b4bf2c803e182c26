//! The table of threads: streams of accesses, of counts, of calls of allocators.

use trackway_trace::{ChunkRef, Trace};

use crate::cells::{Column, Columns};
use crate::selection::Selection;

/// A stream of the trace.
#[derive(Clone, Copy)]
pub struct ThreadRow {
    stream: u32,
    process: u32,
    pid: Option<u32>,
    what: &'static str,
    chunks: u64,
    record_bytes: u64,
    stored_bytes: u64,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    missing_buffers: u64,
}

/// The columns of the table.
pub fn columns() -> Vec<Column<ThreadRow>> {
    Columns::<ThreadRow>::new()
        .u32(
            "thread",
            "number of the stream: a thread's accesses, or its signal handlers'",
            |row| row.stream,
        )
        .u32("process", "number of the process in the trace", |row| row.process)
        .maybe_u32("pid", "the system's id of the process", |row| row.pid)
        .text("holds", "accesses, counts or allocations", |row| row.what.into())
        .u64(("chunks", "count"), "chunks of the stream", |row| row.chunks)
        .u64(
            ("record_bytes", "bytes"),
            "bytes of the chunks before compression",
            |row| row.record_bytes,
        )
        .u64(("stored_bytes", "bytes"), "the same in the file", |row| {
            row.stored_bytes
        })
        .maybe_u64(
            ("first_ns", "ns"),
            "begin of its first chunk, CLOCK_MONOTONIC",
            |row| row.first_ns,
        )
        .maybe_u64(
            ("last_ns", "ns"),
            "end of its last chunk, CLOCK_MONOTONIC",
            |row| row.last_ns,
        )
        .u64(
            ("missing_buffers", "count"),
            "buffers that were dropped or not written",
            |row| row.missing_buffers,
        )
        .list()
}

/// The rows of all streams that are wanted, by their numbers.
pub fn rows(trace: &Trace, selection: &Selection) -> Vec<ThreadRow> {
    let streams = trace.streams().iter();
    let records = streams.map(|stream| (stream.id, stream.process, "accesses", stream.chunks.as_slice()));
    let counting = trace.counting_threads().iter();
    let counts = counting.map(|thread| (thread.stream, thread.process, "counts", thread.chunks.as_slice()));
    let calls = trace.allocation_streams().iter();
    let calls = calls.map(|calls| {
        (
            calls.stream,
            calls.process,
            "allocations",
            calls.chunks.as_slice(),
        )
    });
    let all = records.chain(counts).chain(calls);
    let holds_others = |id: u32| {
        let mut calls = trace.allocation_streams().iter().map(|calls| calls.stream);
        let mut counts = trace.counting_threads().iter().map(|thread| thread.stream);
        calls.any(|stream| stream == id) || counts.any(|stream| stream == id)
    };
    // A gap among calls of allocators also creates a stream of accesses, which has none.
    let wanted = all.filter(|(stream, _, what, chunks)| {
        let exists = *what != "accesses" || !chunks.is_empty() || !holds_others(*stream);
        // A slice knows the streams outside of it, since they may allocate what it accesses.
        let is_inside = trace.slice().is_none_or(|slice| match *what {
            "accesses" => !chunks.is_empty(),
            _ => slice.keeps_thread(*stream),
        });
        selection.keeps_thread(Some(*stream)) && exists && is_inside
    });
    let mut rows: Vec<ThreadRow> = wanted
        .map(|(stream, process, what, chunks)| row(trace, (stream, process), what, chunks))
        .collect();
    rows.sort_by_key(|row| row.stream);
    rows
}

fn row(trace: &Trace, (stream, process): (u32, u32), what: &'static str, chunks: &[ChunkRef]) -> ThreadRow {
    let known = |time_ns: u64| Some(time_ns).filter(|time_ns| *time_ns > 0);
    let headers = || chunks.iter().map(|chunk| &chunk.header);
    let gaps = trace.gaps().iter().filter(|gap| gap.stream == stream);
    let mut processes = trace.processes().iter();
    ThreadRow {
        stream,
        process,
        pid: processes
            .find(|(number, _)| *number == process)
            .map(|(_, info)| info.pid),
        what,
        chunks: chunks.len() as u64,
        record_bytes: headers().map(|header| u64::from(header.raw_length)).sum(),
        stored_bytes: headers().map(|header| u64::from(header.stored_length)).sum(),
        first_ns: headers().filter_map(|header| known(header.first_ns)).min(),
        last_ns: headers().filter_map(|header| known(header.last_ns)).max(),
        missing_buffers: gaps.map(|gap| gap.dropped_buffers).sum(),
    }
}
