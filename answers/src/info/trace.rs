//! What a trace holds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use trackway_report::{counted, Report, Table, TableBuilder, Unit};
use trackway_trace::{ChunkKind, EndInfo, FunctionId, Program, Stream, Trace};

use super::{allocations, counts, instrumentation};
use crate::failure::Failure;
use crate::soundness;

pub fn describe(path: &Path) -> Result<Report, Failure> {
    Ok(report(&Trace::open(path)?))
}

pub fn report(trace: &Trace) -> Report {
    let mut tables = vec![recording(trace), caches(trace), streams(trace)];
    tables.extend(counts::nodes(trace));
    tables.extend(allocations::tables(trace));
    tables.push(chunks(trace));
    tables.push(instrumentation::coverage(trace.program()));
    tables.push(instrumentation::modules(trace.program()));
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
        .text("object", "object", |(object, _)| program.function_name(*object))
        .integer("instructions", "instructions", Unit::Count, |(_, counts)| {
            counts.0
        })
        .integer("blocks", "basic blocks", Unit::Count, |(_, counts)| counts.1)
        .build();
    Some(table)
}

fn content(trace: &Trace) -> String {
    let records: u64 = trace.streams().iter().map(raw_bytes).sum();
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
        .text("command", "command", |()| command.join(" "))
        .text("working_directory", "working directory", |()| {
            &start.working_directory
        })
        .text("host", "host", |()| &start.host)
        .text("cpu_model", "processor", |()| &start.cpu_model)
        .text("started", "started", |()| date(start.start_unix_ns))
        .text("duration", "duration", |()| {
            duration.map(seconds).unwrap_or("unknown".into())
        })
        .text("ending", "ending", |()| ending(end))
        .text("reason", "recording ended because", |()| {
            end.map_or("unknown", |end| &end.reason)
        })
        .text("trackway_version", "recorded by Trackway", |()| {
            &start.trackway_version
        })
        .text("codec", "codec", |()| &start.codec)
        .integer("buffer_size", "bytes per buffer", Unit::Bytes, |()| {
            start.buffer_size.into()
        })
        .integer("buffer_count", "buffers", Unit::Count, |()| {
            start.buffer_count.into()
        })
        .integer("processes", "processes", Unit::Count, |()| process_count(trace))
        .integer("file_bytes", "bytes of the file", Unit::Bytes, |()| {
            trace.file_length()
        })
        .integer("gaps", "gaps", Unit::Count, |()| trace.gaps().len() as u64)
        .integer("damaged_parts", "damaged parts", Unit::Count, |()| {
            trace.damage().len() as u64
        })
        .text("identity", "identity", |()| hexadecimal(trace.identity()))
        .as_record();
    if !start.hardware_events.is_empty() {
        builder = builder.text("hardware_events", "hardware events", |()| {
            start.hardware_events.join(", ")
        });
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

fn hexadecimal(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn caches(trace: &Trace) -> Table {
    TableBuilder::new("caches", "Caches of the machine", &trace.meta().caches)
        .integer("level", "level", Unit::Number, |cache| cache.level.into())
        .integer("size_bytes", "size", Unit::Bytes, |cache| cache.size_bytes)
        .integer("ways", "ways", Unit::Number, |cache| cache.ways.into())
        .integer("line_bytes", "line", Unit::Number, |cache| {
            cache.line_bytes.into()
        })
        .integer("shared_by", "shared by", Unit::Number, |cache| {
            cache.shared_by.into()
        })
        .build()
}

fn raw_bytes(stream: &Stream) -> u64 {
    stream
        .chunks
        .iter()
        .map(|chunk| u64::from(chunk.header.raw_length))
        .sum()
}

fn streams(trace: &Trace) -> Table {
    let stored = |stream: &Stream| {
        stream
            .chunks
            .iter()
            .map(|chunk| u64::from(chunk.header.stored_length))
            .sum()
    };
    let gaps = |id: u32| trace.gaps().iter().filter(move |gap| gap.stream == id);
    let begin = trace.meta().start_monotonic_ns;
    let since_begin = |time: Option<u64>| {
        time.filter(|&time| time > 0)
            .map(|time| time.saturating_sub(begin) / 1000)
    };
    TableBuilder::new("streams", "Streams", trace.streams())
        .integer("stream", "stream", Unit::Number, |stream| stream.id.into())
        .integer("process", "process", Unit::Number, |stream| stream.process.into())
        .integer("chunks", "chunks", Unit::Count, |stream| {
            stream.chunks.len() as u64
        })
        .integer("raw_bytes", "raw bytes", Unit::Bytes, raw_bytes)
        .integer("stored_bytes", "stored bytes", Unit::Bytes, stored)
        .optional_integer("first_us", "first, µs", Unit::Count, |stream| {
            since_begin(stream.chunks.first().map(|chunk| chunk.header.first_ns))
        })
        .optional_integer("last_us", "last, µs", Unit::Count, |stream| {
            since_begin(stream.chunks.last().map(|chunk| chunk.header.last_ns))
        })
        .integer("gaps", "gaps", Unit::Count, |stream| {
            gaps(stream.id).count() as u64
        })
        .integer("dropped_buffers", "dropped buffers", Unit::Count, |stream| {
            gaps(stream.id).map(|gap| gap.dropped_buffers).sum()
        })
        .build()
}

const KINDS: [(ChunkKind, &str); 13] = [
    (ChunkKind::Start, "start"),
    (ChunkKind::Module, "module"),
    (ChunkKind::Records, "records"),
    (ChunkKind::Counts, "counts"),
    (ChunkKind::Allocations, "allocations"),
    (ChunkKind::OracleSummary, "oracle summary"),
    (ChunkKind::OracleRecords, "oracle records"),
    (ChunkKind::Gap, "gap"),
    (ChunkKind::Process, "process"),
    (ChunkKind::Names, "names"),
    (ChunkKind::Samples, "samples"),
    (ChunkKind::Mappings, "mappings"),
    (ChunkKind::End, "end"),
];

fn chunks(trace: &Trace) -> Table {
    let kinds: Vec<(ChunkKind, &str)> = KINDS
        .into_iter()
        .filter(|(kind, _)| trace.chunks_of(*kind).next().is_some())
        .collect();
    TableBuilder::new("chunks", "Chunks", &kinds)
        .text("kind", "kind", |(_, name)| *name)
        .integer("chunks", "chunks", Unit::Count, |(kind, _)| {
            trace.chunks_of(*kind).count() as u64
        })
        .integer("raw_bytes", "raw bytes", Unit::Bytes, |(kind, _)| {
            trace
                .chunks_of(*kind)
                .map(|chunk| u64::from(chunk.header.raw_length))
                .sum()
        })
        .integer("stored_bytes", "stored bytes", Unit::Bytes, |(kind, _)| {
            trace
                .chunks_of(*kind)
                .map(|chunk| u64::from(chunk.header.stored_length))
                .sum()
        })
        .build()
}
