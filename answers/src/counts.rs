//! Reports on programs that count.

use trackway_analysis::regions::{Ranked, Regions, TABLES};
use trackway_analysis::site_counts::{Grouping, Measure};
use trackway_analysis::Findings;
use trackway_report::{Report, Table};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::output::OutputArguments;
use crate::report_form::ReportForm;
use crate::soundness;

/// Whether the trace has counts to report.
pub fn are_in(trace: &Trace) -> bool {
    !trace.counting_threads().is_empty() || trace.holds_only_counts()
}

/// What was counted, as the form asks for it.
pub fn findings(trace: &Trace, regions: &Regions, form: &ReportForm) -> Result<Findings, Failure> {
    let ranked = Ranked {
        by: measure(trace, form.model.sort)?,
        top: form.output.rows(),
    };
    let mut findings = regions.findings(trace, ranked);
    if !form.by.is_empty() {
        let wanted = tables_by(trace, &form.by)?;
        let is_wanted = |table: &Table| table.name() == "counts" || wanted.contains(&table.name());
        findings.tables.retain(is_wanted);
    }
    Ok(findings)
}

/// A report on a trace without records.
pub fn report(trace: &Trace, form: &ReportForm) -> Result<Report, Failure> {
    let regions = Regions::read(trace).with_sources_below(form.sources.root());
    let found = findings(trace, &regions, form)?;
    Ok(report_of(trace, &regions, found))
}

/// Makes a report of the findings, with what makes them doubtful.
pub fn report_of(trace: &Trace, regions: &Regions, found: Findings) -> Report {
    let mut warnings = soundness::warnings(trace);
    warnings.extend(damage(regions));
    warnings.extend(unmeasured(regions));
    found.into_report(warnings)
}

/// Adds what was counted to a report on records.
pub fn add_to(report: &mut Report, trace: &Trace, form: &ReportForm) -> Result<(), Failure> {
    let regions = Regions::read(trace).with_sources_below(form.sources.root());
    let found = findings(trace, &regions, form)?;
    report.warnings.extend(damage(&regions));
    report.warnings.extend(unmeasured(&regions));
    report.answer = format!("{}; {}", report.answer, found.answer.unwrap_or_default());
    report.tables.extend(found.tables);
    Ok(())
}

/// All of a table, by its name in JSON.
pub fn whole_table(trace: &Trace, name: &str) -> Result<Table, Failure> {
    if !are_in(trace) {
        return Err(Failure::about(
            trace.path(),
            "this trace holds no counts; build with `trackway cc --count`",
        ));
    }
    let ranked = Ranked {
        by: Measure::Bytes,
        top: OutputArguments::all_rows().rows(),
    };
    let table = Regions::read(trace).table(trace, name, ranked);
    table.ok_or_else(|| {
        if TABLES.contains(&name) {
            return Failure::about(
                trace.path(),
                format!(
                    "this trace has no {name}; record with --hardware, on a machine that has what it counts"
                ),
            );
        }
        let names = TABLES.join(", ");
        Failure::new(format!("--table: there is no table {name:?}; there are {names}"))
    })
}

fn damage(regions: &Regions) -> impl Iterator<Item = String> + '_ {
    regions.damage().iter().map(ToString::to_string)
}

fn unmeasured(regions: &Regions) -> Option<String> {
    let events = regions.unmeasured_events()?.join(", ");
    Some(format!(
        "no entry of a region was measured: {events} are not known"
    ))
}

/// The measure by which counts are ranked.
pub fn measure(trace: &Trace, sort: Option<Measure>) -> Result<Measure, Failure> {
    match sort {
        None => Ok(Measure::Bytes),
        Some(Measure::Misses(_)) if trace.holds_only_counts() => Err(Failure::new(
            "--sort: counts say nothing of misses; there are accesses and bytes",
        )),
        Some(Measure::Misses(_)) => Ok(Measure::Bytes),
        Some(measure) => Ok(measure),
    }
}

/// The tables of counts that say the same as those of accesses.
fn tables_by(trace: &Trace, groupings: &[Grouping]) -> Result<Vec<&'static str>, Failure> {
    let mut tables = Vec::new();
    for grouping in groupings {
        match grouping {
            Grouping::Field | Grouping::Variable => tables.push("region_variables"),
            Grouping::Line => tables.push("region_lines"),
            Grouping::Thread => tables.push("regions_by_thread"),
            other if trace.holds_only_counts() => {
                return Err(Failure::new(format!(
                    "--by {}: counts have tables by field, line and thread",
                    other.name()
                )))
            }
            _ => {}
        }
    }
    Ok(tables)
}
