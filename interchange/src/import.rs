//! Converts a foreign trace to a Trackway trace, in two passes. The first one finds the basic blocks, and the second
//! one writes what was executed. So memory holds the code, but not the trace.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use trackway_trace::machine::{BuiltCode, CodeBuilder};
use trackway_trace::{
    encode_module, ChunkFields, ChunkKind, Codec, EndInfo, ProcessEvent, ProcessInfo, StartInfo, TraceError,
    TraceWriter,
};

use crate::blocks::{Assembler, Catalogue, Executed, Shape};
use crate::drmemtrace::{self, LoadedObjects, Thread, ThreadStep};
use crate::places::Places;
use crate::streams::StreamRecords;
use crate::ImportError;

/// Id of the first block.
const FIRST_SEGMENT: u32 = 1;
/// Ids are below 2^24, and 0 is none.
const MAX_BLOCKS: usize = (1 << 24) - 1;

/// What to import, and where to.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Files, or folders of them.
    pub traces: Vec<PathBuf>,
    /// The trace to write.
    pub output: PathBuf,
    /// Replace an existing file.
    pub force: bool,
    /// Which files were loaded where (modules.log); else what is found beside the traces.
    pub modules: Option<PathBuf>,
}

/// What was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// Threads in the order of their streams.
    pub threads: Vec<ThreadSummary>,
    /// Basic blocks; those with different accesses count separately.
    pub blocks: u64,
    /// Files that code came from.
    pub objects: u64,
    /// Prefetches and flushes of caches. They are no accesses, so they are left out.
    pub hints: u64,
    /// Accesses of unknown size, which are taken as accesses of 1 byte.
    pub unknown_sizes: u64,
    /// Bytes of the written trace.
    pub bytes: u64,
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSummary {
    pub thread: Thread,
    /// Instructions that were fetched.
    pub instructions: u64,
    /// Further iterations of repeated instructions.
    pub repetitions: u64,
    pub loads: u64,
    pub stores: u64,
}

/// Reads a drmemtrace trace and writes it as a Trackway trace.
pub fn import(options: &ImportOptions) -> Result<ImportSummary, ImportError> {
    let files = drmemtrace::trace_files(&options.traces)?;
    let mut survey = Survey {
        objects: LoadedObjects::find(&options.traces, options.modules.as_deref())?,
        ..Survey::default()
    };
    for file in &files {
        survey.read(file)?;
    }
    let first_file = files.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
    let code = survey.code(first_file)?;
    let mut output = Output::create(options, &survey, first_file, &code)?;
    for file in &files {
        output.read(file, &survey, &code)?;
    }
    let bytes = output.finish()?;
    Ok(ImportSummary {
        threads: survey.threads,
        blocks: survey.catalogue.len() as u64,
        objects: code.load_addresses.len() as u64,
        hints: survey.hints,
        unknown_sizes: survey.unknown_sizes,
        bytes,
    })
}

/// The first pass: code and threads.
#[derive(Default)]
struct Survey {
    catalogue: Catalogue,
    threads: Vec<ThreadSummary>,
    number_of_thread: HashMap<Thread, usize>,
    hints: u64,
    unknown_sizes: u64,
    /// The earliest time, nanoseconds since 1970-01-01 UTC.
    first_ns: Option<u64>,
    latest_ns: u64,
    definitions: Vec<Shape>,
    objects: LoadedObjects,
}

/// The table of the code, and where its objects were loaded.
struct ImportedCode {
    built: BuiltCode,
    /// Addresses in the order of the table's symbols.
    load_addresses: Vec<u64>,
}

impl Survey {
    fn read(&mut self, file: &Path) -> Result<(), ImportError> {
        let mut assemblers = BTreeMap::new();
        let objects = std::mem::take(&mut self.objects);
        drmemtrace::read(file, &mut |thread, step| {
            self.count(thread, step);
            let assembler: &mut Assembler = assemblers.entry(thread).or_default();
            assemble(file, &objects, assembler, step, &mut |shape, _| {
                self.note(shape);
                Ok(())
            })
        })?;
        self.objects = objects;
        for assembler in assemblers.values() {
            if let Some((shape, _)) = assembler.block() {
                self.note(shape);
            }
        }
        Ok(())
    }

