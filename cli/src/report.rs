//! `trackway report`.

use std::process::ExitCode;

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::{Grouping, Measure, Misses};
use trackway_analysis::{run as run_analysis, Findings, RunSummary};
use trackway_report::{to_csv, Report, Table, TableBuilder, TextStyle, Unit};
use trackway_trace::Trace;

use crate::arguments::{ReportArguments, ReportForm};
use crate::failure::Failure;
use crate::output;
use crate::processors;
use crate::progress::ReadingProgress;
use crate::soundness;

const DEFAULT_GROUPINGS: [Grouping; 4] = [
    Grouping::Field,
    Grouping::Variable,
    Grouping::Line,
    Grouping::Function,
];

pub fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let form = &arguments.form;
    let groupings = groupings(form)?;
    let trace = Trace::open(&arguments.trace)?;
    let report = analyse(arguments, groupings, &trace)?;
    arguments.parquet.write(&report)?;
    if form.csv {
        report.warnings.iter().for_each(output::warn);
    }
    output::print(&text(form, &report, &output::terminal_style()))?;
    Ok(ExitCode::SUCCESS)
}

/// The report as it is to be printed. CSV has no place for the warnings.
pub fn text(form: &ReportForm, report: &Report, style: &TextStyle) -> String {
    if form.csv {
        report.tables.first().map(to_csv).unwrap_or_default()
    } else {
        output::report_text(report, form.json, style)
    }
}

pub fn groupings(form: &ReportForm) -> Result<Vec<Grouping>, Failure> {
    let chosen: Vec<Grouping> = form.by.iter().copied().map(Grouping::from).collect();
    match (form.csv, chosen.len()) {
        (true, 2..) => Err(Failure::new(
            "--csv prints one table; name one with --by, or use --json",
        )),
        (true, 0) => Ok(vec![Grouping::Field]),
        (false, 0) => Ok(DEFAULT_GROUPINGS.to_vec()),
        _ => Ok(chosen),
    }
}

fn analyse(arguments: &ReportArguments, groupings: Vec<Grouping>, trace: &Trace) -> Result<Report, Failure> {
    let mut warnings = Vec::new();
    let misses = analysis(&arguments.form, groupings, trace, true, &mut warnings)?;
    let progress = ReadingProgress::new(trace, arguments.quiet);
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = run_analysis(&misses, trace, threads, &advance);
    progress.finish();
    Ok(report(trace, findings, &summary, warnings))
}

/// The analysis that the form asks for. Threads share caches only if their streams can be merged.
pub fn analysis(
    form: &ReportForm,
    groupings: Vec<Grouping>,
    trace: &Trace,
    merges: bool,
    warnings: &mut Vec<String>,
) -> Result<Misses, Failure> {
    let (caches, rank_by) = caches(form.cache.clone(), form.sort, trace, merges, warnings)?;
    let top = if form.top == 0 { usize::MAX } else { form.top };
    Ok(Misses::new(caches, groupings, rank_by, top))
}

/// The caches to simulate, and what to rank by.
pub fn caches(
    chosen: Option<Caches>,
    sort: Option<Measure>,
    trace: &Trace,
    merges: bool,
    warnings: &mut Vec<String>,
) -> Result<(Caches, Measure), Failure> {
    let caches = chosen.unwrap_or_else(|| machine_caches(trace, warnings));
    // The accesses of one thread need no order, and those of growing streams have none.
    let caches = match merges && trace.streams().len() > 1 {
        true => caches,
        false => caches.all_private(),
    };
    let rank_by = sort.unwrap_or_else(|| Measure::default_for(&caches));
    match rank_by.exists_in(&caches) {
        true => Ok((caches, rank_by)),
        false => Err(Failure::new(format!(
            "--sort: there are no {rank_by} with the caches {caches}"
        ))),
    }
}

/// What was found, and what that rests on.
pub fn report(
    trace: &Trace,
    findings: Findings,
    summary: &RunSummary,
    warnings_of_analysis: Vec<String>,
) -> Report {
    let mut warnings = soundness::warnings(trace);
    warnings.extend(warnings_of_analysis);
    warnings.extend(summary.damage.iter().map(ToString::to_string));
    let mut tables = findings.tables;
    tables.push(audit(trace, summary));
    Report {
        answer: findings.answer.unwrap_or_default(),
        warnings,
        tables,
    }
}

pub fn machine_caches(trace: &Trace, warnings: &mut Vec<String>) -> Caches {
    Caches::of_machine(&trace.meta().caches).unwrap_or_else(|error| {
        let caches = Caches::default();
        warnings.push(format!(
            "the caches of the machine that recorded can't be simulated ({error}); using {caches}; \
             choose others with --cache"
        ));
        caches
    })
}

/// How much of the trace the numbers cover.
fn audit(trace: &Trace, summary: &RunSummary) -> Table {
    let dropped = trace.gaps().iter().map(|gap| gap.dropped_buffers).sum();
    let damaged = trace.damage().len() + summary.damage.len();
    TableBuilder::new("trace", "Trace", &[()])
        .integer("streams", "streams", Unit::Count, |()| {
            trace.streams().len() as u64
        })
        .integer("chunks", "chunks decoded", Unit::Count, |()| summary.chunks)
        .integer("accesses", "accesses decoded", Unit::Count, |()| summary.accesses)
        .integer("uncertain_accesses", "of them uncertain", Unit::Count, |()| {
            summary.uncertain_accesses
        })
        .integer("events", "other events", Unit::Count, |()| summary.events)
        .integer("gaps", "gaps", Unit::Count, |()| trace.gaps().len() as u64)
        .integer("dropped_buffers", "dropped buffers", Unit::Count, |()| dropped)
        .integer("damaged_parts", "damaged parts", Unit::Count, |()| damaged as u64)
        .text("complete", "ended well", |()| {
            if trace.end().is_some() {
                "yes"
            } else {
                "no"
            }
        })
        .as_record()
        .build()
}
