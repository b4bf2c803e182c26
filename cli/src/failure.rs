//! The one error type of the command line: a finished message.

use std::fmt;

/// Why a verb could not do its work: what, where and the remedy, ready to be printed after `trackway: `.
#[derive(Debug)]
pub struct Failure {
    message: String,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
        }
    }

    /// A failure about a file.
    pub fn about(path: &std::path::Path, what: impl fmt::Display) -> Failure {
        Failure::new(format!("{}: {what}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