    fn note(&mut self, shape: &Shape) {
        if self.catalogue.insert(shape) {
            self.definitions.push(shape.clone());
        }
    }

    fn count(&mut self, thread: Thread, step: ThreadStep) {
        let threads = &mut self.threads;
        let number = *self.number_of_thread.entry(thread).or_insert_with(|| {
            threads.push(ThreadSummary {
                thread,
                ..ThreadSummary::default()
            });
            threads.len() - 1
        });
        self.unknown_sizes += u64::from(matches!(step, ThreadStep::Access { size: 0, .. }));
        let counts = &mut self.threads[number];
        match step {
            ThreadStep::Instruction { kind, .. } if kind.is_fetched() => counts.instructions += 1,
            ThreadStep::Instruction { .. } => counts.repetitions += 1,
            ThreadStep::Access { write: true, .. } => counts.stores += 1,
            ThreadStep::Access { write: false, .. } => counts.loads += 1,
            ThreadStep::Hint => self.hints += 1,
            ThreadStep::Time(ns) => {
                self.first_ns = Some(self.first_ns.map_or(ns, |first| first.min(ns)));
                self.latest_ns = self.latest_ns.max(ns);
            }
            ThreadStep::Interruption => {}
        }
    }

    fn code(&mut self, file: &Path) -> Result<ImportedCode, ImportError> {
        let blocks = self.definitions.len();
        if blocks > MAX_BLOCKS {
            return Err(ImportError::TooManyBlocks {
                file: file.to_path_buf(),
                blocks,
                limit: MAX_BLOCKS,
            });
        }
        let mut builder = CodeBuilder::new("drmemtrace");
        let mut places = Places::default();
        for shape in std::mem::take(&mut self.definitions) {
            let (object, extent) = places.of_block(&shape, &self.objects, &mut builder);
            builder
                .add(&shape.definition(object, &extent))
                .map_err(|source| ImportError::Block {
                    file: file.to_path_buf(),
                    source,
                })?;
        }
        Ok(ImportedCode {
            built: builder.finish(),
            load_addresses: places.load_addresses,
        })
    }

    /// Processes in the order of their threads.
    fn processes(&self) -> Vec<u64> {
        let mut processes = Vec::new();
        for thread in &self.threads {
            if !processes.contains(&thread.thread.process) {
                processes.push(thread.thread.process);
            }
        }
        processes
    }
}

/// Gets a block that was executed, and its roots.
type TakeBlock<'t> = &'t mut dyn FnMut(&Shape, &[u64]) -> Result<(), ImportError>;

/// Adds a step to its thread's block; `take` gets the blocks that end with it.
fn assemble(
    file: &Path,
    objects: &LoadedObjects,
    assembler: &mut Assembler,
    step: ThreadStep,
    take: TakeBlock<'_>,
) -> Result<(), ImportError> {
    let mut end_block = |assembler: &mut Assembler| {
        if let Some((shape, roots)) = assembler.block() {
            take(shape, roots)?;
        }
        assembler.clear();
        Ok::<(), ImportError>(())
    };
    match step {
        ThreadStep::Instruction {
            address,
            length,
            kind,
            target,
        } => {
            let executed = Executed {
                address,
                length,
                kind,
                target,
            };
            if !assembler.continues(&executed) {
                end_block(assembler)?;
            }
            assembler.instruction(&executed, || objects.at(address).1);
        }
        ThreadStep::Access { write, address, size } => {
            if !assembler.access(write, size, address) {
                return Err(ImportError::Unsupported {
                    file: file.to_path_buf(),
                    what: format!(
                        "the access to {address:#x} has no instruction, or one of too many accesses"
                    ),
                });
            }
        }
        ThreadStep::Interruption => end_block(assembler)?,
        ThreadStep::Hint | ThreadStep::Time(_) => {}
    }
    Ok(())
}

/// The second pass: the trace.
struct Output {
    path: PathBuf,
    writer: TraceWriter,
    streams: HashMap<Thread, StreamRecords>,
    /// System's numbers of the processes, in the order of those in the trace.
    processes: Vec<u64>,
    latest_ns: u64,
}

