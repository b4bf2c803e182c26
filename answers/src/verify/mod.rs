//! `trackway verify`.

mod allocations;
mod invariants;
mod oracle;
mod samples;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use trackway_report::{Report, TableBuilder};
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::{output, processors, soundness};

const CHECK_FAILED: u8 = 1;
/// Maximum number of findings that are shown, since a broken trace may break rules in every record.
const SHOWN: usize = 20;

/// What a check found.
struct Verdict {
    /// What is wrong, a finding each.
    findings: Vec<String>,
    /// One line for people; the last line of the output if nothing is wrong.
    summary: String,
}

/// Check a trace: the rules of the format, and the oracle's account of every access
///
/// Checks that every chunk, record and register obeys docs/format.md. If the program was built with `trackway cc
/// --oracle`, also checks that the trace decodes to exactly the accesses that the oracle reported: then the last line
/// is `oracle: N accesses equal`. Exit status 1 if a rule is broken or an access differs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway cc --oracle -O2 -o prog prog.c\n  \
                        trackway record --oracle-dump -- ./prog\n  trackway verify prog.trackway\n  \
                        trackway verify --json prog.trackway")]
pub struct VerifyArguments {
    /// The trace
    pub trace: PathBuf,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
}

pub fn run(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let threads = arguments.threads.unwrap_or_else(processors::available);
    let warnings = soundness::warnings(&trace);
    if !arguments.json {
        warnings.iter().for_each(output::warn);
    }
    let mut verdicts = Vec::new();
    let mut found = |check: &'static str, verdict: Verdict| {
        if !arguments.json {
            show(&verdict)?;
        }
        verdicts.push((check, verdict));
        Ok::<(), Failure>(())
    };
    found("invariants", invariants::check(&trace, threads))?;
    if let Some(verdict) = allocations::check(&trace) {
        found("allocations", verdict)?;
    }
    found("oracle", oracle::check(&trace)?)?;
    if arguments.json {
        output::print_report(&report(&verdicts, warnings), true)?;
    }
    Ok(
        match verdicts.iter().all(|(_, verdict)| verdict.findings.is_empty()) {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(CHECK_FAILED),
        },
    )
}

/// The verdicts for programs, with all findings.
fn report(verdicts: &[(&'static str, Verdict)], warnings: Vec<String>) -> Report {
    let summaries: Vec<&str> = verdicts
        .iter()
        .map(|(_, verdict)| verdict.summary.as_str())
        .collect();
    let findings: Vec<(&str, &String)> = verdicts
        .iter()
        .flat_map(|(check, verdict)| verdict.findings.iter().map(move |finding| (*check, finding)))
        .collect();
    Report {
        answer: summaries.join("; "),
        warnings,
        tables: vec![
            TableBuilder::new("checks", "Checks", verdicts)
                .text("check", |row| row.0)
                .yes_or_no("holds", |row| row.1.findings.is_empty())
                .count("findings", |row| row.1.findings.len())
                .text("summary", |row| row.1.summary.clone())
                .build(),
            TableBuilder::new("findings", "Findings", &findings)
                .text("check", |row| row.0)
                .text("finding", |row| row.1)
                .build(),
        ],
    }
}

fn show(verdict: &Verdict) -> Result<(), Failure> {
    let mut text = String::new();
    for finding in verdict.findings.iter().take(SHOWN) {
        text += finding;
        text.push('\n');
    }
    if let Some(more) = verdict.findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text += &format!("and {more} more\n");
    }
    text += &verdict.summary;
    text.push('\n');
    output::print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_each_check_and_all_findings() {
        let verdict = |findings: usize, summary: &str| Verdict {
            findings: vec!["broken".to_owned(); findings],
            summary: summary.to_owned(),
        };
        let verdicts = [
            ("invariants", verdict(0, "hold")),
            ("oracle", verdict(SHOWN + 5, "differs")),
        ];
        let report = report(&verdicts, vec!["a gap".into()]);
        assert_eq!(
            (report.answer.as_str(), report.warnings.len()),
            ("hold; differs", 1)
        );
        let checks = report.table("checks").unwrap();
        assert_eq!(
            [0, 1].map(|row| checks.text("holds", row).unwrap()),
            ["yes", "no"]
        );
        let findings = report.table("findings").unwrap();
        assert_eq!(
            (findings.row_count(), findings.text("check", 0)),
            (SHOWN + 5, Some("oracle"))
        );
    }
}
