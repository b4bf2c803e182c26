//! `trackway run`: records a program, and says what to change.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use trackway_answers::advise::{AdviseArguments, KnownAdvice};
use trackway_answers::next_step::NextStep;
use trackway_answers::questions::{ask, options_from};
use trackway_answers::reading::Following;
use trackway_answers::shell_word::quoted;
use trackway_answers::slice::Middle;
use trackway_answers::{report, samples};
use trackway_driver::Installation;
use trackway_recorder::{record, Output, RecordOptions, RecordSummary, USUAL_WINDOW};
use trackway_recording::{
    buffer_size, counts, is_plain, status_of, tell, SampleSource, SampledArguments, SamplingArguments,
    Telling,
};
use trackway_report::{binary_size, percent, report_to_json, Report};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::output;
use crate::record::default_output;
use crate::run_arguments::RunArguments;
use crate::run_page;

/// How a program is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Compiled,
    Counting,
    Binary,
    Sampled,
}

/// Ends with the program's status; if the trace has no answer, that is said.
pub fn run(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let (program, words) = split(&arguments.command)?;
    let way = way(&arguments, program)?;
    let trace = arguments
        .output
        .clone()
        .unwrap_or_else(|| default_output(&program.to_owned()));
    let options = options(&arguments, way, program, words, &trace)?;
    let recorded = record(options.clone());
    let status = status_of(&recorded);
    let summary = match recorded {
        Ok(summary) => summary,
        Err(error) => {
            output::say(error);
            return Ok(status);
        }
    };
    let telling = Telling {
        quiet: arguments.quiet,
        verbose: arguments.verbose,
        is_analysed: false,
        is_of_counts: false,
    };
    tell(&summary, &options, telling);
    if !has_content(&summary) {
        return Ok(status);
    }
    say_if_cut(&arguments, way, &summary);
    // Whatever comes of the answer, the status is that of the program.
    if let Err(failure) = answer(&arguments, way, &trace) {
        output::say(failure);
    }
    Ok(status)
}

fn split(command: &[OsString]) -> Result<(&OsStr, &[OsString]), Failure> {
    let first = command.split_first();
    first
        .map(|(program, words)| (program.as_os_str(), words))
        .ok_or_else(|| Failure::new("name a program to run: trackway run PROGRAM ARGUMENTS"))
}

/// # Errors
/// If the program's file says that nothing could be recorded.
fn way(arguments: &RunArguments, program: &OsStr) -> Result<Way, Failure> {
    match (arguments.binary, arguments.sample) {
        (true, _) => Ok(Way::Binary),
        (_, true) => Ok(Way::Sampled),
        _ if counts(program) => Ok(Way::Counting),
        _ if is_plain(program) => Err(not_compiled(program)),
        _ => Ok(Way::Compiled),
    }
}

fn not_compiled(program: &OsStr) -> Failure {
    let name = quoted(&program.to_string_lossy());
    Failure::new(format!(
        "{name} wasn't compiled by Trackway, so it records nothing. There are two ways on:\n  \
         compile it        CC=\"trackway cc\" CXX=\"trackway c++\" make, or: trackway cc -O2 -g -o prog prog.c\n  \
         take it as it is  trackway run --binary {name}   (every access, slower), or\n                    \
         trackway run --sample {name}   (samples, at its own speed)\n\
         If it loads or starts code that was compiled so: trackway record {name}"
    ))
}

fn options(
    arguments: &RunArguments,
    way: Way,
    program: &OsStr,
    words: &[OsString],
    trace: &Path,
) -> Result<RecordOptions, Failure> {
    let output = Output::File {
        path: trace.to_owned(),
        force: arguments.force,
    };
    let mut options = RecordOptions::new(program, output);
    options.arguments = words.to_vec();
    options.buffer_size = buffer_size(program, None);
    match way {
        Way::Binary => options.client = Some(Installation::locate().binary_client()?),
        Way::Sampled => sample(&mut options)?,
        Way::Compiled | Way::Counting => {}
    }
    if has_limit(way) {
        options.windows.most_bytes = Some(arguments.max_size);
    }
    options.notify = |message| output::warn(message);
    if !arguments.quiet {
        options.progress = |message| output::say(message);
    }
    Ok(options)
}

/// Counts and samples are little.
fn has_limit(way: Way) -> bool {
    matches!(way, Way::Compiled | Way::Binary)
}

fn has_content(summary: &RecordSummary) -> bool {
    let has_samples = summary
        .samples
        .as_ref()
        .is_some_and(|samples| samples.samples > 0);
    summary.raw_bytes > 0 || summary.counts.threads > 0 || has_samples
}

fn say_if_cut(arguments: &RunArguments, way: Way, summary: &RecordSummary) {
    if has_limit(way) && summary.stored_bytes >= arguments.max_size {
        let size = binary_size(arguments.max_size);
        output::warn(format!(
            "only the beginning was recorded, until the trace had {size} (--max-size): the program ran on unrecorded. \
             `trackway record --bursts 10ms/1s` records parts of the whole run, and --start-after a later part"
        ));
    }
}

