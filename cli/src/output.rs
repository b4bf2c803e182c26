//! What goes to standard output, and how.

use std::env;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use trackway_report::{report_to_json, Report, TextStyle};

use crate::failure::Failure;

/// Writes finished text. A reader that has gone away is no error worth a message.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(Failure::writing)
}

/// Writes a report as JSON or for people.
pub fn print_report(report: &Report, as_json: bool) -> Result<(), Failure> {
    print(&report_text(report, as_json, &terminal_style()))
}

/// A report as JSON or for people.
pub fn report_text(report: &Report, as_json: bool, style: &TextStyle) -> String {
    if as_json {
        format!("{:#}\n", report_to_json(report))
    } else {
        style.report(report)
    }
}

/// For files: lines are as long as they are.
pub const PLAIN_STYLE: TextStyle = TextStyle {
    width: None,
    colour: false,
};

/// Fits a terminal; elsewhere lines are as long as they are. Colour only on a terminal, and not with NO_COLOR.
pub fn terminal_style() -> TextStyle {
    let is_terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size()
        .filter(|_| is_terminal)
        .map(|(width, _)| width.0.into());
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    TextStyle {
        width,
        colour: is_terminal && !unwanted,
    }
}

/// Writes a file; replaces one only if told to.
pub fn write_file(path: &Path, content: &[u8], replace: bool) -> Result<(), Failure> {
    match replace {
        true => fs::write(path, content).map_err(|error| Failure::about(path, error)),
        false => write_new_file(path, content, "exists already; replace it with --force"),
    }
}

/// Writes a file; `remedy` is what to say if there is one.
pub fn write_new_file(path: &Path, content: &[u8], remedy: &str) -> Result<(), Failure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(content));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::about(path, remedy),
        _ => Failure::about(path, error),
    })
}

/// Tells the user of something that went wrong but did not end the work.
pub fn warn(message: impl std::fmt::Display) {
    eprintln!("trackway: warning: {message}");
}
