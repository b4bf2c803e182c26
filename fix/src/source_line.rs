//! A line of the source, as the trace has it.

use std::fmt;
use std::str::FromStr;

use crate::uses::Use;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// The end of the file's path.
    pub file: String,
    pub line: usize,
}

impl SourceLine {
    pub fn has(&self, found: &Use) -> bool {
        self.is_of(found, found.line)
    }

    /// Whether this is that line of the file in which something was found.
    pub fn is_of(&self, found: &Use, line: usize) -> bool {
        let ends = found.file.strip_suffix(self.file.trim_start_matches("./"));
        line == self.line && ends.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

impl FromStr for SourceLine {
    type Err = String;

    fn from_str(text: &str) -> Result<SourceLine, String> {
        let parts = text.rsplit_once(':');
        let line = parts.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line {
            Some((file, line)) if !file.is_empty() && line > 0 => Ok(SourceLine {
                file: file.into(),
                line,
            }),
            _ => Err("a file and a line are wanted, such as table.c:42".into()),
        }
    }
}