/// Prints what the trace says, what to type next, and where the trace is.
fn answer(arguments: &RunArguments, way: Way, trace: &Path) -> Result<(), Failure> {
    let part = match way {
        Way::Compiled | Way::Binary => Middle::of(&Trace::open(trace)?, arguments.look),
        Way::Counting | Way::Sampled => None,
    };
    let (verb, words) = question(arguments, way, part);
    if let Some(part) = part {
        say_part(arguments, trace, part);
    }
    let found = find(arguments, verb, &words, trace)?;
    let is_wanted = run_page::is_wanted(arguments, &Trace::open(trace)?);
    let page = is_wanted
        .then(|| run_page::write(arguments, trace, found.advice.as_ref()))
        .flatten();
    let advised = found
        .next
        .filter(|step| !(page.is_some() && step.verb() == "view"));
    let next = advised.map_or_else(
        || next(arguments, way, trace, (part.is_none(), page.is_some())),
        Next::after_advice,
    );
    output::print(&match found.report {
        Some(report) => for_programs(&report, verb, trace, page.as_deref(), part, &next),
        None => conclusion(&next, trace, page.as_deref()),
    })
}

/// The verb that answers, and its options.
fn question(arguments: &RunArguments, way: Way, part: Option<Middle>) -> (&'static str, Vec<String>) {
    let mut words = shown(arguments);
    match way {
        Way::Counting => ("report", words),
        Way::Sampled => ("samples", words),
        Way::Compiled | Way::Binary => {
            let machine = arguments.machine.iter();
            words.extend(machine.map(|machine| format!("--machine={machine}")));
            words.extend(part.into_iter().flat_map(Middle::options));
            ("advise", words)
        }
    }
}

/// What the trace says.
#[derive(Default)]
struct Found {
    /// What is still to be printed, for programs.
    report: Option<Report>,
    /// What to change, for the page.
    advice: Option<KnownAdvice>,
    /// What follows from the cards of advice, if there are any.
    next: Option<NextStep>,
}

/// Asks the trace, and prints the answer if it is for people.
fn find(
    arguments: &RunArguments,
    verb: &'static str,
    words: &[String],
    trace: &Path,
) -> Result<Found, Failure> {
    let name = [trace.as_os_str()];
    match verb {
        "advise" => advise(&options_from(verb, words, &name)?, arguments.json),
        _ if arguments.json => Ok(Found {
            report: Some(ask(verb, words, &Trace::open(trace)?, Following::default())?),
            ..Found::default()
        }),
        "report" => report::show(&options_from(verb, words, &name)?, |_, _| None).map(|_| Found::default()),
        _ => samples::show(&options_from(verb, words, &name)?, None).map(|_| Found::default()),
    }
}

fn advise(asked: &AdviseArguments, is_for_programs: bool) -> Result<Found, Failure> {
    let advice = KnownAdvice::of(asked)?;
    let report = advice.shown(asked.output.rows());
    if !is_for_programs {
        asked.output.print_before(&report, report.table("cards"), None)?;
    }
    Ok(Found {
        next: NextStep::after_advice(&report, &asked.trace),
        advice: Some(advice),
        report: is_for_programs.then_some(report),
    })
}

/// A line of JSON. It stands alone in the last line, whatever the program has written before it.
fn for_programs(
    report: &Report,
    verb: &str,
    trace: &Path,
    page: Option<&Path>,
    part: Option<Middle>,
    next: &Next,
) -> String {
    let line = serde_json::json!({
        "trace": trace.to_string_lossy(),
        "page": page.map(Path::to_string_lossy),
        "verb": verb,
        "part": part.map_or(1.0, Middle::share),
        "next": next.command,
        "report": report_to_json(report),
    });
    format!("\n{line}\n")
}

/// Options of a verb that prints an answer.
fn shown(arguments: &RunArguments) -> Vec<String> {
    let flags = [(arguments.quiet, "--quiet"), (arguments.verbose, "--verbose")];
    let flags = flags
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, flag)| flag.to_owned());
    flags.chain([format!("--top={}", arguments.top)]).collect()
}

fn say_part(arguments: &RunArguments, trace: &Path, part: Middle) {
    if !arguments.quiet {
        output::say(format!(
            "the answer comes from {} of the run's time, in the middle of its records (--look {}); of all of it: {}",
            percent(part.share()),
            binary_size(arguments.look),
            NextStep::ask("advise", trace, "")
        ));
    }
}

fn sample(options: &mut RecordOptions) -> Result<(), Failure> {
    let sampling = SamplingArguments {
        sample: Some(None),
        overhead: None,
        hardware: None,
    };
    let sampled = SampledArguments {
        sample_source: SampleSource::Best,
        look_ahead: USUAL_WINDOW,
    };
    sampling.apply(&sampled, options)
}

