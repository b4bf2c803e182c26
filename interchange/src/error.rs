//! Why a foreign trace cannot be imported.

use std::io;
use std::path::PathBuf;

use trackway_trace::machine::BuildError;
use trackway_trace::TraceError;

/// Each error names the file, where in it, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{}: cannot {action}: {source}", file.display())]
    Io {
        file: PathBuf,
        action: &'static str,
        source: io::Error,
    },
    /// Not a trace that this Trackway reads.
    #[error("{}: {what}", file.display())]
    Unsupported { file: PathBuf, what: String },
    /// Not what a trace can hold.
    #[error(
        "{}: invalid at byte {offset} of its decompressed entries: {what}; copy it again, or record it again",
        file.display()
    )]
    Invalid {
        file: PathBuf,
        /// Bytes of the decompressed entries before the one meant.
        offset: u64,
        what: String,
    },
    #[error("{}: invalid at offset {offset}: {what}; copy it again, or record it again", file.display())]
    InvalidPerfData {
        file: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
        what: String,
    },
    #[error("{}: it changed while it was read; import it again", file.display())]
    Changed { file: PathBuf },
    #[error("{}: {source}", file.display())]
    Block { file: PathBuf, source: BuildError },
    #[error("{}: {blocks} basic blocks, where a trace holds {limit}; import its threads one by one", file.display())]
    TooManyBlocks {
        file: PathBuf,
        blocks: usize,
        limit: usize,
    },
    #[error(transparent)]
    Trace(#[from] TraceError),
}
