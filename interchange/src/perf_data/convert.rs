//! Converts a file of `perf record` to a trace of samples.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use trackway_names::{resolve, ExecutedCode};
use trackway_perf_records::{parse, AddressSpaces, PerfSample, Record};
use trackway_trace::{
    encode_mappings, AddressClass, ChunkFields, ChunkKind, Codec, DataSource, Direction, EndInfo, Sample,
    Samples, SamplingInfo, StartInfo, TraceWriter,
};

use super::events::FileEvent;
use super::file::PerfData;
use crate::import::json;
use crate::ImportError;

/// Samples of a chunk.
const CHUNK_SAMPLES: usize = 8192;
/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;

/// What was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerfSummary {
    /// Names of the events, and how many samples there are of each.
    pub events: Vec<(String, u64)>,
    /// Samples whose data address is known.
    pub addressed: u64,
    /// Samples that the file says were lost.
    pub lost: u64,
    /// Samples in the kernel, which are left out.
    pub in_kernel: u64,
    /// Bytes that a processor wrote by itself (AUXTRACE), which are left out.
    pub by_processor_bytes: u64,
    /// Bytes of the written trace.
    pub bytes: u64,
}

/// Reads a file of `perf record` and writes its samples as a trace. Code is named by the objects' files on this
/// machine.
///
/// # Errors
/// If the file isn't one of `perf record`, is damaged, or holds compressed records; or if the trace can't be written.
pub fn import_perf_data(path: &Path, output: &Path, force: bool) -> Result<PerfSummary, ImportError> {
    let data = PerfData::read(path)?;
    let (mut records, by_processor_bytes) = records(&data)?;
    records.sort_by_key(|(_, record)| time_of(record));
    let mut gathered = Gathered::new(&data);
    gathered.summary.by_processor_bytes = by_processor_bytes;
    for (event, record) in records {
        gathered.add(event, record);
    }
    gathered.write(output, force)
}

/// The records of interest with their events, and how many bytes processors wrote by themselves.
type Read = (Vec<(usize, Record)>, u64);

fn records(data: &PerfData) -> Result<Read, ImportError> {
    const SAMPLE: u32 = 9;
    let (mut records, mut by_processor_bytes) = (Vec::new(), 0u64);
    data.each(|offset, header, bytes| {
        by_processor_bytes = by_processor_bytes.saturating_add(PerfData::block_length(header, bytes));
        if PerfData::is_perfs(header) {
            return Ok(());
        }
        let event = match header.kind {
            SAMPLE => data.event_of_sample(bytes),
            _ => 0,
        };
        let Some(record) = parse(bytes, &data.events[event].layout) else {
            return Err(data.invalid(offset, "a record that is shorter than its fields".into()));
        };
        let event = match &record {
            Record::Sample(sample) if data.events[0].has_id() => data.event_of(sample.id),
            _ => event,
        };
        match record {
            Record::Other => {}
            record => records.push((event, record)),
        }
        Ok(())
    })?;
    Ok((records, by_processor_bytes))
}

struct Gathered<'d> {
    events: &'d [FileEvent],
    spaces: AddressSpaces,
    samples: Vec<Sample>,
    code: HashMap<PathBuf, Vec<u64>>,
    summary: PerfSummary,
}

impl<'d> Gathered<'d> {
    fn new(data: &'d PerfData) -> Self {
        let names = data.events.iter().map(|event| (event.described.name.clone(), 0));
        Gathered {
            events: &data.events,
            spaces: AddressSpaces::default(),
            samples: Vec::new(),
            code: HashMap::new(),
            summary: PerfSummary {
                events: names.collect(),
                ..PerfSummary::default()
            },
        }
    }

    fn add(&mut self, event: usize, record: Record) {
        match record {
            Record::Sample(sample) if sample.instruction >= KERNEL => self.summary.in_kernel += 1,
            Record::Sample(sample) => self.add_sample(event, &sample),
            // The kernel's own memory.
            Record::Mapped(mapped) if mapped.start >= KERNEL => {}
            Record::Mapped(mapped) => self.spaces.map(mapped),
            Record::Forked { pid, parent, time_ns } => self.spaces.fork(pid, parent, time_ns),
            Record::Executed { pid, name, time_ns } => self.spaces.execute(pid, name, time_ns),
            Record::Lost { count } => self.summary.lost += count,
            Record::Other => {}
        }
    }

