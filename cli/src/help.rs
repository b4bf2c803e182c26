//! Help: verbs in groups, and our options before a compiler's.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::arguments::CommandLine;
use crate::failure::Failure;
use crate::output;

/// Verbs by what they are for. Those of no group come under [`OTHERS`].
const GROUPS: [(&str, &[&str]); 7] = [
    ("Compile", &["cc", "c++", "fc", "rustc", "cargo"]),
    (
        "Record",
        &["run", "record", "top", "control", "collect", "import", "coverage"],
    ),
    (
        "Say what to change",
        &["advise", "fix", "layout", "whatif", "place"],
    ),
    (
        "Say what a program does",
        &[
            "report",
            "sharing",
            "reuse",
            "patterns",
            "branches",
            "map",
            "memory",
            "allocations",
            "samples",
            "objects",
            "last",
        ],
    ),
    ("Compare", &["diff", "check"]),
    (
        "Show, query and pass on",
        &["view", "query", "info", "dump", "export"],
    ),
    (
        "Look after the installation",
        &["doctor", "calibrate", "verify", "answers", "completions", "man"],
    ),
];
const OTHERS: &str = "Other";

/// Spaces before a verb, and before what it does.
const INDENT: usize = 2;
const COLUMN: usize = 15;

/// The same command line, whose help lists the verbs in groups.
pub fn grouped(command: Command) -> Command {
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).min(100));
    let verbs = listing(&command, width);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{verbs}\nOptions:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Each verb with what it does, below the title of its group.
fn listing(command: &Command, width: usize) -> String {
    let known: Vec<&str> = GROUPS
        .iter()
        .flat_map(|(_, verbs)| verbs.iter().copied())
        .collect();
    let others = command.get_subcommands().map(Command::get_name);
    let others: Vec<&str> = others.filter(|verb| !known.contains(verb)).collect();
    let groups = GROUPS.iter().map(|&(title, verbs)| (title, verbs));
    let mut text = String::new();
    for (title, verbs) in groups.chain([(OTHERS, others.as_slice())]) {
        let lines: String = verbs
            .iter()
            .filter_map(|verb| line(command, verb, width))
            .collect();
        if !lines.is_empty() {
            text += &format!("\n{title}:\n{lines}");
        }
    }
    text
}

/// `  record       Run a program and record its memory accesses`, in as many lines as that takes.
fn line(command: &Command, verb: &str, width: usize) -> Option<String> {
    let about = command
        .find_subcommand(verb)?
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = format!("{:INDENT$}{verb:width$}", "", width = COLUMN - INDENT);
    let mut used = COLUMN;
    for (index, word) in about.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && used + 1 + length > width {
            text += &format!("\n{:COLUMN$}", "");
            used = COLUMN;
        } else if index > 0 {
            text.push(' ');
            used += 1;
        }
        text += word;
        used += length;
    }
    Some(text + "\n")
}

/// What is left to do after our help.
#[derive(Debug, PartialEq, Eq)]
pub enum AfterHelp {
    RunCompiler,
    Nothing,
}

/// Prints our help if the words are a compiler's verb and nothing but --help, and the compiler's follows, or nothing but -h,
/// which clang doesn't know. Calls by links such as trackway-cc get the compiler's help alone: build systems read it.
///
/// # Errors
/// If nothing can be printed.
pub fn before_compiler(words: &[OsString]) -> Result<AfterHelp, Failure> {
    let [verb, option] = words else {
        return Ok(AfterHelp::RunCompiler);
    };
    let mut command = CommandLine::command();
    command.build();
    let compiler = verb.to_str().and_then(|verb| command.find_subcommand_mut(verb));
    match compiler {
        Some(compiler) if option == "--help" => {
            let help = compiler.render_long_help();
            output::print(&format!("{help}\nThe compiler's own help:\n\n"))?;
            Ok(AfterHelp::RunCompiler)
        }
        Some(compiler) if option == "-h" => {
            output::print(&compiler.render_help().to_string())?;
            Ok(AfterHelp::Nothing)
        }
        _ => Ok(AfterHelp::RunCompiler),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_stands_in_one_group() {
        let command = CommandLine::command();
        let text = listing(&command, 80);
        for verb in command.get_subcommands().map(Command::get_name) {
            let begin = format!("\n  {verb} ");
            assert_eq!(text.matches(&begin).count(), 1, "{verb}:\n{text}");
        }
        assert!(!text.contains("Other:"), "a verb has no group:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
