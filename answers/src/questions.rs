//! All questions about one trace, by the names of their commands.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use trackway_report::Report;
use trackway_trace::Trace;

use crate::allocations::AllocationsArguments;
use crate::branches::BranchesArguments;
use crate::calls::CallsArguments;
use crate::diff::{self, DiffArguments};
use crate::divided::Divided;
use crate::failure::Failure;
use crate::layout::LayoutArguments;
use crate::map::MapArguments;
use crate::memory::MemoryArguments;
use crate::objects::ObjectsArguments;
use crate::patterns::PatternsArguments;
use crate::placement::PlacementArguments;
use crate::question::Question;
use crate::reading::Following;
use crate::report::ReportArguments;
use crate::reuse::ReuseArguments;
use crate::samples::SamplesArguments;
use crate::sharing::SharingArguments;
use crate::whatif::WhatIfArguments;

type Divide = fn(&ArgMatches, Arc<Trace>, String) -> Result<Arc<dyn Divided>, Failure>;

/// A question about one trace, by the name of its command.
pub struct Named {
    pub name: &'static str,
    command: fn(Command) -> Command,
    answer: fn(&ArgMatches, &Trace, Following) -> Result<Report, Failure>,
    divided: Divide,
}

/// All questions of one trace.
pub const QUESTIONS: &[Named] = &[
    named::<AllocationsArguments>("allocations"),
    named::<BranchesArguments>("branches"),
    named::<CallsArguments>("calls"),
    named::<LayoutArguments>("layout"),
    named::<MapArguments>("map"),
    named::<MemoryArguments>("memory"),
    named::<ObjectsArguments>("objects"),
    named::<PatternsArguments>("patterns"),
    named::<PlacementArguments>("place"),
    named::<ReportArguments>("report"),
    named::<ReuseArguments>("reuse"),
    named::<SamplesArguments>("samples"),
    named::<SharingArguments>("sharing"),
    named::<WhatIfArguments>("whatif"),
];

const fn named<Q: Question>(name: &'static str) -> Named {
    Named {
        name,
        command: Q::augment_args,
        answer: answer::<Q>,
        divided: |matches, trace, about| parsed::<Q>(matches)?.divided(trace, about),
    }
}

fn answer<Q: Question>(matches: &ArgMatches, trace: &Trace, following: Following) -> Result<Report, Failure> {
    let mut question = parsed::<Q>(matches)?;
    if let Some(reading) = question.reading() {
        reading.following = following;
    }
    question.answer(trace)
}

/// Asks a trace what the command `name` would, with `words` as its options.
///
/// # Errors
/// If there is no such command, an option is unknown or wrong, or the trace can't answer.
pub fn ask(name: &str, words: &[String], trace: &Trace, following: Following) -> Result<Report, Failure> {
    let question = question_named(name)?;
    let matches = matches(question.command, question.name, words, &[OsStr::new("TRACE")])?;
    (question.answer)(&matches, trace, following)
}

/// The same question, with a part of the work done by other processes.
///
/// # Errors
/// Like those of [`ask`], or if the work can't be divided.
pub fn divided(name: &str, words: &[String], trace: Arc<Trace>) -> Result<Arc<dyn Divided>, Failure> {
    let question = question_named(name)?;
    let matches = matches(question.command, question.name, words, &[OsStr::new("TRACE")])?;
    let about = format!("{name} {}", words.join(" "));
    (question.divided)(&matches, trace, about)
}

fn question_named(name: &str) -> Result<&'static Named, Failure> {
    let question = QUESTIONS.iter().find(|question| question.name == name);
    question.ok_or_else(|| {
        let names: Vec<&str> = QUESTIONS.iter().map(|question| question.name).collect();
        Failure::new(format!(
            "there is no analysis {name:?}; there are {}",
            names.join(", ")
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
    let matches = matches(DiffArguments::augment_args, "diff", words, &files)?;
    let mut arguments = parsed::<DiffArguments>(&matches)?;
    arguments.reading.following = following;
    diff::answer(&arguments)
}

/// The names of a command's options, without those that only printing needs.
pub fn options(name: &str) -> Option<Vec<String>> {
    let command = match name {
        "diff" => DiffArguments::augment_args,
        _ => QUESTIONS.iter().find(|question| question.name == name)?.command,
    };
    let command = command(Command::new("question"));
    let names = command.get_arguments().filter_map(|option| option.get_long());
    Some(
        names
            .filter(|name| !PRINTING.contains(name))
            .map(str::to_owned)
            .collect(),
    )
}

/// Options that say how an answer is printed, or what its picture shows.
const PRINTING: [&str; 9] = [
    "json", "csv", "parquet", "table", "svg", "png", "quiet", "name", "thread",
];

fn matches(
    command: fn(Command) -> Command,
    name: &'static str,
    words: &[String],
    files: &[&OsStr],
) -> Result<ArgMatches, Failure> {
    let asked = Command::new(name).no_binary_name(true).disable_help_flag(true);
    command(asked)
        .try_get_matches_from(words.iter().map(OsStr::new).chain(files.iter().copied()))
        .map_err(|error| Failure::new(without_usage(&error)))
}

fn parsed<Q: FromArgMatches>(matches: &ArgMatches) -> Result<Q, Failure> {
    Q::from_arg_matches(matches).map_err(|error| Failure::new(without_usage(&error)))
}

/// The error and a suggestion, in one line.
fn without_usage(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let is_of_use = |line: &&str| !line.is_empty() && !line.starts_with("For more information");
    let lines = text.lines().map(str::trim).filter(is_of_use);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("Usage:")).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_options_are_those_of_verbs() {
        assert!(QUESTIONS.is_sorted_by_key(|question| question.name));
        assert_eq!(options("sharing").unwrap(), ["line-size", "top", "threads"]);
        assert_eq!(options("nothing"), None);
    }

    #[test]
    fn wrong_options_are_named_with_what_there_is() {
        let wrong = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            matches(
                ReportArguments::augment_args,
                "report",
                &words,
                &[OsStr::new("TRACE")],
            )
            .unwrap_err()
            .to_string()
        };
        let unknown = wrong(&["--short=1"]);
        assert!(unknown.contains("unexpected argument '--short'"), "{unknown}");
        assert!(!unknown.contains("Usage"), "{unknown}");
        let value = wrong(&["--by=tree"]);
        assert!(
            value.contains("'tree'") && value.contains("possible values: "),
            "{value}"
        );
    }
}
