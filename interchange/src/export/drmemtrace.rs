//! Traces in the final form of DynamoRIO's drmemtrace: a folder with a file for each thread.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use flate2::Compression;
use trackway_trace::{Existing, InstructionKind, OutputFile, Stream, Trace, TraceError};

use super::walk::{export, thread_ids, Exported, ThreadId, Walk};
use super::{Access, Executed, ExportError, Format};
use crate::drmemtrace::{file_type, kind, marker, Entry, EPOCH_MICROSECONDS};

/// The version whose rules are kept: branches say whether they were taken.
const VERSION: u64 = 5;
const CACHE_LINE: u64 = 64;
const PAGE: u64 = 4096;
/// Entries say sizes in 16 bits: longer accesses become several of at most this many bytes.
const LONGEST: u64 = 1 << 15;
/// Value by which drmemtrace says that the processor is unknown.
const UNKNOWN_PROCESSOR: u64 = u64::MAX;
/// Size that entries of threads and processes have.
const ID_SIZE: u16 = 4;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrmemtraceSummary {
    pub files: u64,
    /// Accesses too long for one entry.
    pub split: u64,
    pub exported: Exported,
}

/// Writes the trace, or one of its threads, into the folder, one file for each thread.
pub fn export_drmemtrace(
    trace: &Trace,
    only: Option<&Stream>,
    folder: &Path,
    force: bool,
    progress: &dyn Fn(u64, u64),
    damage: &mut dyn FnMut(&TraceError),
) -> Result<DrmemtraceSummary, ExportError> {
    let threads = thread_ids(trace);
    let chosen: Vec<(&Stream, ThreadId)> = trace
        .streams()
        .iter()
        .zip(threads)
        .filter(|(stream, _)| only.is_none_or(|only| only.id == stream.id))
        .collect();
    let name = program_name(trace);
    let path_of = |id: &ThreadId| {
        folder.join(format!(
            "drmemtrace.{name}.{:05}.{:04}.trace.gz",
            id.thread, id.stream
        ))
    };
    let paths: Vec<PathBuf> = chosen.iter().map(|(_, id)| path_of(id)).collect();
    prepare(folder, force, &paths)?;
    let mut summary = DrmemtraceSummary::default();
    for ((stream, id), path) in chosen.iter().zip(&paths) {
        let mut written = || -> io::Result<(u64, Exported)> {
            let mut entries = Entries::create(path, force, *id, clock_offset(trace))?;
            let walk = Walk {
                trace,
                stream: Some(stream),
                progress,
                damage: &mut *damage,
            };
            let exported = export(walk, &mut entries)?;
            let split = entries.finish(stream.chunks.last().map(|chunk| chunk.header.last_ns))?;
            Ok((split, exported))
        };
        let (split, exported) = written().map_err(|source| ExportError::Io {
            file: path.clone(),
            action: "write the file",
            source,
        })?;
        summary.split += split;
        summary.exported.add(exported);
        summary.files += 1;
    }
    Ok(summary)
}

/// The program's name in names of files.
fn program_name(trace: &Trace) -> String {
    let program = trace.meta().program.rsplit('/').next().unwrap_or_default();
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
    let name: String = program
        .chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect();
    match name.is_empty() {
        true => "program".into(),
        false => name,
    }
}

/// Prepares the folder. A reader takes all of its files as one trace, so a file that stays there would be part of it.
fn prepare(folder: &Path, force: bool, paths: &[PathBuf]) -> Result<(), ExportError> {
    let failed = |action| {
        move |source| ExportError::Io {
            file: folder.to_path_buf(),
            action,
            source,
        }
    };
    if !folder.exists() {
        let create = std::fs::DirBuilder::new().mode(0o700).create(folder);
        return create.map_err(failed("create the folder"));
    }
    let unfit = |what: String| ExportError::Unfit {
        file: folder.to_path_buf(),
        what,
    };
    if !force {
        return Err(unfit("exists already; replace it with -f".into()));
    }
    for entry in std::fs::read_dir(folder).map_err(failed("read the folder"))? {
        let path = entry.map_err(failed("read the folder"))?.path();
        if !paths.contains(&path) {
            return Err(unfit(format!(
                "it holds {}, which is no part of this trace; choose another folder",
                path.file_name().unwrap_or_default().to_string_lossy()
            )));
        }
    }
    Ok(())
}

/// Nanoseconds to add to the trace's times to have those since 1970; imported traces have these already.
fn clock_offset(trace: &Trace) -> i128 {
    let meta = trace.meta();
    i128::from(meta.start_unix_ns) - i128::from(meta.start_monotonic_ns)
}

