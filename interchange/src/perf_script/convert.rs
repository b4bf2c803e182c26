//! Converts the text of `perf script` to a trace of samples.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use trackway_trace::table::{CodeNames, InstructionNames, ObjectNames, OperandName, TableLocation};
use trackway_trace::{
    encode_mappings, AddressClass, ChunkFields, ChunkKind, Codec, DataSource, Direction, EndInfo, Mapping,
    MappingChange, MappingEvent, Protection, Sample, SampledEvent, Samples, SamplingInfo, StartInfo,
    TraceWriter,
};

use super::line::{TextFrame, TextSample};
use crate::import::json;
use crate::perf_data::PerfSummary;
use crate::ImportError;

/// A file counts as text of `perf script` if a sample begins within so many lines.
const LOOKED_AT: usize = 20;
const CHUNK_SAMPLES: usize = 8192;
const PAGE: u64 = 4096;

/// Whether the file's first lines hold a sample of `perf script`.
pub fn is_perf_script(path: &Path) -> bool {
    let is_text = path
        .extension()
        .is_none_or(|extension| extension == "txt" || extension == "script");
    let Some(file) = File::open(path).ok().filter(|_| is_text && path.is_file()) else {
        return false;
    };
    let mut lines = BufReader::new(file).lines().take(LOOKED_AT);
    lines.any(|line| line.is_ok_and(|line| TextSample::parse(&line).is_some()))
}

/// Reads what `perf script` printed and writes its samples as a trace. Instructions have the names that the text gives
/// them.
///
/// # Errors
/// If a line is neither a sample's nor a frame's, or if the trace can't be written.
pub fn import_perf_script(path: &Path, output: &Path, force: bool) -> Result<PerfSummary, ImportError> {
    let mut samples = read(path)?;
    samples.sort_by_key(|sample| sample.time_ns);
    let mut events: Vec<String> = Vec::new();
    let mut summary = PerfSummary::default();
    let converted: Vec<Sample> = samples
        .iter()
        .map(|sample| {
            let event = event_number(&mut events, &sample.event);
            if event == summary.events.len() {
                summary.events.push((sample.event.clone(), 0));
            }
            summary.events[event].1 += 1;
            summary.addressed += u64::from(sample.address != 0);
            converted(event as u32, sample)
        })
        .collect();
    let code = Code::of(&samples);
    let mut writer = TraceWriter::create_when_whole(output, force, Codec::Columns)?;
    let first_ns = samples.first().map_or(0, |sample| sample.time_ns);
    let start = StartInfo {
        trackway_version: env!("CARGO_PKG_VERSION").into(),
        codec: "columns".into(),
        start_monotonic_ns: first_ns,
        pid: samples.first().map_or(0, |sample| sample.pid),
        sampling: Some(SamplingInfo {
            events: events.iter().map(|name| described(name)).collect(),
            ..SamplingInfo::default()
        }),
        ..StartInfo::default()
    };
    writer.write_chunk(&ChunkFields::new(ChunkKind::Start), &json(output, &start)?)?;
    let mappings = encode_mappings(&code.mappings(first_ns));
    writer.write_chunk(&ChunkFields::new(ChunkKind::Mappings), &mappings)?;
    for (sequence, samples) in (0..).zip(converted.chunks(CHUNK_SAMPLES)) {
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Samples)
        };
        let chunk = Samples {
            samples: samples.to_vec(),
            ..Samples::default()
        };
        writer.write_chunk(&fields, &chunk.encode())?;
    }
    writer.write_chunk(&ChunkFields::new(ChunkKind::Names), &code.names().encode())?;
    summary.bytes = writer.bytes_written();
    writer.finish(&EndInfo {
        end_monotonic_ns: samples.last().map_or(0, |sample| sample.time_ns),
        reason: "imported".into(),
        ..EndInfo::default()
    })?;
    Ok(summary)
}

fn read(path: &Path) -> Result<Vec<TextSample>, ImportError> {
    let failed = |action| {
        move |source| ImportError::Io {
            file: path.to_path_buf(),
            action,
            source,
        }
    };
    let file = File::open(path).map_err(failed("open it"))?;
    let mut samples: Vec<TextSample> = Vec::new();
    let mut offset = 0u64;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(failed("read it"))?;
        let text = line.trim_end();
        match (
            TextSample::parse(text),
            TextFrame::parse(text),
            samples.last_mut(),
        ) {
            (Some(sample), ..) => samples.push(sample),
            // Only the first frame is where the sample was taken; the others are its callers.
            (None, Some(frame), Some(sample)) => drop(sample.frame.get_or_insert(frame)),
            _ if text.is_empty() || text.starts_with('#') => {}
            _ => return Err(ImportError::InvalidPerfData {
                file: path.to_path_buf(),
                offset,
                what: "a line that is neither a sample with its time nor a frame; print with perf script -F \
                           comm,pid,tid,cpu,time,period,event,addr,data_src,weight,ip,sym,dso"
                    .into(),
            }),
        }
        offset += line.len() as u64 + 1;
    }
    Ok(samples)
}

