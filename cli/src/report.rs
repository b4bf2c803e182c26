//! `trackway report`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::Args;
use trackway_analysis::misses::Grouping;
use trackway_analysis::offenders::Offenders;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::ModelArguments;
use crate::output::OutputArguments;
use crate::reading::ReadingArguments;

const DEFAULT_GROUPINGS: [Grouping; 4] = [
    Grouping::Field,
    Grouping::Variable,
    Grouping::Line,
    Grouping::Function,
];

/// Say what causes the cache misses of a recorded program
///
/// Prints the answer in a sentence, then the top fields, variables, lines and functions with their accesses, bytes and
/// misses in each level of a simulated cache, then what the numbers rest on. docs/analyses.md defines each number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway report prog.trackway\n  \
                        trackway report --by line --top 30 prog.trackway\n  \
                        trackway report --cache L1=32K,8,64:L2=512K,8,64 --sort L1 prog.trackway\n  \
                        trackway report --cache preset:zen3 prog.trackway\n  \
                        trackway report --by field --csv prog.trackway > fields.csv")]
pub struct ReportArguments {
    /// The trace
    pub trace: PathBuf,
    #[command(flatten)]
    pub form: ReportForm,
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// What a report shows, and how.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(mut_arg("csv", |csv| csv.help("Print one table as CSV, by default that of fields")))]
pub struct ReportForm {
    /// Tables to print; may be repeated [default: field, variable, line, function]
    #[arg(long, value_parser = grouping_parser(), value_delimiter = ',')]
    pub by: Vec<Grouping>,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

impl ReportForm {
    /// Whether any of it differs from the defaults.
    pub fn is_chosen(&self) -> bool {
        *self != ReportForm::default()
    }

    pub fn groupings(&self) -> Result<Vec<Grouping>, Failure> {
        match (self.output.csv, self.by.len()) {
            (true, 2..) => Err(Failure::new(
                "--csv prints one table; name one with --by, or use --json",
            )),
            (true, 0) => Ok(vec![Grouping::Field]),
            (false, 0) => Ok(DEFAULT_GROUPINGS.to_vec()),
            _ => Ok(self.by.clone()),
        }
    }

    /// The analysis that the form asks for. `merges` says whether the streams of the trace can be.
    pub fn analysis(
        &self,
        trace: &Trace,
        merges: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Offenders, Failure> {
        let (caches, rank_by) = self.model.choose(trace, merges, warnings)?;
        Ok(Offenders::new(
            caches,
            self.groupings()?,
            rank_by,
            self.output.rows(),
        ))
    }
}

/// Reads what a table has a row for.
pub fn grouping_parser() -> impl TypedValueParser<Value = Grouping> {
    PossibleValuesParser::new(Grouping::ALL.map(Grouping::name)).try_map(|name| {
        let named = Grouping::ALL.into_iter().find(|grouping| grouping.name() == name);
        named.ok_or("no such table")
    })
}

pub fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let mut warnings = Vec::new();
    let offenders = arguments.form.analysis(&trace, true, &mut warnings)?;
    let report = arguments.reading.report(&offenders, &trace, warnings);
    arguments.form.output.print(&report, report.tables.first())
}
