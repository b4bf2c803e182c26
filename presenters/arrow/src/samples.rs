//! The table of samples of a program's instructions.

use trackway_trace::{CodePlace, Sample, Trace, TraceError};

use crate::cells::{Cells, Column};
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
    vec![
        Column::new(
            "time_ns",
            "ns",
            "when it was taken, in the trace's clock",
            Cells::U64(|row| row.sample.time_ns),
        ),
        Column::new(
            "pid",
            "",
            "the system's id of the process",
            Cells::U32(|row| row.sample.pid),
        ),
        Column::new(
            "tid",
            "",
            "the system's id of the thread",
            Cells::U32(|row| row.sample.tid),
        ),
        Column::new(
            "processor",
            "",
            "number of the logical processor",
            Cells::U32(|row| row.sample.processor),
        ),
        Column::new(
            "event",
            "",
            "number of the sampled event",
            Cells::U32(|row| row.sample.event),
        ),
        Column::new(
            "weight",
            "",
            "what it stands for, in the unit of its event",
            Cells::U64(|row| row.sample.weight),
        ),
        Column::new(
            "instruction",
            "",
            "address of the instruction to which the time goes",
            Cells::MaybeU64(|row| Some(row.sample.instruction).filter(|address| *address > 0)),
        ),
        Column::new(
            "direction",
            "",
            "what it does to memory: load, store, load and store, none, unknown",
            Cells::Text(|row| row.sample.direction.name().into()),
        ),
        Column::new(
            "address",
            "",
            "address of the data",
            Cells::MaybeU64(|row| row.sample.address),
        ),
        Column::new(
            "address_class",
            "",
            "how the address is known: exact, predecessor, rolled back, emulated, none",
            Cells::Text(|row| row.sample.class.name().into()),
        ),
        Column::new(
            "size",
            "bytes",
            "what the instruction accesses",
            Cells::MaybeU32(|row| Some(row.sample.size_bytes).filter(|size| *size > 0)),
        ),
        Column::new(
            "latency_cycles",
            "cycles",
            "how long the access took",
            Cells::MaybeU64(|row| Some(row.sample.latency_cycles).filter(|latency| *latency > 0)),
        ),
        Column::new(
            "window_accesses",
            "count",
            "accesses of the instructions behind it that were looked at",
            Cells::U64(|row| row.sample.window.len() as u64),
        ),
        Column::new(
            "window_speed",
            "instructions/ms",
            "instructions that the thread executed there in a millisecond of its CPU time",
            Cells::MaybeU32(|row| Some(row.sample.window_speed).filter(|speed| *speed > 0)),
        ),
        Column::new(
            "window_weight",
            "",
            "what these accesses stand for, in the unit of the event",
            Cells::MaybeU64(|row| Some(row.sample.window_weight).filter(|weight| *weight > 0)),
        ),
    ]
}

fn of_place<'t>() -> Vec<Column<SampleRow<'t>>> {
    vec![
        Column::new(
            "function",
            "",
            "linkage name of the function in whose text the instruction stands",
            Cells::Text(|row| row.place.function.into()),
        ),
        Column::new(
            "file",
            "",
            "source file",
            Cells::Text(|row| row.place.file.into()),
        ),
        Column::new(
            "line",
            "",
            "line of the source file, from 1",
            Cells::MaybeU32(|row| Some(row.place.line).filter(|line| *line > 0)),
        ),
        Column::new(
            "object",
            "",
            "file of the machine code",
            Cells::Text(|row| row.place.object.into()),
        ),
        Column::new(
            "offset",
            "",
            "of the instruction in the object",
            Cells::U64(|row| row.place.offset),
        ),
    ]
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
        .map(|sample| {
            let instruction = match sample.instruction {
                0 => sample.seen_at,
                instruction => instruction,
            };
            let place = places.find(sample.pid, sample.time_ns, instruction);
            let unknown = CodePlace {
                offset: instruction,
                ..CodePlace::default()
            };
            SampleRow {
                place: place.unwrap_or(unknown),
                sample,
            }
        })
        .collect();
    read(&rows, damage)
}
