use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use trackway_sampler::SamplerError;

use crate::{Address, AttachError};

/// Why nothing was recorded. A program that ran to its end always yields a summary instead.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        option: &'static str,
        value: u64,
        expected: &'static str,
    },

    #[error("{} already exists; choose another name, or replace it with -f", path.display())]
    OutputExists { path: PathBuf },

    #[error("{error}")]
    Trace { error: Box<trackway_trace::TraceError> },

    #[error(
        "{address}: cannot reach a collector: {reason}; start one with `trackway collect --listen {address}`, or record \
         to a file with --output"
    )]
    NoCollector { address: Address, reason: String },

    #[error("cannot create {size} bytes of shared memory for the ring ({step}): {source}; try fewer or smaller buffers")]
    Ring {
        size: u64,
        step: &'static str,
        source: io::Error,
    },

    /// Shells report status 127 for this.
    #[error("{}: no such program", program.to_string_lossy())]
    ProgramNotFound { program: OsString },

    /// Shells report status 126 for this.
    #[error("cannot start {}: {source}", program.to_string_lossy())]
    Start { program: OsString, source: io::Error },

    #[error("{}: not found; `make preload` builds what records allocations", path.display())]
    NoTracer { path: PathBuf },

    #[error(transparent)]
    Attach(#[from] AttachError),

    #[error(transparent)]
    Sampling(#[from] SamplerError),

    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
}
