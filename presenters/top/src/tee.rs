//! Chunks on their way: to where the user wants them, to the watcher, and to a copy for the page.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::Arc;

use tempfile::NamedTempFile;
use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_recorder::{ChunkSink, RingView, SinkError};
use trackway_trace::{Chunk, ChunkHeader, ChunkKind, Codec, Trace, TraceError, TraceWriter};

/// What the recorder sends to the watcher.
pub enum News {
    Ring(RingView),
    Chunk(ChunkHeader, Vec<u8>),
}

/// Passes chunks on. Only the sink gets records.
pub struct Tee {
    pub chunks: Option<Box<dyn ChunkSink>>,
    pub news: Sender<News>,
    pub copy: Option<TraceWriter>,
}

/// A trace of the counts alone, which is removed with this value.
pub struct CopyOfCounts(NamedTempFile);

impl CopyOfCounts {
    pub fn create() -> Result<(Self, TraceWriter), Failure> {
        let file = NamedTempFile::with_prefix("trackway-").map_err(Failure::writing)?;
        let writer = TraceWriter::create(file.path(), true, Codec::None)?;
        Ok((CopyOfCounts(file), writer))
    }

    pub fn open(&self) -> Result<Trace, TraceError> {
        let path: &Path = self.0.path();
        Trace::open(path)
    }
}

impl Tee {
    /// If there is no room for the copy, the recording goes on.
    fn write_copy(&mut self, write: impl FnOnce(TraceWriter) -> Result<Option<TraceWriter>, TraceError>) {
        let Some(copy) = self.copy.take() else { return };
        match write(copy) {
            Ok(copy) => self.copy = copy,
            Err(error) => output::warn(format!("the page will not have all of the run: {error}")),
        }
    }
}

impl ChunkSink for Tee {
    fn heed(&mut self, impatience: Arc<AtomicBool>) {
        if let Some(chunks) = &mut self.chunks {
            chunks.heed(impatience);
        }
    }

    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError> {
        if !matches!(chunk.header.kind, ChunkKind::Records | ChunkKind::OracleRecords) {
            self.write_copy(|mut copy| copy.append(chunk).map(|()| Some(copy)));
            // Without a view the recording goes on.
            let _ = self.news.send(News::Chunk(chunk.header, chunk.to_bytes()));
        }
        self.chunks.as_mut().map_or(Ok(()), |chunks| chunks.append(chunk))
    }

    fn revive(&mut self) -> bool {
        self.chunks.as_mut().is_some_and(|chunks| chunks.revive())
    }

    fn finish(&mut self) -> Result<u64, SinkError> {
        self.write_copy(|copy| copy.close().map(|()| None));
        self.chunks.as_mut().map_or(Ok(0), |chunks| chunks.finish())
    }

    fn cancel(&mut self) {
        if let Some(chunks) = &mut self.chunks {
            chunks.cancel();
        }
    }
}
