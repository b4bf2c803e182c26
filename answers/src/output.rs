//! What goes to standard output and to files, and how.

use std::env;
use std::fmt;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use trackway_report::{
    folded_lines, printable_lines, report_to_json, to_csv, Report, Table, TerminalWriter, TextStyle,
};
use trackway_trace::output_file::{write_whole, Existing};

use crate::failure::Failure;
use crate::next_step::NextStep;
use crate::parquet::ParquetArgument;

/// Rows of a table.
const DEFAULT_ROWS: usize = 10;

/// How what an analysis found is shown.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct OutputArguments {
    /// Rows per table; 0 for all
    #[arg(long, default_value_t = DEFAULT_ROWS, value_name = "N")]
    pub top: usize,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the first table as CSV
    #[arg(long)]
    pub csv: bool,
    #[command(flatten)]
    pub detail: DetailArguments,
    #[command(flatten)]
    pub parquet: ParquetArgument,
}

/// Taken by verbs that show no progress, so that all verbs have it.
#[derive(Clone, Default, PartialEq, Args)]
pub struct QuietArgument {
    /// No progress bar, and nothing beside the answer but warnings
    #[arg(short, long)]
    pub quiet: bool,
}

/// Nothing: it changes no answer.
impl fmt::Debug for QuietArgument {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("QuietArgument")
    }
}

/// How much of a report people read.
#[derive(Clone, Default, PartialEq, Args)]
pub struct DetailArguments {
    /// Also show what the numbers rest on, such as the parts of the trace, and how much of it has names
    #[arg(short, long)]
    pub verbose: bool,
}

/// Nothing: kept answers have all of it.
impl fmt::Debug for DetailArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("DetailArguments")
    }
}

impl Default for OutputArguments {
    fn default() -> Self {
        OutputArguments {
            top: DEFAULT_ROWS,
            json: false,
            csv: false,
            detail: DetailArguments::default(),
            parquet: ParquetArgument::default(),
        }
    }
}

impl OutputArguments {
    /// Asks for text, with all rows of each table.
    pub fn all_rows() -> Self {
        OutputArguments {
            top: 0,
            ..OutputArguments::default()
        }
    }

    /// Rows of a table at most.
    pub fn rows(&self) -> usize {
        match self.top {
            0 => usize::MAX,
            top => top,
        }
    }

    /// Whether the output is for programs, so that it need not fit a window.
    pub fn is_for_programs(&self) -> bool {
        self.json || self.csv
    }

    /// Prints the report, or that table if CSV is asked for.
    pub fn print(&self, report: &Report, csv: Option<&Table>) -> Result<ExitCode, Failure> {
        self.print_as(report, csv, |style| style.report(report))
    }

    /// The same, and then what to type next, unless the output is for programs.
    pub fn print_and_lead_on(
        &self,
        report: &Report,
        csv: Option<&Table>,
        next: &NextStep,
    ) -> Result<ExitCode, Failure> {
        self.print_as(report, csv, |style| style.report(report) + &next.shown(style))
    }

    /// The same, if there is something to type next.
    pub fn print_before(
        &self,
        report: &Report,
        csv: Option<&Table>,
        next: Option<&NextStep>,
    ) -> Result<ExitCode, Failure> {
        match next {
            Some(next) => self.print_and_lead_on(report, csv, next),
            None => self.print(report, csv),
        }
    }

