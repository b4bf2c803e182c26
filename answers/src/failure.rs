//! The one error type of commands: a finished message.

use std::fmt;
use std::io;
use std::path::Path;

use trackway_trace::{OutputError, TraceError};

/// The exit status of a command that could not do its work.
pub const ERROR: u8 = 2;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// What, where and the remedy, ready to be printed after `trackway: `.
    Message(String),
    /// A trace can't be read.
    Trace(TraceError),
    /// Nothing reads the output any more; that needs no message.
    OutputClosed,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// A failure about a file.
    pub fn about(path: &Path, what: impl fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", path.display()))
    }

    /// The output could not be written.
    pub fn writing(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::new(format!("standard output: {error}")),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        Failure::Trace(error)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        match error {
            // The reader has closed the pipe.
            OutputError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Failure::OutputClosed
            }
            error => Failure::new(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Message(message) => formatter.write_str(message),
            Failure::Trace(error) => error.fmt(formatter),
            Failure::OutputClosed => formatter.write_str("standard output was closed"),
        }
    }
}

impl std::error::Error for Failure {}