/// The entries of one thread.
struct Entries {
    output: BufWriter<GzEncoder<OutputFile>>,
    clock_offset: i128,
    latest_ns: Option<u64>,
    /// Accesses too long for one entry.
    split: u64,
    thread: u64,
}

impl Entries {
    fn create(path: &Path, force: bool, id: ThreadId, clock_offset: i128) -> io::Result<Entries> {
        let file = OutputFile::create(path, Existing::with_force(force)).map_err(io::Error::other)?;
        let encoder = GzEncoder::new(file, Compression::fast());
        let mut entries = Entries {
            output: BufWriter::with_capacity(1 << 16, encoder),
            clock_offset,
            latest_ns: None,
            split: 0,
            thread: id.thread.into(),
        };
        entries.put(kind::HEADER, 0, VERSION)?;
        entries.mark(marker::VERSION, VERSION)?;
        entries.mark(marker::FILE_TYPE, file_type::X86_64)?;
        entries.put(kind::THREAD, ID_SIZE, id.thread.into())?;
        entries.put(kind::PROCESS, ID_SIZE, id.process.into())?;
        entries.mark(marker::CACHE_LINE_SIZE, CACHE_LINE)?;
        entries.mark(marker::PAGE_SIZE, PAGE)?;
        Ok(entries)
    }

    fn put(&mut self, kind: u16, size: u16, value: u64) -> io::Result<()> {
        self.output.write_all(&Entry { kind, size, value }.to_bytes())
    }

    fn mark(&mut self, marker: u16, value: u64) -> io::Result<()> {
        self.put(kind::MARKER, marker, value)
    }

    fn instruction(&mut self, executed: &Executed) -> io::Result<()> {
        let code = &executed.code;
        let next = executed.next.unwrap_or(code.end());
        let kind = match code.kind {
            InstructionKind::Other => kind::INSTRUCTION,
            InstructionKind::ConditionalBranch if next == code.end() => kind::UNTAKEN_JUMP,
            InstructionKind::ConditionalBranch => kind::TAKEN_JUMP,
            InstructionKind::DirectJump => kind::DIRECT_JUMP,
            InstructionKind::IndirectJump => kind::INDIRECT_JUMP,
            InstructionKind::DirectCall => kind::DIRECT_CALL,
            InstructionKind::IndirectCall => kind::INDIRECT_CALL,
            InstructionKind::Return => kind::RETURN,
            InstructionKind::SystemCall => kind::SYSTEM_ENTRY,
            InstructionKind::Repetition => kind::NOT_FETCHED,
        };
        if matches!(kind, kind::INDIRECT_JUMP | kind::INDIRECT_CALL | kind::RETURN) {
            self.mark(marker::BRANCH_TARGET, next)?;
        }
        self.put(kind, code.length.into(), code.address)
    }

    fn access(&mut self, access: &Access) -> io::Result<()> {
        self.split += u64::from(access.size > LONGEST);
        let mut done = 0;
        while done < access.size {
            let size = (access.size - done).min(LONGEST);
            let address = access.address.wrapping_add(done);
            let stated = if access.unknown_size { 0 } else { size as u16 };
            if access.reads {
                self.put(kind::READ, stated, address)?;
            }
            if access.writes {
                self.put(kind::WRITE, stated, address)?;
            }
            done += size;
        }
        Ok(())
    }

    /// Accesses that were split.
    fn finish(mut self, last_ns: Option<u64>) -> io::Result<u64> {
        if let Some(ns) = last_ns.filter(|ns| Some(*ns) != self.latest_ns) {
            self.time(ns)?;
        }
        self.put(kind::THREAD_EXIT, ID_SIZE, self.thread)?;
        self.put(kind::FOOTER, 0, 0)?;
        let encoder = self.output.into_inner().map_err(io::IntoInnerError::into_error)?;
        encoder.finish()?.finish().map_err(io::Error::other)?;
        Ok(self.split)
    }
}

impl Format for Entries {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        self.instruction(executed)?;
        executed
            .accesses
            .iter()
            .try_for_each(|access| self.access(access))
    }

    fn time(&mut self, ns: u64) -> io::Result<()> {
        self.latest_ns = Some(ns);
        let since_1970 = (i128::from(ns) + self.clock_offset).clamp(0, u64::MAX.into()) as u64;
        self.mark(marker::TIMESTAMP, since_1970 / 1000 + EPOCH_MICROSECONDS)?;
        self.mark(marker::PROCESSOR, UNKNOWN_PROCESSOR)
    }
}
