//! `trackway diff`.

mod comment;
mod folders;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use trackway_analysis::site_counts::Grouping;
use trackway_report::{compare, Comparison, Report, Selection, Table, TableBuilder};
use trackway_trace::Trace;

use crate::comparable::{AnalysisName, Settings};
use crate::edited::forget_edited_sources;
use crate::failure::Failure;
use crate::input::Input;
use crate::model::{parse_line_size, ModelArguments};
use crate::next_step::NextStep;
use crate::output::OutputArguments;
use crate::reading::{require_accesses, ReadingArguments};
use crate::report_form::grouping_parser;
use crate::shell_word::quoted;
use crate::slice::{described_in, SliceArguments};
use crate::sources::SourceArguments;
use crate::time::TimeArguments;

/// Say what changed between two traces
///
/// Compares the tables of an analysis row by row: rows belong together by their names, lines also by their text when an
/// edit has shifted them. Prints the numbers before and after, and what is new and gone, the largest change first.
/// Either side may also be a report that --json has saved (with --top 0, so that it has all rows). Misses of both traces
/// are those of the same caches. Options of slices choose the same part of each trace. Of two folders, traces of the same program and arguments are compared with each other.
/// docs/verbs/diff.md says how rows are matched and what is exact.
#[derive(Debug, Args)]
#[command(
    mut_arg("sort", |sort| sort.help("What to rank the report by: accesses, bytes, or misses in L1, L2, ..., or cycles with --time [default: L2, with --time cycles]")),
    mut_arg("cache", |cache| cache.help("Caches to simulate for both, as in `trackway report` [default: those of the machine that recorded the first]")),
    after_help = "Examples:\n  trackway diff before.trackway after.trackway\n  \
                        trackway diff --by line --measure l1_misses,accesses before.trackway after.trackway\n  \
                        trackway diff --time before.trackway after.trackway\n  \
                        trackway diff --again before2.trackway before.trackway after.trackway\n  \
                        trackway diff --analysis sharing before.trackway after.trackway\n  \
                        trackway diff --after-mark \"cache is warm\" before.trackway after.trackway\n  \
                        trackway report --json --top 0 before.trackway > before.json\n  \
                        trackway diff main-runs/ branch-runs/\n  \
                        trackway diff --markdown --again main2.trackway main.trackway branch.trackway > comment.md\n  \
                        trackway diff --csv --by field before.json after.trackway > fields.csv")]
pub struct DiffArguments {
    /// The trace, saved report or folder of traces before the change; or where traces are in an object store (s3://...)
    pub before: PathBuf,
    /// The trace, saved report or folder of traces after it
    pub after: PathBuf,
    /// Another trace, or saved report, of what BEFORE is of: how far they differ is noise; may be repeated
    #[arg(long, value_name = "FILE")]
    pub again: Vec<PathBuf>,
    /// The analysis whose tables are compared
    #[arg(long, value_enum, default_value_t = AnalysisName::Report)]
    pub analysis: AnalysisName,
    /// Tables to compare; may be repeated [default: those that the analysis shows]
    #[arg(long, value_parser = grouping_parser(), value_delimiter = ',')]
    pub by: Vec<Grouping>,
    /// Numbers to compare, by the names of columns in JSON; may be repeated [default: that by which the table is ranked]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub measure: Vec<String>,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Print Markdown for a comment on a change of code, of at most 65,000 bytes
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub markdown: bool,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub time: TimeArguments,
    #[command(flatten)]
    pub sources: SourceArguments,
    /// Bytes of a cache line for `sharing` [default: that of the machine that recorded]
    #[arg(long, value_name = "BYTES", value_parser = parse_line_size)]
    pub line_size: Option<u32>,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
}

pub fn run(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    let report = answer(arguments)?;
    if arguments.markdown {
        return arguments
            .output
            .print_text(&report, &comment::text(&report, arguments));
    }
    let next = next_step(arguments);
    arguments
        .output
        .print_before(&report, report.tables.first(), next.as_ref())
}

/// The page that compares two traces; there is none of saved reports and of folders.
fn next_step(arguments: &DiffArguments) -> Option<NextStep> {
    let is_trace = |path: &Path| Trace::open(path).is_ok_and(|trace| require_accesses(&trace).is_ok());
    let (before, after) = (&arguments.before, &arguments.after);
    (is_trace(before) && is_trace(after))
        .then(|| NextStep::ask("view", before, &quoted(&after.to_string_lossy())))
}

/// What changed, from one trace to another or from the traces of one folder to those of another.
///
/// # Errors
/// If a file is neither a trace nor a saved report, the analysis doesn't fit it, or a folder is compared with a file. If
/// cycles are asked for that nothing estimates.
pub fn answer(arguments: &DiffArguments) -> Result<Report, Failure> {
    let is_estimated = matches!(arguments.analysis, AnalysisName::Report | AnalysisName::Calls);
    if arguments.time.time && !is_estimated {
        return Err(Failure::new(
            "--time: only the analyses `report` and `calls` are compared with estimated cycles",
        ));
    }
    arguments.time.prepare()?;
    match (arguments.before.is_dir(), arguments.after.is_dir()) {
        (false, false) => {
            let again: Vec<&Path> = arguments.again.iter().map(PathBuf::as_path).collect();
            compared(arguments, &arguments.before, &arguments.after, &again)
        }
        (true, true) => folders::compared(arguments),
        _ => Err(Failure::new(
            "compare a trace with a trace, or a folder with a folder",
        )),
    }
}