    /// The same with the command's own text for people.
    pub fn print_as(
        &self,
        report: &Report,
        csv: Option<&Table>,
        text: impl FnOnce(&TextStyle) -> String,
    ) -> Result<ExitCode, Failure> {
        self.write_beside(report)?;
        match self.is_for_programs() {
            true => print(&self.rendered(report, csv))?,
            false => print_styled(&text(&self.style(terminal_style())))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints a text that stands for the report, for other programs.
    pub fn print_text(&self, report: &Report, text: &str) -> Result<ExitCode, Failure> {
        self.parquet.write(report)?;
        print(text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the report, or that table if CSV is asked for, to a file.
    pub fn write(&self, report: &Report, csv: Option<&Table>, path: &Path) -> Result<(), Failure> {
        self.write_beside(report)?;
        let text = match self.is_for_programs() {
            true => self.rendered(report, csv),
            false => self.style(TextStyle::PLAIN).report(report),
        };
        write_file(path, text.as_bytes(), Existing::FileReplaced)
    }

    /// The style with as much of a report as is asked for.
    pub fn style(&self, style: TextStyle) -> TextStyle {
        TextStyle {
            bookkeeping: self.detail.verbose,
            ..style
        }
    }

    /// The table that an option `--table` names, if the output is CSV.
    pub fn csv_table<'r>(&self, report: &'r Report, name: &str) -> Result<Option<&'r Table>, Failure> {
        self.csv.then(|| table_named(report, name)).transpose()
    }

    /// Writes what the output itself has no place for: the warnings, if it is CSV, and tables as Parquet.
    fn write_beside(&self, report: &Report) -> Result<(), Failure> {
        if self.csv {
            report.warnings.iter().for_each(warn);
        }
        self.parquet.write(report)
    }

    /// The output for programs.
    fn rendered(&self, report: &Report, csv: Option<&Table>) -> String {
        match self.json {
            true => json(report),
            false => csv.map(to_csv).unwrap_or_default(),
        }
    }
}

/// The table that an option `--table` names.
pub fn table_named<'r>(report: &'r Report, name: &str) -> Result<&'r Table, Failure> {
    report.table(name).ok_or_else(|| {
        let names: Vec<&str> = report.tables.iter().map(|table| table.name()).collect();
        Failure::new(format!(
            "--table: there is no table {name:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// Standard output. A terminal gets no control characters; a pipe or a file, every byte.
pub fn standard_output() -> TerminalWriter<StdoutLock<'static>> {
    let output = io::stdout();
    let is_terminal = output.is_terminal();
    TerminalWriter::new(output.lock(), is_terminal)
}

/// Writes finished text. If the reader has gone away, that is no error worth a message.
pub fn print(text: &str) -> Result<(), Failure> {
    print_to(standard_output(), text)
}

/// The same for what a [`TextStyle`] has made: names in it are printable, and the colours are ours.
pub fn print_styled(text: &str) -> Result<(), Failure> {
    print_to(io::stdout().lock(), text)
}

fn print_to(mut output: impl Write, text: &str) -> Result<(), Failure> {
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .map_err(Failure::writing)
}

/// Writes a report as JSON or for people.
pub fn print_report(report: &Report, as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => print(&json(report)),
        false => print_styled(&terminal_style().report(report)),
    }
}

fn json(report: &Report) -> String {
    format!("{:#}\n", report_to_json(report))
}

/// Style that fits a terminal; elsewhere lines are as long as they are. Colour is used only on a terminal, and not with
/// NO_COLOR.
pub fn terminal_style() -> TextStyle {
    let is_terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size()
        .filter(|_| is_terminal)
        .map(|(width, _)| width.0.into());
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    TextStyle {
        width,
        colour: is_terminal && !unwanted,
        unicode: !is_ascii_locale(),
        answer_last: is_terminal,
        ..TextStyle::PLAIN
    }
}

/// Whether the locale is one without UTF-8; if none is set, most terminals know it.
pub fn is_ascii_locale() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// Writes a whole file for the user alone.
pub fn write_file(path: &Path, content: &[u8], existing: Existing) -> Result<(), Failure> {
    Ok(write_whole(path, content, existing)?)
}

/// Tells the user of something that went wrong but did not end the work.
pub fn warn(message: impl fmt::Display) {
    say(format!("warning: {message}"));
}

/// Tells the user something beside the output. On a terminal its lines fit the width.
pub fn say(message: impl fmt::Display) {
    let text = format!("trackway: {}", printable_lines(&message.to_string()));
    eprintln!("{}", folded_lines(&text, message_width()));
}

/// Tells what to type next. A command isn't folded, so that it can be copied.
pub fn say_next(command: impl fmt::Display) {
    eprintln!("trackway: next: {}", printable_lines(&command.to_string()));
}

/// The width of the terminal to which messages go, if they go to one.
fn message_width() -> Option<usize> {
    let stderr = io::stderr();
    let width = terminal_size::terminal_size_of(&stderr).filter(|_| stderr.is_terminal());
    width.map(|(width, _)| width.0.into())
}