const THE_PAGE: &str = "a page for the browser";

/// What to type next.
struct Next {
    command: String,
    /// What that shows.
    shows: &'static str,
}

impl Next {
    fn after_advice(step: NextStep) -> Next {
        let command = step.to_string();
        let shows = match command.starts_with("trackway fix ") {
            true => "a patch",
            false => THE_PAGE,
        };
        Next { command, shows }
    }
}

/// Where no change is advised, or the page that shows it is there.
fn next(arguments: &RunArguments, way: Way, trace: &Path, (has_all, has_page): (bool, bool)) -> Next {
    let ask = |verb, shows| Next {
        command: NextStep::ask(verb, trace, "").to_string(),
        shows,
    };
    match way {
        Way::Compiled | Way::Binary if !has_all => ask("advise", "of the whole run"),
        Way::Compiled | Way::Binary => ask("report", "which data misses the cache"),
        Way::Counting if has_page => again("trackway top", arguments, "the regions while it runs"),
        Way::Counting => ask("view", THE_PAGE),
        Way::Sampled => again("trackway run --binary", arguments, "every access"),
    }
}

/// Runs the program once more.
fn again(verb: &str, arguments: &RunArguments, shows: &'static str) -> Next {
    let words: Vec<String> = arguments
        .command
        .iter()
        .map(|word| quoted(&word.to_string_lossy()))
        .collect();
    Next {
        command: format!("{verb} {}", words.join(" ")),
        shows,
    }
}

/// The last lines: where everything lies, and what to type next.
fn conclusion(next: &Next, trace: &Path, page: Option<&Path>) -> String {
    let page = match page {
        Some(page) => format!("page:  {}\n", page.display()),
        None if next.shows == THE_PAGE => String::new(),
        None => format!("page:  {} writes it\n", NextStep::ask("view", trace, "")),
    };
    let trace = trace.display();
    let Next { command, shows } = next;
    format!("\ntrace: {trace}\n{page}next:  {command}   ({shows})\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{CommandLine, Verb};
    use clap::Parser;

    fn parse(line: &str) -> RunArguments {
        let words = ["trackway", "run"].into_iter().chain(line.split_whitespace());
        match CommandLine::parse_from(words).verb {
            Verb::Run(arguments) => arguments,
            _ => panic!("not the verb run"),
        }
    }

    #[test]
    fn a_program_needs_no_dashes_and_keeps_its_options() {
        for line in ["-f ./prog -o x --top 9", "-f -- ./prog -o x --top 9"] {
            let arguments = parse(line);
            assert_eq!(arguments.command, ["./prog", "-o", "x", "--top", "9"], "{line}");
            assert_eq!(
                (arguments.output, arguments.top, arguments.force),
                (None, 3, true)
            );
        }
    }

    #[test]
    fn plain_programs_are_refused_with_the_ways_on() {
        let message = way(&parse("/bin/sh"), OsStr::new("/bin/sh"))
            .unwrap_err()
            .to_string();
        for needed in [
            "trackway cc",
            "trackway run --binary /bin/sh",
            "trackway run --sample /bin/sh",
        ] {
            assert!(message.contains(needed), "{message}");
        }
        assert_eq!(
            way(&parse("--binary /bin/sh"), OsStr::new("/bin/sh")).unwrap(),
            Way::Binary
        );
        assert_eq!(
            way(&parse("--sample /bin/sh"), OsStr::new("/bin/sh")).unwrap(),
            Way::Sampled
        );
    }

    #[test]
    fn compiled_programs_have_a_limit_and_samples_have_none() {
        let options = |line: &str, way: Way| {
            let arguments = parse(line);
            options(&arguments, way, OsStr::new("p"), &[], Path::new("t")).unwrap()
        };
        let compiled = options("--max-size 2M p", Way::Compiled);
        assert_eq!(compiled.windows.most_bytes, Some(2 << 20));
        let sampled = options("--sample p", Way::Sampled);
        assert!(sampled.sampling.is_some() && !sampled.windows.has_any());
        assert!(!options("p", Way::Counting).windows.has_any());
    }

    #[test]
    fn where_everything_lies_is_said() {
        let next = Next {
            command: "trackway report t".into(),
            shows: "misses",
        };
        assert_eq!(
            conclusion(&next, Path::new("t"), Some(Path::new("t.html"))),
            "\ntrace: t\npage:  t.html\nnext:  trackway report t   (misses)\n"
        );
        assert_eq!(
            conclusion(&next, Path::new("t"), None),
            "\ntrace: t\npage:  trackway view t writes it\nnext:  trackway report t   (misses)\n"
        );
        let paged = Next::after_advice(NextStep::ask("view", Path::new("t"), ""));
        assert_eq!(
            conclusion(&paged, Path::new("t"), None),
            "\ntrace: t\nnext:  trackway view t   (a page for the browser)\n"
        );
    }
}
