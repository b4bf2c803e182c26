//! What a trace holds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use trackway_report::{counted, Report, Table, TableBuilder};
use trackway_trace::{hexadecimal, ChunkKind, ChunkRef, EndInfo, FunctionId, Program, Trace};

use super::{allocations, counts, instrumentation, marks};
use crate::failure::Failure;
use crate::progress::record_bytes;
use crate::{slice, soundness};

pub fn describe(path: &Path) -> Result<Report, Failure> {
    Ok(report(&Trace::open(path)?))
}

pub fn report(trace: &Trace) -> Report {
    let mut tables = vec![recording(trace), caches(trace), streams(trace)];
    tables.extend(marks::tables(trace));
    tables.extend(counts::nodes(trace));
    tables.extend(allocations::tables(trace));
    tables.push(chunks(trace));
    tables.push(instrumentation::coverage(trace.program()));
    tables.push(instrumentation::modules(trace.program()));
    tables.extend(instrumentation::not_recordable(trace.program()));
    tables.extend(counts::modules(trace.program()));
    tables.extend(machine_code(trace.program()));
    Report {
        answer: format!(
            "{}: {}, {}",
            trace.path().display(),
            content(trace),
            ending(trace.end())
        ),
        warnings: soundness::warnings(trace),
        tables,
    }
}

/// The objects whose code was executed; none if all code was compiled by Trackway.
fn machine_code(program: &Program) -> Option<Table> {
    if program.instructions.is_empty() {
        return None;
    }
    let mut objects: BTreeMap<FunctionId, (u64, u64)> = BTreeMap::new();
    for instruction in &program.instructions {
        objects.entry(instruction.object).or_default().0 += 1;
    }
    for block in &program.machine_blocks {
        let object = program.instructions[block.instructions.start as usize].object;
        objects.entry(object).or_default().1 += 1;
    }
    let rows: Vec<(FunctionId, (u64, u64))> = objects.into_iter().collect();
    let table = TableBuilder::new("machine_code", "Machine code", &rows)
        .text("object", |(object, _)| program.function_name(*object))
        .count("instructions", |(_, counts)| counts.0)
        .count("blocks", |(_, counts)| counts.1)
        .build();
    Some(table)
}

fn content(trace: &Trace) -> String {
    let records = record_bytes(trace);
    let streams = counted(trace.streams().len() as u64, "stream");
    let records = format!("{streams} with {} of records", counted(records, "byte"));
    if trace.is_sampled() && trace.streams().is_empty() {
        return format!(
            "samples in {}",
            counted(trace.chunks_of(ChunkKind::Samples).count() as u64, "chunk")
        );
    }
    let threads = trace.counting_threads().len() as u64;
    let counts = format!("counts of {}", counted(threads, "thread"));
    let calls = format!(
        "calls of allocators in {}",
        counted(trace.allocation_streams().len() as u64, "stream")
    );
    match (threads, trace.holds_only_counts()) {
        _ if trace.holds_only_allocations() => calls,
        (0, _) if !trace.allocation_streams().is_empty() => format!("{records} and {calls}"),
        (0, _) => records,
        (_, true) => counts,
        (_, false) => format!("{records} and {counts}"),
    }
}

fn ending(end: Option<&EndInfo>) -> String {
    match end {
        None => "without an end".into(),
        Some(EndInfo {
            signal: Some(signal), ..
        }) => format!("ended by signal {signal}"),
        Some(EndInfo {
            exit_status: Some(status),
            ..
        }) => format!("ended with status {status}"),
        Some(EndInfo { reason, .. }) => format!("ended: {reason}"),
    }
}

fn recording(trace: &Trace) -> Table {
    let start = trace.meta();
    let end = trace.end();
    let command = std::iter::once(&start.program).chain(&start.arguments);
    let command: Vec<String> = command
        .map(|word| shlex::try_quote(word).unwrap_or_default().into())
        .collect();
    let duration = end.map(|end| end.end_monotonic_ns.saturating_sub(start.start_monotonic_ns));
    let mut builder = TableBuilder::new("recording", "Recording", &[()])
        .text("command", |()| command.join(" "))
        .text("working_directory", |()| &start.working_directory)
        .text("host", |()| &start.host)
        .text(("cpu_model", "processor"), |()| &start.cpu_model)
        .text("started", |()| date(start.start_unix_ns))
        .text("duration", |()| duration.map(seconds).unwrap_or("unknown".into()))
        .text("recorded", |()| {
            slice::windows(trace).unwrap_or("as a whole".into())
        })
        .text("ending", |()| ending(end))
        .text(("reason", "recording ended because"), |()| {
            end.map_or("unknown", |end| &end.reason)
        })
        .text(("trackway_version", "recorded by Trackway"), |()| {
            &start.trackway_version
        })
        .text("codec", |()| &start.codec)
        .bytes(("buffer_size", "bytes per buffer"), |()| start.buffer_size)
        .count(("buffer_count", "buffers"), |()| start.buffer_count)
        .count("processes", |()| process_count(trace))
        .bytes(("file_bytes", "bytes of the file"), |()| trace.file_length())
        .count("gaps", |()| trace.gaps().len())
        .count("damaged_parts", |()| trace.damage().len())
        .text("identity", |()| hexadecimal(&trace.identity()))
        .as_record();
    if !start.hardware_events.is_empty() {
        builder = builder.text("hardware_events", |()| start.hardware_events.join(", "));
    }
    builder.build()
}

