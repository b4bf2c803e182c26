//! What gets the chunks of traces before their files do, or instead of them: a message broker.

use std::fmt;

use trackway_trace::ChunkHeader;

/// A chunk that came over a connection, and was checked.
#[derive(Debug, Clone)]
pub struct ArrivedChunk {
    /// Offset of the chunk in its trace's file, bytes.
    pub position: u64,
    pub header: ChunkHeader,
    /// Header and stored payload.
    pub bytes: Vec<u8>,
}

/// Why a feed took no chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedError {
    /// It was told to stop waiting.
    Stopped,
    /// It never will; the text is for the user.
    Refused(String),
}

/// Where the chunks of all traces of a collector go.
pub trait Feed: fmt::Debug + Send + Sync {
    /// For the trace of this identity, whose program has this file name.
    fn begin(&self, identity: [u8; 16], program: &str) -> Box<dyn TraceFeed>;
}

/// Where the chunks of one trace go.
pub trait TraceFeed: Send {
    /// Returns when all of these chunks, which follow each other, are safe there. As long as that is impossible it waits
    /// and asks now and then whether to go on. Chunks may be delivered again, from an earlier position on.
    fn deliver(&mut self, chunks: &[ArrivedChunk], goes_on: &dyn Fn() -> bool) -> Result<(), FeedError>;
}
