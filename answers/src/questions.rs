//! Asks traces by the names of commands, with words for their options.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::analyses::QUESTIONS;
use crate::check::{self, CheckArguments};
use crate::diff::{self, DiffArguments};
use crate::divided::Divided;
use crate::failure::Failure;
use crate::named::{options_of, Named};
use crate::reading::Following;

pub use crate::named::options_from;

/// Asks a trace what the command `name` would, with `words` as its options.
///
/// # Errors
/// If there is no such command, an option is unknown or wrong, or the trace can't answer.
pub fn ask(name: &str, words: &[String], trace: &Trace, following: Following) -> Result<Report, Failure> {
    question_named(name)?.ask(words, trace, following)
}

/// The same question, with a part of the work done by other processes.
///
/// # Errors
/// Like those of [`ask`], or if the work can't be divided.
pub fn divided(name: &str, words: &[String], trace: Arc<Trace>) -> Result<Arc<dyn Divided>, Failure> {
    question_named(name)?.divided(words, trace)
}

/// The names of all questions, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = QUESTIONS.iter().map(|question| question.name).collect();
    names.sort_unstable();
    names
}

/// What the command `name` asks, in a line.
pub fn about(name: &str) -> Option<String> {
    Some(find(name)?.about())
}

/// The names of a command's options, without those that only printing needs.
pub fn options(name: &str) -> Option<Vec<String>> {
    match name {
        "diff" => Some(options_of(DiffArguments::augment_args)),
        _ => Some(find(name)?.options()),
    }
}

fn find(name: &str) -> Option<&'static Named> {
    QUESTIONS.iter().find(|question| question.name == name)
}

fn question_named(name: &str) -> Result<&'static Named, Failure> {
    find(name).ok_or_else(|| {
        Failure::new(format!(
            "there is no analysis {name:?}; there are {}",
            names().join(", ")
        ))
    })
}

/// Asks what changed between two files, as `trackway diff`.
///
/// # Errors
/// If an option is unknown or wrong, or the files can't be compared.
pub fn ask_diff(
    before: &Path,
    after: &Path,
    words: &[String],
    following: Following,
) -> Result<Report, Failure> {
    let files = [OsStr::new("--"), before.as_os_str(), after.as_os_str()];
    let mut arguments: DiffArguments = options_from("diff", words, &files)?;
    arguments.reading.following = following;
    diff::answer(&arguments)
}

/// Checks a trace, a saved report, or each trace of a folder against budgets, as `trackway check`.
///
/// # Errors
/// If an option is unknown or wrong, a file can't be read, or a budget doesn't fit the trace.
pub fn ask_check(path: &Path, words: &[String], following: Following) -> Result<Report, Failure> {
    let files = [OsStr::new("--"), path.as_os_str()];
    let mut arguments: CheckArguments = options_from("check", words, &files)?;
    arguments.reading.following = following;
    Ok(check::check(&arguments)?.report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use trackway_analysis::Observer;

    /// Bytes that were to be read, and those that were, or needn't be.
    #[derive(Default)]
    struct Bytes {
        begun: AtomicU64,
        done: AtomicU64,
    }

    impl Observer for Bytes {
        fn begin(&self, bytes: u64) {
            self.begun.fetch_add(bytes, Ordering::Relaxed);
        }

        fn advance(&self, _: u64, bytes: u64) {
            self.done.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_progress_of_all_passes_comes_to_what_was_said_at_first() {
        let trace = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../trace/vectors/golden-v2.trackway"
        ));
        let trace = Trace::open(trace).unwrap();
        let machine = "--machine=zen3".to_owned();
        for (name, words) in [
            ("report", vec![]),
            ("layout", vec![]),
            ("layout", vec!["--no-simulate".to_owned()]),
            ("advise", vec![machine]),
        ] {
            let bytes = Arc::new(Bytes::default());
            let following = Following(Some(Arc::<Bytes>::clone(&bytes)));
            ask(name, &words, &trace, following).unwrap();
            let [begun, done] = [&bytes.begun, &bytes.done].map(|number| number.load(Ordering::Relaxed));
            assert!(begun > 0, "{name}");
            assert_eq!(done, begun, "{name} {words:?}");
        }
    }

    #[test]
    fn names_are_sorted_and_options_are_those_of_verbs() {
        assert!(names().is_sorted());
        let slice = [
            "from",
            "after-mark",
            "windows",
            "function",
            "region",
            "without-library",
            "to",
            "thread",
        ];
        let expected: Vec<&str> = ["by", "line-size", "time", "machine", "top"]
            .into_iter()
            .chain(slice)
            .chain(["threads"])
            .collect();
        assert_eq!(options("sharing").unwrap(), expected);
        assert_eq!(options("nothing"), None);
        assert!(about("memory").unwrap().contains("allocated"));
    }
}
