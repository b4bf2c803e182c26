//! A question that is asked by its name, with words for its options.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use trackway_report::Report;
use trackway_trace::Trace;

use crate::divided::Divided;
use crate::failure::Failure;
use crate::question::Question;
use crate::reading::Following;

type Divide = fn(&ArgMatches, Arc<Trace>, String) -> Result<Arc<dyn Divided>, Failure>;

/// Options that say how an answer is printed or kept, or what its picture shows.
const PRINTING: [&str; 12] = [
    "json", "csv", "markdown", "github", "parquet", "table", "svg", "png", "quiet", "name", "fresh",
    "verbose",
];

/// A question about one trace.
pub struct Named {
    /// The name of its command.
    pub name: &'static str,
    command: fn(Command) -> Command,
    answer: fn(&ArgMatches, &Trace, Following) -> Result<Report, Failure>,
    divided: Divide,
}

impl Named {
    pub(crate) const fn of<Q: Question>(name: &'static str) -> Named {
        Named {
            name,
            command: Q::augment_args,
            answer: answer::<Q>,
            divided: divided::<Q>,
        }
    }

    /// Asks a trace.
    ///
    /// # Errors
    /// If an option is unknown or wrong, or the trace can't answer.
    pub fn ask(&self, words: &[String], trace: &Trace, following: Following) -> Result<Report, Failure> {
        (self.answer)(&self.matches(words)?, trace, following)
    }

    /// Asks a trace, with a part of the work done by other processes.
    ///
    /// # Errors
    /// Like those of [`Named::ask`], or if the work can't be divided.
    pub fn divided(&self, words: &[String], trace: Arc<Trace>) -> Result<Arc<dyn Divided>, Failure> {
        let about = format!("{} {}", self.name, words.join(" "));
        (self.divided)(&self.matches(words)?, trace, about)
    }

    /// The names of its options, without those that only printing needs.
    pub fn options(&self) -> Vec<String> {
        options_of(self.command)
    }

    /// What it asks, in a line.
    pub fn about(&self) -> String {
        let command = (self.command)(Command::new(self.name));
        command.get_about().map(ToString::to_string).unwrap_or_default()
    }

    fn matches(&self, words: &[String]) -> Result<ArgMatches, Failure> {
        matches(self.command, self.name, words, &[OsStr::new("TRACE")])
    }
}

fn answer<Q: Question>(matches: &ArgMatches, trace: &Trace, following: Following) -> Result<Report, Failure> {
    let mut question = parsed::<Q>(matches)?;
    if let Some(reading) = question.reading() {
        reading.following = following;
    }
    match question.slice() {
        slice if slice.is_all() => question.answer(trace),
        slice => question.answer(&slice.apply(trace.again()?)?),
    }
}

fn divided<Q: Question>(
    matches: &ArgMatches,
    trace: Arc<Trace>,
    about: String,
) -> Result<Arc<dyn Divided>, Failure> {
    let question = parsed::<Q>(matches)?;
    match question.slice().is_all() {
        true => question.divided(trace, about),
        false => Err(Failure::about(
            trace.path(),
            "the work on a slice can't be divided between processes",
        )),
    }
}

/// The names of the command's options, without those that only printing needs.
pub(crate) fn options_of(command: fn(Command) -> Command) -> Vec<String> {
    let command = command(Command::new("question"));
    let names = command.get_arguments().filter_map(|option| option.get_long());
    names
        .filter(|name| !PRINTING.contains(name))
        .map(str::to_owned)
        .collect()
}

/// The options of the command `name` that `words` and `files` give.
///
/// # Errors
/// If an option is unknown or wrong.
pub fn options_from<Q: Args>(name: &'static str, words: &[String], files: &[&OsStr]) -> Result<Q, Failure> {
    parsed(&matches(Q::augment_args, name, words, files)?)
}

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
    use crate::report::ReportArguments;

    #[test]
    fn wrong_options_are_named_with_what_there_is() {
        let wrong = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            options_from::<ReportArguments>("report", &words, &[OsStr::new("TRACE")])
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