/// What changed from one trace to the other.
fn compared(
    arguments: &DiffArguments,
    before: &Path,
    after: &Path,
    again: &[&Path],
) -> Result<Report, Failure> {
    let slice = arguments.slice.request();
    let (before, after) = (Input::open(before, &slice)?, Input::open(after, &slice)?);
    let again = again
        .iter()
        .map(|path| Input::open(path, &slice))
        .collect::<Result<Vec<Input>, Failure>>()?;
    let bytes = [&before, &after]
        .into_iter()
        .chain(&again)
        .map(Input::record_bytes)
        .sum();
    let mut warnings = Vec::new();
    let reports = arguments.reading.as_one((0, bytes), |reading| {
        let settings = settings(arguments, reading, &before, &after);
        let before = report(&before, arguments, &settings, "before", &mut warnings)?;
        let after = report(&after, arguments, &settings, "after", &mut warnings)?;
        // The warnings of these runs are of no interest.
        let of_again = |input| report(input, arguments, &settings, "again", &mut Vec::new());
        let again = again
            .iter()
            .map(of_again)
            .collect::<Result<Vec<Report>, Failure>>()?;
        Ok::<_, Failure>((before, after, again))
    });
    let (before, after, again) = reports?;
    let selection = Selection {
        measures: arguments.measure.clone(),
        top: arguments.output.rows(),
    };
    let comparison = compare(&before, &after, &again, &selection);
    warnings.extend(different_caches(&before, &after));
    let mut difference = difference(comparison, warnings, exactness(&before, &after));
    difference.tables.extend(slices(&before, &after));
    Ok(difference)
}

/// Settings for both sides: misses in different caches would say nothing about the change.
fn settings(
    arguments: &DiffArguments,
    reading: &ReadingArguments,
    before: &Input,
    after: &Input,
) -> Settings {
    let chosen = arguments.model.cache.clone();
    Settings {
        by: arguments.by.clone(),
        model: ModelArguments {
            cache: chosen.or_else(|| before.caches()).or_else(|| after.caches()),
            ..arguments.model.clone()
        },
        time: arguments.time.clone(),
        sources: arguments.sources.clone(),
        line_bytes: arguments.line_size,
        reading: reading.clone(),
    }
}

/// The report on one side. Source texts are left out if the file was edited since the program was compiled.
fn report(
    input: &Input,
    arguments: &DiffArguments,
    settings: &Settings,
    side: &str,
    warnings: &mut Vec<String>,
) -> Result<Report, Failure> {
    let mut report = input.report(arguments.analysis, settings)?;
    if let Input::Trace(trace) = input {
        for file in forget_edited_sources(&mut report, trace) {
            warnings.push(format!(
                "{side}: {file} was changed after the recording: its lines are matched by their order; to match them \
                 by their text, save a report with --json before you edit"
            ));
        }
    }
    let of_side = |warning: &String| format!("{side}: {warning}");
    warnings.extend(report.warnings.iter().map(of_side));
    Ok(report)
}

fn difference(comparison: Comparison, mut warnings: Vec<String>, exactness: Table) -> Report {
    warnings.extend(comparison.notes);
    let mut tables = comparison.tables;
    tables.push(exactness);
    Report {
        answer: comparison.answer,
        warnings,
        tables,
    }
}

fn different_caches(before: &Report, after: &Report) -> Option<String> {
    let geometry = |report: &Report| {
        let table = report.table("caches")?;
        let columns = ["level", "size_bytes", "ways", "line_bytes", "model"];
        let cells = columns
            .iter()
            .filter_map(|name| table.column(name))
            .flat_map(|column| (0..table.row_count()).map(move |row| format!("{:?}", column.value(row))));
        Some(cells.collect::<Vec<String>>())
    };
    (geometry(before)? != geometry(after)?).then(|| {
        "the reports are of different caches, so that their misses can't be compared; name the same ones with --cache"
            .to_owned()
    })
}

/// What of each trace was compared, unless that is all of both.
fn slices(before: &Report, after: &Report) -> Option<Table> {
    let slices = [before, after].map(described_in);
    if slices == [None, None] {
        return None;
    }
    let [before, after] = slices.map(|slice| slice.unwrap_or("all of the trace"));
    let builder = TableBuilder::new("slices", "What was compared", &[()])
        .text("before", |()| before)
        .text("after", |()| after);
    Some(builder.as_record().build())
}

/// Which numbers are the program's own, and which may differ from run to run.
fn exactness(before: &Report, after: &Report) -> Table {
    let streams = |report: &Report| report.table("trace")?.integer("streams", 0);
    let counts = match (streams(before), streams(after)) {
        (Some(0 | 1), Some(0 | 1)) => "exact: one thread; the same program and input make the same accesses",
        _ => "several threads: what they do may depend on their timing",
    };
    if after.table("sampled").is_some() {
        return TableBuilder::new("exactness", "What differs from run to run", &[()])
            .text("samples", |()| {
                "fall by chance; the report of each trace has the intervals within which its shares lie, and another run, \
                 with --again, shows how far runs differ"
            })
            .as_record()
            .build();
    }
    TableBuilder::new("exactness", "What differs from run to run", &[()])
        .text(("counts", "accesses and bytes"), |()| counts)
        .text("misses", |()| {
            "depend on where the system puts memory, too; with --again, another run of the first program shows how much"
        })
        .text(("hand_overs", "hand-overs"), |()| "depend on the threads' timing")
        .as_record()
        .build()
}