    fn add_sample(&mut self, event: usize, sample: &PerfSample) {
        self.summary.events[event].1 += 1;
        let converted = converted(event as u32, &self.events[event], sample);
        self.summary.addressed += u64::from(converted.address.is_some());
        let mapping = self.spaces.mapping(sample.pid, sample.instruction);
        if let Some((mapping, offset)) =
            mapping.and_then(|mapping| Some((mapping, mapping.object_offset(sample.instruction)?)))
        {
            self.code
                .entry(PathBuf::from(&mapping.path))
                .or_default()
                .push(offset);
        }
        self.samples.push(converted);
    }

    fn write(mut self, output: &Path, force: bool) -> Result<PerfSummary, ImportError> {
        let mut writer = TraceWriter::create_when_whole(output, force, Codec::Columns)?;
        let (first_ns, last_ns) = match (self.samples.first(), self.samples.last()) {
            (Some(first), Some(last)) => (first.time_ns, last.time_ns),
            _ => (0, 0),
        };
        let start = StartInfo {
            program: self.program(),
            trackway_version: env!("CARGO_PKG_VERSION").into(),
            codec: "columns".into(),
            start_monotonic_ns: first_ns,
            pid: self.samples.first().map_or(0, |sample| sample.pid),
            sampling: Some(SamplingInfo {
                events: self.events.iter().map(|event| event.described.clone()).collect(),
                ..SamplingInfo::default()
            }),
            ..StartInfo::default()
        };
        writer.write_chunk(&ChunkFields::new(ChunkKind::Start), &json(output, &start)?)?;
        let mappings = encode_mappings(&self.spaces.take_changes());
        writer.write_chunk(&ChunkFields::new(ChunkKind::Mappings), &mappings)?;
        self.write_samples(&mut writer)?;
        let names = resolve(&self.executed(), |_| ()).encode();
        writer.write_chunk(&ChunkFields::new(ChunkKind::Names), &names)?;
        self.summary.bytes = writer.bytes_written();
        writer.finish(&EndInfo {
            end_monotonic_ns: last_ns,
            reason: "imported".into(),
            ..EndInfo::default()
        })?;
        Ok(self.summary)
    }

    fn write_samples(&mut self, writer: &mut TraceWriter) -> Result<(), ImportError> {
        let mut lost = self.summary.lost;
        for (sequence, samples) in (0..).zip(self.samples.chunks(CHUNK_SAMPLES)) {
            let fields = ChunkFields {
                sequence,
                first_ns: samples.first().map_or(0, |sample| sample.time_ns),
                last_ns: samples.last().map_or(0, |sample| sample.time_ns),
                ..ChunkFields::new(ChunkKind::Samples)
            };
            let chunk = Samples {
                lost: std::mem::take(&mut lost),
                samples: samples.to_vec(),
                window: Vec::new(),
            };
            writer.write_chunk(&fields, &chunk.encode())?;
        }
        Ok(())
    }

    /// The object in which most samples are.
    fn program(&self) -> String {
        let most = self.code.iter().max_by_key(|(_, offsets)| offsets.len());
        most.map_or(String::new(), |(path, _)| path.display().to_string())
    }

    fn executed(&self) -> ExecutedCode {
        let mut code = ExecutedCode::default();
        for (path, offsets) in &self.code {
            for offset in offsets {
                code.add(&path.to_string_lossy(), [*offset].into_iter());
            }
        }
        code
    }
}

fn converted(event: u32, described: &FileEvent, sample: &PerfSample) -> Sample {
    let source = DataSource(sample.data_source);
    let address = Some(sample.address).filter(|address| *address != 0);
    let is_exact = sample.is_exact || described.is_precise || address.is_some();
    Sample {
        time_ns: sample.time_ns,
        pid: sample.pid,
        tid: sample.tid,
        processor: sample.processor,
        event,
        seen_at: sample.instruction,
        // It is unknown where samples of the clock fall on the machine that took them.
        instruction: if is_exact { sample.instruction } else { 0 },
        direction: match (source.loads(), source.stores()) {
            (Some(true), Some(true)) => Direction::Both,
            (Some(true), _) => Direction::Load,
            (_, Some(true)) => Direction::Store,
            _ => Direction::Unknown,
        },
        address,
        class: match address {
            Some(_) => AddressClass::Exact,
            None => AddressClass::None,
        },
        latency_cycles: sample.latency_cycles,
        data_source: source,
        physical_address: sample.physical_address,
        weight: sample.period.max(1),
        ..Sample::default()
    }
}

fn time_of(record: &Record) -> u64 {
    match record {
        Record::Sample(sample) => sample.time_ns,
        Record::Mapped(mapped) => mapped.time_ns,
        Record::Forked { time_ns, .. } | Record::Executed { time_ns, .. } => *time_ns,
        Record::Lost { .. } | Record::Other => 0,
    }
}
