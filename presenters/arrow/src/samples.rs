//! The table of samples of a program's instructions.

use trackway_trace::{CodePlace, Sample, Trace, TraceError};

use crate::cells::{Column, Columns};
use crate::Selection;

/// A sample, and where its instruction stands.
#[derive(Clone)]
pub struct SampleRow<'t> {
    sample: Sample,
    place: CodePlace<'t>,
}

/// The columns of the table.
pub fn columns<'t>() -> Vec<Column<SampleRow<'t>>> {
    let mut columns = of_moment();
    columns.extend(of_place());
    columns
}

/// Columns of the sample itself. One list, an entry for each column in the table's order.
fn of_moment<'t>() -> Vec<Column<SampleRow<'t>>> {
    Columns::<SampleRow<'t>>::new()
        .u64(
            ("time_ns", "ns"),
            "when it was taken, in the trace's clock",
            |row| row.sample.time_ns,
        )
        .u32("pid", "the system's id of the process", |row| row.sample.pid)
        .u32("tid", "the system's id of the thread", |row| row.sample.tid)
        .u32("processor", "number of the logical processor", |row| {
            row.sample.processor
        })
        .u32("event", "number of the sampled event", |row| row.sample.event)
        .u64("weight", "what it stands for, in the unit of its event", |row| {
            row.sample.weight
        })
        .maybe_u64(
            "instruction",
            "address of the instruction to which the time goes",
            |row| Some(row.sample.instruction).filter(|address| *address > 0),
        )
        .text(
            "direction",
            "what it does to memory: load, store, load and store, none, unknown",
            |row| row.sample.direction.name().into(),
        )
        .maybe_u64("address", "address of the data", |row| row.sample.address)
        .text(
            "address_class",
            "how the address is known: exact, predecessor, rolled back, emulated, none",
            |row| row.sample.class.name().into(),
        )
        .maybe_u32(("size", "bytes"), "what the instruction accesses", |row| {
            Some(row.sample.size_bytes).filter(|size| *size > 0)
        })
        .maybe_u64(("latency_cycles", "cycles"), "how long the access took", |row| {
            Some(row.sample.latency_cycles).filter(|latency| *latency > 0)
        })
        .u64(
            ("window_accesses", "count"),
            "accesses of the instructions behind it that were looked at",
            |row| row.sample.window.len() as u64,
        )
        .maybe_u32(
            ("window_speed", "instructions/ms"),
            "instructions that the thread executed there in a millisecond of its CPU time",
            |row| Some(row.sample.window_speed).filter(|speed| *speed > 0),
        )
        .maybe_u64(
            "window_weight",
            "what these accesses stand for, in the unit of the event",
            |row| Some(row.sample.window_weight).filter(|weight| *weight > 0),
        )
        .list()
}

fn of_place<'t>() -> Vec<Column<SampleRow<'t>>> {
    Columns::<SampleRow<'t>>::new()
        .text(
            "function",
            "linkage name of the function in whose text the instruction stands",
            |row| row.place.function.into(),
        )
        .text("file", "source file", |row| row.place.file.into())
        .maybe_u32("line", "line of the source file, from 1", |row| {
            Some(row.place.line).filter(|line| *line > 0)
        })
        .text("object", "file of the machine code", |row| {
            row.place.object.into()
        })
        .u64("offset", "of the instruction in the object", |row| {
            row.place.offset
        })
        .list()
}

/// Calls `read` with the wanted samples, in the order of the trace, and with what could not be read.
pub fn with_rows<T>(
    trace: &Trace,
    selection: &Selection,
    read: impl FnOnce(&[SampleRow], Vec<TraceError>) -> T,
) -> T {
    let (places, mut damage) = trace.code_places();
    let (chunks, unread) = trace.samples();
    damage.extend(unread);
    let samples = chunks.into_iter().flat_map(|chunk| chunk.samples);
    let wanted = samples.filter(|sample| {
        selection.keeps_time(Some(sample.time_ns)) && selection.keeps_address(sample.address)
    });
    let rows: Vec<SampleRow> = wanted
        .map(|sample| SampleRow {
            place: places.of_sample(&sample, sample.time_goes_to()),
            sample,
        })
        .collect();
    read(&rows, damage)
}
