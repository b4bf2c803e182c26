//! A trace that comes in and isn't complete.

use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{Chunk, ChunkHeader, TraceError, TraceWriter};

use super::feed::{ArrivedChunk, FeedError, TraceFeed};

/// What there is of a trace. If it is fed, chunks wait until [`Part::settle`], and get into the file only after that.
/// So what the file has was fed, too.
pub struct Part {
    /// None if the trace is fed only.
    file: Option<TraceWriter>,
    feed: Option<Box<dyn TraceFeed>>,
    waiting: Vec<ArrivedChunk>,
    /// Position after the last chunk, waiting ones included.
    position: u64,
}

/// Why a chunk is not kept.
pub enum PartError {
    /// Waiting for the feed was given up.
    Stopped,
    /// The text is for the user.
    Failed(String),
}

impl From<TraceError> for PartError {
    fn from(error: TraceError) -> Self {
        PartError::Failed(error.to_string())
    }
}

impl From<FeedError> for PartError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Stopped => PartError::Stopped,
            FeedError::Refused(why) => PartError::Failed(why),
        }
    }
}

impl Part {
    /// A trace of which everything before `position` is safe.
    pub fn new(file: Option<TraceWriter>, feed: Option<Box<dyn TraceFeed>>, position: u64) -> Part {
        Part {
            file,
            feed,
            waiting: Vec::new(),
            position,
        }
    }

    /// Where the next chunk begins, bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Takes the next chunk: its header and the whole of it.
    pub fn take(&mut self, header: &ChunkHeader, chunk: &[u8]) -> Result<(), PartError> {
        match (&self.feed, &mut self.file) {
            (None, Some(file)) => append(file, header, chunk)?,
            _ => self.waiting.push(ArrivedChunk {
                position: self.position,
                header: *header,
                bytes: chunk.to_vec(),
            }),
        }
        self.position += chunk.len() as u64;
        Ok(())
    }

    /// Everything that was taken is safe afterwards; on the disk, too, if `sync` is set.
    pub fn settle(&mut self, sync: bool, goes_on: &dyn Fn() -> bool) -> Result<(), PartError> {
        if let Some(feed) = self.feed.as_mut().filter(|_| !self.waiting.is_empty()) {
            feed.deliver(&self.waiting, goes_on)?;
        }
        for chunk in self.waiting.drain(..) {
            if let Some(file) = &mut self.file {
                append(file, &chunk.header, &chunk.bytes)?;
            }
        }
        match &self.file {
            Some(file) if sync => Ok(file.sync()?),
            _ => Ok(()),
        }
    }

    /// Its sender was cut off, and brings again what wasn't settled.
    pub fn forget_waiting(&mut self) {
        if let Some(first) = self.waiting.first() {
            self.position = first.position;
        }
        self.waiting.clear();
    }

    /// Adds what only the collector writes, after the end chunk: index and trailer. They can be made again, so they may
    /// reach the disk later.
    pub fn complete(self) -> Result<(), TraceError> {
        self.file.map_or(Ok(()), TraceWriter::close)
    }
}

fn append(file: &mut TraceWriter, header: &ChunkHeader, chunk: &[u8]) -> Result<(), TraceError> {
    file.append(&Chunk {
        header: *header,
        stored: &chunk[HEADER_LENGTH..],
    })
}
