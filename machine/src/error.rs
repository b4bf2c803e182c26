//! Why there are no figures.

use std::io;
use std::path::PathBuf;

/// Why figures can't be had, or kept.
#[derive(Debug, thiserror::Error)]
pub enum CostsError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },

    #[error("{}: {what}", path.display())]
    File { path: PathBuf, what: String },

    /// A document that can't be read, or a figure that no machine has.
    #[error("{0}")]
    Document(String),

    #[error(
        "there is no place for the file: neither XDG_CONFIG_HOME nor HOME names a folder by its whole path"
    )]
    NoFolder,

    #[error("{}: was measured on another machine ({there}; this one: {here})", path.display())]
    OtherMachine {
        path: PathBuf,
        there: String,
        here: String,
    },

    #[error("{}: was measured by an earlier method", path.display())]
    OlderMethod { path: PathBuf },

    #[error("there is no preset {name:?}; there are {known}")]
    UnknownPreset { name: String, known: String },

    #[error("memory can't be measured on {0}: only on x86-64 and AArch64")]
    Architecture(&'static str),

    #[error("the system doesn't say which caches the processor has (/sys/devices/system/cpu); use a preset")]
    NoCaches,

    #[error("to measure memory takes {needed} bytes, and only {allowed} may be used: a quarter of what is available")]
    LittleMemory { needed: u64, allowed: u64 },

    #[error("measuring: {0}")]
    System(#[from] io::Error),

    /// Other programs disturbed the measurement.
    #[error("the measured figures can't be right: {0}; measure again while the machine does less")]
    Disturbed(String),
}
