//! What can go wrong with a trace; each error names the file, the offset and what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::output_file::OutputError;
use crate::FORMAT_VERSION;

/// Why a trace could not be written or read. Offsets are bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    #[error("{}: cannot {action}: {source}", file.display())]
    Io {
        file: PathBuf,
        action: &'static str,
        source: io::Error,
    },

    #[error("{}: exists already; choose another name, or overwrite it with -f", file.display())]
    AlreadyExists { file: PathBuf },

    #[error(transparent)]
    Output(OutputError),

    #[error(
        "{}: cannot write at offset {offset}: {source}; the trace is complete up to there (free space, or record to \
         another file system)", file.display()
    )]
    WriteFailed {
        file: PathBuf,
        offset: u64,
        source: io::Error,
    },

    #[error("a chunk's payload of {length} bytes exceeds the format's limit of 1 GiB; record with smaller buffers")]
    PayloadTooLong { length: u64 },

    #[error("cannot compress a chunk: {source}; record with --codec=none")]
    Compression { source: io::Error },

    #[error("{}: is not a Trackway trace ({what}); record one with `trackway record`", file.display())]
    NotATrace { file: PathBuf, what: &'static str },

    #[error(
        "{}: was written by a newer Trackway (format version {version}); this one reads version {FORMAT_VERSION}: \
         update Trackway", file.display()
    )]
    NewerVersion { file: PathBuf, version: u16 },

    #[error(
        "{}: the chunk at offset {offset} is torn: {missing} of its bytes are missing; everything before it is readable",
        file.display()
    )]
    TornChunk {
        file: PathBuf,
        offset: u64,
        missing: u64,
    },

    #[error(
        "{}: no valid chunk at offset {offset}: {what}; everything before it is readable", file.display()
    )]
    BadChunk {
        file: PathBuf,
        offset: u64,
        what: &'static str,
    },

    #[error(
        "{}: the payload of the chunk at offset {offset} is damaged: {what}; the other chunks are readable: copy the \
         file again or leave this chunk out", file.display()
    )]
    BadChecksum {
        file: PathBuf,
        offset: u64,
        what: &'static str,
    },

    #[error(
        "{}: the payload of the chunk at offset {offset} cannot be decompressed: {what}; if `trackway info` shows a \
         newer version of the writer, update Trackway", file.display()
    )]
    BadCompression {
        file: PathBuf,
        offset: u64,
        what: String,
    },

    #[error(
        "{}: the JSON of the chunk at offset {offset} cannot be read: {source}; if the trace comes from a newer \
         Trackway, update this one", file.display()
    )]
    BadInfo {
        file: PathBuf,
        offset: u64,
        source: serde_json::Error,
    },

    #[error(
        "{}: the module in the chunk at offset {offset} is invalid at byte {position} of its payload: {what}; rebuild \
         the program with this Trackway and record again", file.display()
    )]
    BadModule {
        file: PathBuf,
        offset: u64,
        position: u64,
        what: String,
    },

    #[error(
        "{}: the names in the chunk at offset {offset} are invalid at byte {position} of its payload: {what}; the rest \
         of the trace is readable, but code has no names: record again, and report this if it recurs", file.display()
    )]
    BadNames {
        file: PathBuf,
        offset: u64,
        position: u64,
        what: String,
    },

    #[error(
        "{}: the samples in the chunk at offset {offset} are invalid at byte {position} of its payload: {what}; the \
         other chunks are readable: record again, and report this if it recurs", file.display()
    )]
    BadSamples {
        file: PathBuf,
        offset: u64,
        position: u64,
        what: String,
    },

    #[error(
        "{}: the mappings in the chunk at offset {offset} are invalid at byte {position} of its payload: {what}; the \
         rest of the trace is readable, but samples of that time have no names: record again, and report this if it \
         recurs", file.display()
    )]
    BadMappings {
        file: PathBuf,
        offset: u64,
        position: u64,
        what: String,
    },

    #[error(
        "{}: the record at byte {position} of the payload of the chunk at offset {offset} is invalid: {what}; the other \
         chunks are readable: record again, and report this if it recurs", file.display()
    )]
    BadRecord {
        file: PathBuf,
        offset: u64,
        position: u64,
        what: String,
    },

    #[error(
        "{}: the payload of the chunk at offset {offset} has {length} bytes, which is no multiple of {unit}; the other \
         chunks are readable", file.display()
    )]
    BadLength {
        file: PathBuf,
        offset: u64,
        length: u64,
        unit: u64,
    },

    /// An error of another process that read the same trace, in that process's words.
    #[error("{message}")]
    Elsewhere { offset: Option<u64>, message: String },
}

impl From<OutputError> for TraceError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Exists { file } => TraceError::AlreadyExists { file },
            other => TraceError::Output(other),
        }
    }
}

impl TraceError {
    pub(crate) fn io(file: &Path, action: &'static str) -> impl FnOnce(io::Error) -> TraceError {
        let file = file.to_path_buf();
        move |source| TraceError::Io { file, action, source }
    }

    /// The file that the error is about; none if it is about what was to be written.
    pub fn file(&self) -> Option<&Path> {
        match self {
            TraceError::Io { file, .. }
            | TraceError::AlreadyExists { file }
            | TraceError::WriteFailed { file, .. }
            | TraceError::NotATrace { file, .. }
            | TraceError::NewerVersion { file, .. }
            | TraceError::TornChunk { file, .. }
            | TraceError::BadChunk { file, .. }
            | TraceError::BadChecksum { file, .. }
            | TraceError::BadCompression { file, .. }
            | TraceError::BadInfo { file, .. }
            | TraceError::BadModule { file, .. }
            | TraceError::BadNames { file, .. }
            | TraceError::BadSamples { file, .. }
            | TraceError::BadMappings { file, .. }
            | TraceError::BadRecord { file, .. }
            | TraceError::BadLength { file, .. } => Some(file),
            TraceError::Output(error) => Some(error.file()),
            TraceError::PayloadTooLong { .. }
            | TraceError::Compression { .. }
            | TraceError::Elsewhere { .. } => None,
        }
    }

    /// The end of the message: what to do, or what part of the file is still usable. None where only the system knows
    /// what is wrong.
    pub fn remedy(&self) -> Option<String> {
        if matches!(self, TraceError::Io { .. }) {
            return None;
        }
        let message = self.to_string();
        message.rsplit_once("; ").map(|(_, remedy)| remedy.to_owned())
    }

    /// Offset of the chunk (or of the write) that failed, if the error belongs to one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            TraceError::WriteFailed { offset, .. }
            | TraceError::TornChunk { offset, .. }
            | TraceError::BadChunk { offset, .. }
            | TraceError::BadChecksum { offset, .. }
            | TraceError::BadCompression { offset, .. }
            | TraceError::BadInfo { offset, .. }
            | TraceError::BadModule { offset, .. }
            | TraceError::BadNames { offset, .. }
            | TraceError::BadSamples { offset, .. }
            | TraceError::BadMappings { offset, .. }
            | TraceError::BadRecord { offset, .. }
            | TraceError::BadLength { offset, .. } => Some(*offset),
            TraceError::Elsewhere { offset, .. } => *offset,
            _ => None,
        }
    }
}
