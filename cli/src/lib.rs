//! Trackway's command line: reads arguments and connects the other crates. One definition of the arguments serves two
//! programs: `trackway`, and `trackway-lake`, which replaces it where needed.

mod arguments;
mod calibrate;
mod collect;
mod control;
mod coverage;
mod doctor;
mod help;
mod import;
mod lake;
mod live;
mod man;
mod missing_option;
pub mod query;
mod record;
mod run;
mod run_arguments;
mod run_page;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use trackway_answers::{check, counts, diff, dump, export, failure, info, kept, output, soundness, verify};

pub use arguments::Verb;
use arguments::{CommandLine, CompletionsArguments};
use clap::{CommandFactory, FromArgMatches};
use failure::{Failure, ERROR};
use help::AfterHelp;
use trackway_driver::Language;

/// The program `trackway`.
pub fn main() -> ExitCode {
    let mut words = env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let done = match compiler_call(&name, &words) {
        Some((compiler, arguments)) => help::before_compiler(&words).and_then(|then| match then {
            AfterHelp::RunCompiler => compiler.run(arguments.to_vec()),
            AfterHelp::Nothing => Ok(ExitCode::SUCCESS),
        }),
        None => answer(verb()),
    };
    exit_code(done)
}

/// What the command line asks for; ends the process if it is wrong, or asks for help.
pub fn verb() -> Verb {
    let words: Vec<OsString> = env::args_os().collect();
    let verb = words
        .get(1)
        .map(|verb| verb.to_string_lossy())
        .unwrap_or_default();
    let matches = help::grouped(CommandLine::command())
        .try_get_matches_from(&words)
        .unwrap_or_else(|error| missing_option::with_hint(error, &verb).exit());
    CommandLine::from_arg_matches(&matches)
        .unwrap_or_else(|error| error.exit())
        .verb
}

/// Prints a failure, and returns its exit status.
pub fn exit_code(done: Result<ExitCode, Failure>) -> ExitCode {
    match done {
        Ok(status) => status,
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(failure) => {
            output::say(failure);
            ExitCode::from(ERROR)
        }
    }
}

fn answer(verb: Verb) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Cc(arguments) => Err(trackway_driver::run(Language::C, arguments.arguments)),
        Verb::Cxx(arguments) => Err(trackway_driver::run(Language::Cxx, arguments.arguments)),
        Verb::Fc(arguments) => Err(trackway_driver::run(Language::Fortran, arguments.arguments)),
        Verb::Rustc(arguments) => Err(trackway_driver::run_rustc(arguments.arguments)),
        Verb::Cargo(arguments) => Err(trackway_driver::run_cargo(arguments.arguments)),
        Verb::Run(arguments) => run::run(arguments),
        Verb::Record(arguments) => record::run(arguments),
        Verb::Control(arguments) => control::run(arguments),
        Verb::Collect(arguments) => collect::run(arguments),
        Verb::Import(arguments) => import::run(arguments),
        Verb::Top(arguments) => trackway_top::run(arguments),
        Verb::Behaviour(verb) => verb.run(),
        Verb::Fix(arguments) => trackway_fix::run(arguments),
        Verb::Place(arguments) => trackway_place::run(&arguments),
        Verb::Diff(arguments) if lake::has_url([&arguments.before, &arguments.after]) => Err(lake::run()),
        Verb::Diff(arguments) => diff::run(&arguments),
        Verb::Check(arguments) if lake::has_url([&arguments.trace]) => Err(lake::run()),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Export(arguments) if arguments.parquet.is_some() => {
            Err(arguments.require_no_slice().err().unwrap_or_else(lake::run))
        }
        Verb::Export(arguments) => export::run(&arguments),
        Verb::Change(verb) => verb.run(),
        Verb::Coverage(arguments) => coverage::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Query(_) => Err(lake::run()),
        Verb::Dump(arguments) => dump::run(&arguments),
        Verb::Verify(arguments) => verify::run(&arguments),
        Verb::View(arguments) => trackway_view::run(&arguments),
        Verb::Answers(arguments) => kept::run(&arguments),
        Verb::Calibrate(arguments) => calibrate::run(&arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Completions(arguments) => print_completions(&arguments),
        Verb::Man(arguments) => man::run(&arguments, CommandLine::command()),
    }
}

