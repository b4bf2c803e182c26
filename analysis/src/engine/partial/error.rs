//! What can go wrong with partial results.

use trackway_trace::TraceError;

/// Why a partial result, or a part of the sifted accesses, can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    #[error("this is no partial result of Trackway ({what}); something changed it on its way")]
    NoPartial { what: &'static str },

    #[error("the partial result has version {found}, this Trackway has {expected}: install the same one everywhere")]
    OtherVersion { found: u16, expected: u16 },

    #[error("the partial result is of another trace: every process must read the same file")]
    OtherTrace,

    #[error("the partial result is of another analysis ({found:?} instead of {expected:?})")]
    OtherAnalysis { found: String, expected: String },

    #[error("the partial result can't be decoded: {source}; install the same Trackway everywhere")]
    Encoding { source: postcard::Error },

    #[error("the partial result doesn't fit the trace: {what}; every process must read the same file")]
    DoesNotFit { what: &'static str },

    #[error("a part of the accesses can't be decoded at byte {position}: {what}")]
    BadBlock { position: usize, what: &'static str },

    #[error(
        "accesses of stream {stream} arrived out of order (number {number} after {before}): the engine has to keep \
         the order that it was asked for"
    )]
    OutOfOrder { stream: u32, number: u64, before: u64 },

    #[error(
        "a piece of a stream begins with chunk {found}, but must begin with chunk {expected}: pieces are joined in their \
         order, each once"
    )]
    NotNext { found: u64, expected: u64 },

    #[error("stream {stream} has no chunks {first} to {end}: every process must read the same file")]
    NoSuchChunks { stream: u32, first: u64, end: u64 },

    #[error(transparent)]
    Trace(#[from] TraceError),
}
