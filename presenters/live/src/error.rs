use trackway_analysis::partial::PartialError;
use trackway_trace::TraceError;

/// Why chunks yield nothing.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error(
        "{trace}: the chunk at offset {position} is damaged: {what}; it came so from where chunks are kept: read the trace \
         again from there"
    )]
    Damaged {
        trace: String,
        position: u64,
        what: &'static str,
    },

    #[error("{trace}: the chunk at offset {position} needs the definitions before it, which are known up to {known} only")]
    Undefined {
        trace: String,
        position: u64,
        known: u64,
    },

    #[error("{0}")]
    Trace(String),

    #[error(transparent)]
    Partial(#[from] PartialError),

    #[error("a window has {accesses} accesses, but must have from 1 to 10000")]
    Window { accesses: u64 },

    #[error("{name:?} is nothing to count by; choose one of {}", crate::By::names())]
    UnknownName { name: String },

    #[error("a granule has {bytes} bytes, but must have a power of two from 1 to 4096")]
    Granule { bytes: u64 },
}

impl From<TraceError> for LiveError {
    fn from(error: TraceError) -> Self {
        LiveError::Trace(error.to_string())
    }
}
