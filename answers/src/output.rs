//! What goes to standard output and to files, and how.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use trackway_report::{report_to_json, to_csv, Report, Table, TextStyle};

use crate::failure::Failure;
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
    pub parquet: ParquetArgument,
}

impl Default for OutputArguments {
    fn default() -> Self {
        OutputArguments {
            top: DEFAULT_ROWS,
            json: false,
            csv: false,
            parquet: ParquetArgument::default(),
        }
    }
}

impl OutputArguments {
    /// Text, and all of each table.
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

    /// Whether programs are to read it: then it need not fit a window.
    pub fn is_for_programs(&self) -> bool {
        self.json || self.csv
    }

    /// Prints the report, or that table if CSV is asked for.
    pub fn print(&self, report: &Report, csv: Option<&Table>) -> Result<ExitCode, Failure> {
        self.print_as(report, csv, |style| style.report(report))
    }

    /// The same with a text for people of the verb's own.
    pub fn print_as(
        &self,
        report: &Report,
        csv: Option<&Table>,
        text: impl FnOnce(&TextStyle) -> String,
    ) -> Result<ExitCode, Failure> {
        self.write_beside(report)?;
        print(&self.rendered(report, csv, || text(&terminal_style())))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the report, or that table if CSV is asked for, to a file.
    pub fn write(&self, report: &Report, csv: Option<&Table>, path: &Path) -> Result<(), Failure> {
        self.write_beside(report)?;
        let text = self.rendered(report, csv, || PLAIN_STYLE.report(report));
        replace_file(path, text.as_bytes())
    }

    /// What has no place in the text: the warnings, if that is CSV, and tables as Parquet.
    fn write_beside(&self, report: &Report) -> Result<(), Failure> {
        if self.csv {
            report.warnings.iter().for_each(warn);
        }
        self.parquet.write(report)
    }

    fn rendered(&self, report: &Report, csv: Option<&Table>, text: impl FnOnce() -> String) -> String {
        match (self.json, self.csv) {
            (true, _) => json(report),
            (_, true) => csv.map(to_csv).unwrap_or_default(),
            _ => text(),
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
    print(&match as_json {
        true => json(report),
        false => terminal_style().report(report),
    })
}

fn json(report: &Report) -> String {
    format!("{:#}\n", report_to_json(report))
}

/// For files: lines are as long as they are.
pub const PLAIN_STYLE: TextStyle = TextStyle {
    width: None,
    colour: false,
    unicode: true,
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
        unicode: !is_ascii_locale(),
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

/// Writes a file for the user alone; replaces one only if told to.
pub fn write_file(path: &Path, content: &[u8], replace: bool) -> Result<(), Failure> {
    match replace {
        true => replace_file(path, content),
        false => write_new_file(path, content, "exists already; replace it with --force"),
    }
}

/// Creates a file for the user alone, to be written and read again; replaces one only if told to.
pub fn create_file(path: &Path, replace: bool) -> Result<File, Failure> {
    let mut options = private();
    options.read(true);
    match replace {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::about(path, "exists already; replace it with --force"),
        _ => Failure::about(path, error),
    })
}

/// Writes a file for the user alone, in place of one that there may be.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let written = write_with(private().create(true).truncate(true), path, content);
    written.map_err(|error| Failure::about(path, error))
}

/// Writes a file for the user alone; `remedy` is what to say if there is one.
pub fn write_new_file(path: &Path, content: &[u8], remedy: &str) -> Result<(), Failure> {
    let written = write_with(private().create_new(true), path, content);
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::about(path, remedy),
        _ => Failure::about(path, error),
    })
}

/// What is in a trace is nobody else's business.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn write_with(options: &OpenOptions, path: &Path, content: &[u8]) -> io::Result<()> {
    options.open(path)?.write_all(content)
}

/// Tells the user of something that went wrong but did not end the work.
pub fn warn(message: impl std::fmt::Display) {
    eprintln!("trackway: warning: {message}");
}