impl Output {
    fn create(
        options: &ImportOptions,
        survey: &Survey,
        first_file: &Path,
        code: &ImportedCode,
    ) -> Result<Output, ImportError> {
        let processes = survey.processes();
        let mut writer = TraceWriter::create_when_whole(&options.output, options.force, Codec::Columns)?;
        let first_ns = survey.first_ns.unwrap_or(0);
        let start = StartInfo {
            program: drmemtrace::application_of(first_file).unwrap_or_default(),
            trackway_version: env!("CARGO_PKG_VERSION").into(),
            codec: "columns".into(),
            start_unix_ns: first_ns,
            start_monotonic_ns: first_ns,
            pid: processes.first().map_or(0, |pid| *pid as u32),
            ..StartInfo::default()
        };
        writer.write_chunk(
            &ChunkFields::new(ChunkKind::Start),
            &json(&options.output, &start)?,
        )?;
        let streams = survey.threads.iter().enumerate().map(|(number, counts)| {
            let process = processes.iter().position(|pid| *pid == counts.thread.process);
            let records = StreamRecords::new(number as u32, process.unwrap_or(0) as u32);
            (counts.thread, records)
        });
        let mut output = Output {
            path: options.output.clone(),
            streams: streams.collect(),
            writer,
            processes,
            latest_ns: survey.latest_ns,
        };
        output.write_processes(ProcessEvent::Start, first_ns)?;
        let module = encode_module(FIRST_SEGMENT, 0, &code.load_addresses, &code.built.table);
        output
            .writer
            .write_chunk(&ChunkFields::new(ChunkKind::Module), &module)?;
        Ok(output)
    }

    fn write_processes(&mut self, event: ProcessEvent, monotonic_ns: u64) -> Result<(), TraceError> {
        let before = match event {
            ProcessEvent::Start => 0,
            ProcessEvent::Exit => self.processes.len() as u64,
        };
        for (number, pid) in self.processes.iter().enumerate() {
            let info = ProcessInfo {
                pid: *pid as u32,
                parent: None,
                event,
                exit_status: None,
                signal: None,
                monotonic_ns,
            };
            let fields = ChunkFields {
                process: number as u32,
                sequence: before + number as u64,
                ..ChunkFields::new(ChunkKind::Process)
            };
            self.writer.write_chunk(&fields, &json(&self.path, &info)?)?;
        }
        Ok(())
    }

    fn read(&mut self, file: &Path, survey: &Survey, code: &ImportedCode) -> Result<(), ImportError> {
        let changed = || ImportError::Changed {
            file: file.to_path_buf(),
        };
        let segment = |shape: &Shape| {
            let number = survey.catalogue.number(shape).ok_or_else(changed)?;
            Ok::<u32, ImportError>(FIRST_SEGMENT + code.built.segments[number as usize])
        };
        let mut assemblers: BTreeMap<Thread, Assembler> = BTreeMap::new();
        drmemtrace::read(file, &mut |thread, step| {
            let stream = self.streams.get_mut(&thread).ok_or_else(changed)?;
            if let ThreadStep::Time(ns) = step {
                stream.time(ns, &mut self.writer)?;
            }
            assemble(
                file,
                &survey.objects,
                assemblers.entry(thread).or_default(),
                step,
                &mut |shape, roots| Ok(stream.record(segment(shape)?, roots, &mut self.writer)?),
            )
        })?;
        for (thread, assembler) in assemblers {
            let stream = self.streams.get_mut(&thread).ok_or_else(changed)?;
            if let Some((shape, roots)) = assembler.block() {
                stream.record(segment(shape)?, roots, &mut self.writer)?;
            }
            stream.flush(&mut self.writer)?;
        }
        Ok(())
    }

    /// Bytes of the trace.
    fn finish(mut self) -> Result<u64, ImportError> {
        self.write_processes(ProcessEvent::Exit, self.latest_ns)?;
        let end = EndInfo {
            end_monotonic_ns: self.latest_ns,
            streams: self.streams.len() as u64,
            record_bytes: self.streams.values().map(|stream| stream.bytes).sum(),
            reason: "imported".into(),
            ..EndInfo::default()
        };
        let bytes = self.writer.bytes_written();
        self.writer.finish(&end)?;
        Ok(bytes)
    }
}

pub(crate) fn json(file: &Path, info: &impl serde::Serialize) -> Result<Vec<u8>, TraceError> {
    serde_json::to_vec(info).map_err(|source| TraceError::BadInfo {
        file: file.to_path_buf(),
        offset: 0,
        source,
    })
}
