//! `trackway patterns`.

use std::path::PathBuf;
use std::process::ExitCode;
use trackway_trace::named_enum;

use clap::{Args, ValueEnum};
use trackway_analysis::patterns::Patterns;
use trackway_report::{Report, Table};
use trackway_trace::Trace;

use crate::chosen_tables::{self, Groups};
use crate::failure::Failure;
use crate::kept::{self, KeepingArguments};
use crate::model::{line_bytes_of_machine, parse_line_size};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::slice::{SliceArguments, SliceRequest};
use crate::summed::Sums;

/// Say how each place in the program moves through memory, and on how much memory it works
///
/// Prints which sites stay at one address, walk with a stride, follow pointers or jump at random; how many lines and pages
/// are accessed in each stretch of the program; and how evenly the accesses are spread over memory (entropy).
/// docs/verbs/patterns.md defines each number.
#[derive(Debug, Args)]
#[command(
    mut_arg("top", |top| top.help("Rows of the table of sites; 0 for all")),
    mut_arg("json", |json| json.help("Print JSON, with the working sets of all threads in full resolution")),
    mut_arg("csv", |csv| csv.help("Print one table as CSV")),
    after_help = "Examples:\n  trackway patterns prog.trackway\n  \
                        trackway patterns --top 30 --merged prog.trackway\n  \
                        trackway patterns --by field,line prog.trackway\n  \
                        trackway patterns --csv --table working-set prog.trackway > working-set.csv")]
pub struct PatternsArguments {
    /// The trace
    pub trace: PathBuf,
    /// The working set of all threads together, in one order [default: of each by itself]
    #[arg(long)]
    pub merged: bool,
    /// Tables of patterns; may be repeated [default: pattern, site]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<PatternsBy>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Bytes of a line: a power of two from 16 to 1G [default: that of the machine that recorded, or 64]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    /// Which table --csv prints [default: sites, or that of --by]
    #[arg(long, value_enum, requires = "csv", conflicts_with = "by")]
    pub table: Option<PatternsTable>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

named_enum! {
    #[derive(ValueEnum)]
    PatternsTable {
        Patterns = "patterns",
        Sites = "sites",
        WorkingSet = "working_set",
        WorkingSetSizes = "working_set_sizes",
        Entropy = "entropy",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PatternsBy {
    Pattern,
    Site,
    Field,
    Line,
    /// Loads, stores and the like
    Kind,
}

const BY_FIELD: Sums = Sums {
    of: "sites",
    name: "fields",
    title: "Fields by accesses",
    keys: &["field"],
    counted: "sites",
    added: &["accesses"],
    foremost: Some("pattern"),
};
const BY_LINE: Sums = Sums {
    name: "lines",
    title: "Lines by accesses",
    keys: &["file", "line"],
    ..BY_FIELD
};
const BY_KIND: Sums = Sums {
    name: "kinds",
    title: "Kinds by accesses",
    keys: &["kind"],
    ..BY_FIELD
};

impl Groups for PatternsBy {
    const ALL: &'static [PatternsBy] = &[PatternsBy::Pattern, PatternsBy::Site];

    fn tables(self) -> &'static [&'static str] {
        match self {
            PatternsBy::Pattern => &["patterns"],
            PatternsBy::Site => &["sites"],
            PatternsBy::Field => &["fields"],
            PatternsBy::Line => &["lines"],
            PatternsBy::Kind => &["kinds"],
        }
    }

    fn sums(self) -> Option<&'static Sums> {
        match self {
            PatternsBy::Pattern | PatternsBy::Site => None,
            PatternsBy::Field => Some(&BY_FIELD),
            PatternsBy::Line => Some(&BY_LINE),
            PatternsBy::Kind => Some(&BY_KIND),
        }
    }
}

impl Question for PatternsArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        let patterns = Patterns {
            line_bytes: self.line_size.unwrap_or_else(|| line_bytes_of_machine(trace)),
            merged: self.merged && trace.streams().len() > 1,
            top: chosen_tables::rows_for_sums(&self.by, self.output.rows()),
            fine: self.output.is_for_programs(),
        };
        let mut report = self.reading.report(&patterns, trace, Vec::new());
        if !self.by.is_empty() {
            self.choose(&mut report);
        }
        Ok(report)
    }

    fn slice(&self) -> SliceRequest {
        self.slice.request()
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

impl PatternsArguments {
    fn choose(&self, report: &mut Report) {
        let finer: Vec<Table> = report.table("sites").into_iter().cloned().collect();
        chosen_tables::choose(&mut report.tables, &finer, &self.by, self.output.rows());
        for table in report.tables.iter_mut().filter(|table| table.name() == "sites") {
            *table = chosen_tables::cut(table, self.output.rows());
        }
    }
}

pub fn run(arguments: &PatternsArguments) -> Result<ExitCode, Failure> {
    let report = kept::ask("patterns", arguments, &arguments.trace, &arguments.keeping)?;
    let named = arguments.table.map(|table| table.name());
    let by = (arguments.by.as_slice(), "sites");
    let csv = chosen_tables::csv_table(&arguments.output, &report, named, by)?;
    let next = NextStep::ask("advise", &arguments.trace, "");
    arguments.output.print_and_lead_on(&report, csv, &next)
}
