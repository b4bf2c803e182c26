//! Where encoded chunks go, and what is known of those that got lost there.

use std::path::{Path, PathBuf};

use trackway_trace::{ChunkHeader, Codec, EndInfo, TraceError, TraceWriter};

use crate::options::{Compression, Output, RecordOptions};
use crate::{Loss, RecordError};

/// A trace file, or nothing. After a failed write it swallows and counts chunks.
pub struct Sink {
    writer: Option<TraceWriter>,
    path: PathBuf,
    failure: Option<String>,
    lost_chunks: u64,
    chunks: u64,
    stored_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Yes,
    /// This chunk could not be written; the earlier ones were.
    FirstFailure,
    No,
}

pub fn codec(compression: Compression) -> Codec {
    match compression {
        Compression::None => Codec::None,
        Compression::Lz4 => Codec::Lz4,
        Compression::Zstd => Codec::Zstd,
    }
}

impl Sink {
    pub fn create(options: &RecordOptions) -> Result<Self, RecordError> {
        let (writer, path) = match &options.output {
            Output::Discard => (None, PathBuf::new()),
            Output::File { path, force } => (Some(create(path, *force, options.compression)?), path.clone()),
        };
        Ok(Self {
            writer,
            path,
            failure: None,
            lost_chunks: 0,
            chunks: 0,
            stored_bytes: 0,
        })
    }

    pub fn discards(&self) -> bool {
        self.writer.is_none()
    }

    /// Writes a chunk, if it could be encoded and nothing failed before.
    pub fn append(&mut self, encoded: Result<Option<(ChunkHeader, &[u8])>, TraceError>) -> Written {
        let Some(writer) = &mut self.writer else {
            return Written::Yes;
        };
        if self.failure.is_some() {
            self.lost_chunks += 1;
            return Written::No;
        }
        let written = match encoded {
            Ok(Some((header, chunk))) => writer.append_encoded(&header, chunk),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => Written::Yes,
            Err(error) => {
                self.failure = Some(error.to_string());
                self.lost_chunks += 1;
                Written::FirstFailure
            }
        }
    }

    /// Writes the end chunk and the index, unless a write failed before.
    pub fn finish(&mut self, end: &EndInfo) {
        let Some(writer) = self.writer.take() else { return };
        self.chunks = writer.chunk_count() + 1;
        self.stored_bytes = writer.bytes_written();
        if self.failure.is_none() {
            self.failure = writer.finish(end).err().map(|error| error.to_string());
            self.stored_bytes = std::fs::metadata(&self.path).map_or(self.stored_bytes, |file| file.len());
        }
    }

    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// `never_handed_over`: buffers that the program wrote to its private memory after the failure.
    pub fn loss(&self, never_handed_over: u64) -> Option<Loss> {
        let buffers = self.lost_chunks + never_handed_over;
        self.failure.clone().map(|message| Loss { buffers, message })
    }

    /// Removes the file when the program could not be started.
    pub fn remove(self) {
        if self.writer.is_some() && self.path.is_file() {
            // Whoever learns of the failed start need not learn of this too.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn create(path: &Path, force: bool, compression: Compression) -> Result<TraceWriter, RecordError> {
    TraceWriter::create(path, force, codec(compression)).map_err(|error| match error {
        TraceError::AlreadyExists { file } => RecordError::OutputExists { path: file },
        error => RecordError::Trace {
            error: Box::new(error),
        },
    })
}
