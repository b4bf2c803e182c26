//! `trackway report`.

use std::process::ExitCode;

use trackway_analysis::cache::Caches;
use trackway_analysis::misses::{Grouping, Measure, Misses};
use trackway_analysis::{run as run_analysis, RunSummary};
use trackway_report::{to_csv, Report, Table, TableBuilder, Unit};
use trackway_trace::Trace;

use crate::arguments::ReportArguments;
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
    let groupings = groupings(arguments)?;
    let trace = Trace::open(&arguments.trace)?;
    let report = analyse(arguments, groupings, &trace)?;
    if arguments.csv {
        report.warnings.iter().for_each(output::warn);
        output::print(&report.tables.first().map(to_csv).unwrap_or_default())?;
    } else {
        output::print_report(&report, arguments.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn groupings(arguments: &ReportArguments) -> Result<Vec<Grouping>, Failure> {
    let chosen: Vec<Grouping> = arguments.by.iter().copied().map(Grouping::from).collect();
    match (arguments.csv, chosen.len()) {
        (true, 2..) => Err(Failure::new(
            "--csv prints one table; name one with --by, or use --json",
        )),
        (true, 0) => Ok(vec![Grouping::Field]),
        (false, 0) => Ok(DEFAULT_GROUPINGS.to_vec()),
        _ => Ok(chosen),
    }
}

fn analyse(arguments: &ReportArguments, groupings: Vec<Grouping>, trace: &Trace) -> Result<Report, Failure> {
    let mut warnings = soundness::warnings(trace);
    let caches = arguments
        .cache
        .clone()
        .unwrap_or_else(|| machine_caches(trace, &mut warnings));
    let rank_by = arguments.sort.unwrap_or_else(|| Measure::default_for(&caches));
    if !rank_by.exists_in(&caches) {
        return Err(Failure::new(format!(
            "--sort: there are no {rank_by} with the caches {caches}"
        )));
    }
    let top = if arguments.top == 0 {
        usize::MAX
    } else {
        arguments.top
    };
    let misses = Misses::new(trace.program(), caches, groupings, rank_by, top);
    let progress = ReadingProgress::new(trace, arguments.quiet);
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = run_analysis(&misses, trace, threads, &advance);
    progress.finish();
    warnings.extend(summary.damage.iter().map(ToString::to_string));
    let mut tables = findings.tables;
    tables.push(audit(trace, &summary));
    Ok(Report {
        answer: findings.answer.unwrap_or_default(),
        warnings,
        tables,
    })
}

fn machine_caches(trace: &Trace, warnings: &mut Vec<String>) -> Caches {
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