fn event_number(events: &mut Vec<String>, name: &str) -> usize {
    let found = events.iter().position(|event| event == name);
    found.unwrap_or_else(|| {
        events.push(name.to_owned());
        events.len() - 1
    })
}

fn described(name: &str) -> SampledEvent {
    let is_clock = name.starts_with("cpu-clock") || name.starts_with("task-clock");
    SampledEvent {
        name: name.to_owned(),
        source: "perf".into(),
        weight_unit: if is_clock { "ns" } else { "events" }.into(),
    }
}

fn converted(event: u32, sample: &TextSample) -> Sample {
    let source = DataSource(sample.data_source);
    let instruction = sample.frame.as_ref().map_or(0, |frame| frame.instruction);
    let address = Some(sample.address).filter(|address| *address != 0);
    let says = |word: &str| sample.event.contains(word);
    Sample {
        time_ns: sample.time_ns,
        pid: sample.pid,
        tid: sample.tid,
        processor: sample.processor,
        event,
        seen_at: instruction,
        instruction: if address.is_some() { instruction } else { 0 },
        direction: match (source.loads(), source.stores()) {
            (Some(true), Some(true)) => Direction::Both,
            (Some(true), _) => Direction::Load,
            (_, Some(true)) => Direction::Store,
            _ if says("mem-loads") => Direction::Load,
            _ if says("mem-stores") => Direction::Store,
            _ => Direction::Unknown,
        },
        address,
        class: match address {
            Some(_) => AddressClass::Exact,
            None => AddressClass::None,
        },
        latency_cycles: sample.latency_cycles,
        data_source: source,
        weight: sample.period,
        ..Sample::default()
    }
}

/// The objects that frames name: where their instructions were, and what these are called. The text doesn't contain the
/// address at which an object was loaded. So offsets count from the page of its first instruction in the process.
struct Code<'s> {
    /// The first and the last instruction, by process and path.
    ranges: BTreeMap<(u32, &'s str), (u64, u64)>,
    symbols: HashMap<(&'s str, u64), &'s str>,
}

impl<'s> Code<'s> {
    fn of(samples: &'s [TextSample]) -> Self {
        let mut ranges: BTreeMap<(u32, &str), (u64, u64)> = BTreeMap::new();
        let frames = || {
            samples
                .iter()
                .filter_map(|sample| Some((sample, sample.frame.as_ref()?)))
        };
        for (sample, frame) in frames() {
            let at = frame.instruction;
            let range = ranges.entry((sample.pid, &frame.object)).or_insert((at, at));
            *range = (range.0.min(at), range.1.max(at));
        }
        let symbols = frames()
            .map(|(sample, frame)| {
                let object = frame.object.as_str();
                let begin = ranges[&(sample.pid, object)].0 / PAGE * PAGE;
                ((object, frame.instruction - begin), frame.symbol.as_str())
            })
            .collect();
        Code { ranges, symbols }
    }

    fn mappings(&self, time_ns: u64) -> Vec<MappingEvent> {
        let mapped = self.ranges.iter().map(|((pid, object), (first, last))| {
            let start = first / PAGE * PAGE;
            let mapping = Mapping {
                start,
                length: (last - start + 1).next_multiple_of(PAGE),
                protection: Protection {
                    readable: true,
                    executable: true,
                    ..Protection::default()
                },
                path: (*object).to_owned(),
                load_address: start.max(1),
                ..Mapping::default()
            };
            MappingEvent {
                time_ns,
                pid: *pid,
                change: MappingChange::Mapped(mapping),
            }
        });
        mapped.collect()
    }

    fn names(&self) -> CodeNames {
        let mut names = CodeNames {
            strings: vec![String::new()],
            locations: vec![TableLocation::default()],
            operands: vec![OperandName::default()],
            ..CodeNames::default()
        };
        let mut functions: HashMap<&str, u32> = HashMap::new();
        let mut objects: BTreeMap<&str, BTreeMap<u64, u32>> = BTreeMap::new();
        for ((object, offset), symbol) in self.symbols.iter().filter(|(_, symbol)| !symbol.is_empty()) {
            let location = *functions.entry(symbol).or_insert_with(|| {
                names.strings.push((*symbol).to_owned());
                names.locations.push(TableLocation {
                    function: names.strings.len() as u32 - 1,
                    ..TableLocation::default()
                });
                names.locations.len() as u32 - 1
            });
            objects.entry(object).or_default().insert(*offset, location);
        }
        for (object, instructions) in objects {
            names.strings.push(object.to_owned());
            let named = |(offset, location)| InstructionNames {
                offset,
                location,
                ..InstructionNames::default()
            };
            names.objects.push(ObjectNames {
                path: names.strings.len() as u32 - 1,
                instructions: instructions.into_iter().map(named).collect(),
            });
        }
        names
    }
}
