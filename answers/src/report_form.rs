//! What a report shows, and how.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::Args;
use trackway_analysis::misses::Misses;
use trackway_analysis::site_counts::Grouping;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::ModelArguments;
use crate::output::OutputArguments;
use crate::sources::SourceArguments;
use crate::time::TimeArguments;

const DEFAULT_GROUPINGS: [Grouping; 4] = [
    Grouping::Field,
    Grouping::Variable,
    Grouping::Line,
    Grouping::Function,
];

/// Groupings for traces of machine code, which have no variables and lines.
const MACHINE_CODE_GROUPINGS: [Grouping; 3] = [Grouping::Instruction, Grouping::Kind, Grouping::Thread];

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
    pub time: TimeArguments,
    #[command(flatten)]
    pub sources: SourceArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

impl ReportForm {
    /// Whether any of it differs from the defaults, except how much is shown.
    pub fn is_chosen(&self) -> bool {
        let mut usual = ReportForm::default();
        usual.output.detail = self.output.detail.clone();
        *self != usual
    }

    /// `nameless` says whether the trace is machine code without names, so that it has only instructions.
    pub fn groupings(&self, nameless: bool) -> Result<Vec<Grouping>, Failure> {
        match (self.output.csv, self.by.len()) {
            (true, 2..) => Err(Failure::new(
                "--csv prints one table; name one with --by, or use --json",
            )),
            (true, 0) if nameless => Ok(vec![Grouping::Instruction]),
            (false, 0) if nameless => Ok(MACHINE_CODE_GROUPINGS.to_vec()),
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
    ) -> Result<Misses, Failure> {
        let (caches, rank_by) = self.time.choose(&self.model, trace, merges, warnings)?;
        let machine = self.time.machine(&caches, trace, warnings)?;
        let misses = Misses::new(
            caches,
            self.groupings(trace.program().is_nameless())?,
            rank_by,
            self.output.rows(),
        );
        Ok(misses
            .with_sources_below(self.sources.root())
            .with_details()
            .with_time(machine)
            .with_bursts_of(trace))
    }
}

/// Parses the name of a grouping.
pub fn grouping_parser() -> impl TypedValueParser<Value = Grouping> {
    parser_of(&Grouping::ALL)
}

/// Parses the name of one of these groupings.
pub fn parser_of(groupings: &'static [Grouping]) -> impl TypedValueParser<Value = Grouping> {
    let names = groupings.iter().map(|grouping| grouping.name());
    PossibleValuesParser::new(names).try_map(|name| {
        let named = groupings.iter().find(|grouping| grouping.name() == name);
        named.copied().ok_or("no such table")
    })
}
