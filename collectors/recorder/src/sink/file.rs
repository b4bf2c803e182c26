//! Chunks to a file.

use std::path::{Path, PathBuf};

use trackway_trace::{Chunk, Codec, TraceError, TraceWriter};

use super::{ChunkSink, SinkError};
use crate::RecordError;

pub struct FileSink {
    path: PathBuf,
    /// None once the trace is complete.
    writer: Option<TraceWriter>,
}

impl FileSink {
    pub fn create(path: &Path, force: bool, codec: Codec) -> Result<Self, RecordError> {
        let writer = TraceWriter::create(path, force, codec).map_err(|error| match error {
            TraceError::AlreadyExists { file } => RecordError::OutputExists { path: file },
            error => RecordError::Trace {
                error: Box::new(error),
            },
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            writer: Some(writer),
        })
    }
}

impl ChunkSink for FileSink {
    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        match &mut self.writer {
            Some(writer) => Ok(writer.append(chunk)?),
            None => Err("the trace is complete already".into()),
        }
    }

    fn finish(&mut self) -> Result<u64, SinkError> {
        let Some(writer) = self.writer.take() else {
            return Ok(0);
        };
        let written = writer.bytes_written();
        writer.close()?;
        Ok(std::fs::metadata(&self.path).map_or(written, |file| file.len()))
    }

    fn cancel(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.discard();
        }
    }
}