fn print_completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut CommandLine::command(),
        "trackway",
        &mut script,
    );
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// What a compiler call goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compiler {
    Of(Language),
    Rustc,
    Cargo,
    /// Cargo calls us in place of rustc.
    RustcOfCargo,
}

impl Compiler {
    /// That of the verb, or of a link named after the verb.
    fn named(verb: &str) -> Option<Compiler> {
        match verb {
            "cc" => Some(Compiler::Of(Language::C)),
            "c++" => Some(Compiler::Of(Language::Cxx)),
            "fc" => Some(Compiler::Of(Language::Fortran)),
            "rustc" => Some(Compiler::Rustc),
            "cargo" => Some(Compiler::Cargo),
            _ => None,
        }
    }

    /// Compilers take the place of this process.
    fn run(self, arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
        match self {
            Compiler::Of(language) => Err(trackway_driver::run(language, arguments)),
            Compiler::Rustc => Err(trackway_driver::run_rustc(arguments)),
            Compiler::Cargo => Err(trackway_driver::run_cargo(arguments)),
            Compiler::RustcOfCargo => trackway_driver::run_wrapper(arguments),
        }
    }
}

/// Compiler calls bypass the argument parser, which would interpret some of clang's arguments. The executable may also
/// be called by a link named after the command.
fn compiler_call<'a>(name: &OsStr, words: &'a [OsString]) -> Option<(Compiler, &'a [OsString])> {
    if trackway_driver::is_wrapper_call(words) {
        return Some((Compiler::RustcOfCargo, words));
    }
    let file_name = Path::new(name)
        .file_name()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    if file_name == "cargo-trackway" {
        return Some((Compiler::Cargo, words));
    }
    if let Some(compiler) = file_name.strip_prefix("trackway-").and_then(Compiler::named) {
        return Some((compiler, words));
    }
    let (verb, rest) = words.split_first()?;
    let compiler = Compiler::named(verb.to_str()?)?;
    let asks_for_help =
        compiler == Compiler::Cargo && rest.first().is_none_or(|word| word == "--help" || word == "-h");
    (!asks_for_help).then_some((compiler, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, words: &[&str]) -> Option<(Compiler, Vec<OsString>)> {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        compiler_call(OsStr::new(name), &words).map(|(compiler, rest)| (compiler, rest.to_vec()))
    }

    #[test]
    fn compilers_are_chosen_by_verb_or_by_name() {
        assert_eq!(
            call("/usr/bin/trackway", &["cc", "--help"]),
            Some((Compiler::Of(Language::C), vec!["--help".into()]))
        );
        assert_eq!(
            call("trackway", &["c++"]),
            Some((Compiler::Of(Language::Cxx), vec![]))
        );
        assert_eq!(
            call("/x/trackway-c++", &["cc"]),
            Some((Compiler::Of(Language::Cxx), vec!["cc".into()]))
        );
        assert_eq!(
            call("trackway-fc", &["a.f90"]),
            Some((Compiler::Of(Language::Fortran), vec!["a.f90".into()]))
        );
        assert_eq!(
            call("trackway", &["rustc", "--help"]),
            Some((Compiler::Rustc, vec!["--help".into()]))
        );
        assert_eq!(
            call("/x/cargo-trackway", &["trackway", "build"]),
            Some((Compiler::Cargo, vec!["trackway".into(), "build".into()]))
        );
        assert_eq!(call("trackway", &["cargo", "--help"]), None);
        assert_eq!(call("trackway", &["report", "cc"]), None);
        assert_eq!(call("trackway", &[]), None);
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
