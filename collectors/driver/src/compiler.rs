//! The compiler that a call goes to, and why it couldn't be started.

use std::ffi::OsStr;
use std::io;

use trackway_answers::failure::Failure;

use crate::language::Language;

/// What doesn't depend on the compiler's arguments.
pub struct Driver<'d> {
    pub compiler: &'d OsStr,
    pub language: Language,
    /// Programs create threads that inherit regions.
    pub inherits_threads: bool,
    pub streams: Streams,
}

/// Which streams of libstdc++ programs of C++ are linked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Those of its binary, whose code records nothing.
    Plain,
    Recording,
    Counting,
}

/// Explains why the compiler could not be started.
pub fn exec_failure(compiler: &OsStr, language: Language, error: &io::Error) -> Failure {
    let compiler = compiler.to_string_lossy();
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => format!(
            "; install it (Debian: `apt-get install {}`), or name another one in {} or by {}=PATH",
            language.package(),
            language.variable(),
            language.option()
        ),
        _ => String::new(),
    };
    Failure::new(format!("{compiler}: {error}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_comes_with_the_remedy() {
        let error = io::Error::from(io::ErrorKind::NotFound);
        let message = exec_failure(OsStr::new("clang-22"), Language::C, &error).to_string();
        assert!(
            message.contains("apt-get install clang-22") && message.contains("TRACKWAY_CLANG"),
            "{message}"
        );
    }
}