fn process_count(trace: &Trace) -> u64 {
    let mut numbers: Vec<u32> = trace.processes().iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}

fn date(unix_ns: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_nanos(unix_ns);
    if unix_ns == 0 {
        "unknown".into()
    } else {
        humantime::format_rfc3339_seconds(time).to_string()
    }
}

fn seconds(nanoseconds: u64) -> String {
    format!("{:.3} s", nanoseconds as f64 / 1e9)
}

fn caches(trace: &Trace) -> Table {
    TableBuilder::new("caches", "Caches of the machine", &trace.meta().caches)
        .number("level", |cache| cache.level)
        .bytes(("size_bytes", "size"), |cache| cache.size_bytes)
        .number("ways", |cache| cache.ways)
        .number(("line_bytes", "line"), |cache| cache.line_bytes)
        .number("shared_by", |cache| cache.shared_by)
        .build()
}

fn streams(trace: &Trace) -> Table {
    let gaps = |id: u32| trace.gaps().iter().filter(move |gap| gap.stream == id);
    let begin = trace.meta().start_monotonic_ns;
    let since_begin = |time: Option<u64>| {
        time.filter(|&time| time > 0)
            .map(|time| time.saturating_sub(begin) / 1000)
    };
    TableBuilder::new("streams", "Streams", trace.streams())
        .number("stream", |stream| stream.id)
        .number("process", |stream| stream.process)
        .count("chunks", |stream| stream.chunks.len())
        .bytes("raw_bytes", |stream| ChunkRef::raw_bytes(&stream.chunks))
        .bytes("stored_bytes", |stream| ChunkRef::stored_bytes(&stream.chunks))
        .count(("first_us", "first, µs"), |stream| {
            since_begin(stream.chunks.first().map(|chunk| chunk.header.first_ns))
        })
        .count(("last_us", "last, µs"), |stream| {
            since_begin(stream.chunks.last().map(|chunk| chunk.header.last_ns))
        })
        .count("gaps", |stream| gaps(stream.id).count())
        .count("dropped_buffers", |stream| {
            gaps(stream.id).map(|gap| gap.dropped_buffers).sum::<u64>()
        })
        .build()
}

const KINDS: [(ChunkKind, &str); 15] = [
    (ChunkKind::Start, "start"),
    (ChunkKind::Module, "module"),
    (ChunkKind::Records, "records"),
    (ChunkKind::Counts, "counts"),
    (ChunkKind::Allocations, "allocations"),
    (ChunkKind::OracleSummary, "oracle summary"),
    (ChunkKind::OracleRecords, "oracle records"),
    (ChunkKind::Gap, "gap"),
    (ChunkKind::Process, "process"),
    (ChunkKind::Stacks, "stacks"),
    (ChunkKind::Names, "names"),
    (ChunkKind::Samples, "samples"),
    (ChunkKind::Mappings, "mappings"),
    (ChunkKind::Marks, "marks"),
    (ChunkKind::End, "end"),
];

fn chunks(trace: &Trace) -> Table {
    let kinds: Vec<(ChunkKind, &str)> = KINDS
        .into_iter()
        .filter(|(kind, _)| trace.chunks_of(*kind).next().is_some())
        .collect();
    TableBuilder::new("chunks", "Chunks", &kinds)
        .text("kind", |(_, name)| *name)
        .count("chunks", |(kind, _)| trace.chunks_of(*kind).count())
        .bytes("raw_bytes", |(kind, _)| {
            ChunkRef::raw_bytes(trace.chunks_of(*kind))
        })
        .bytes("stored_bytes", |(kind, _)| {
            ChunkRef::stored_bytes(trace.chunks_of(*kind))
        })
        .build()
}
