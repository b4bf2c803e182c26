//! `trackway verify`.

mod allocations;
mod invariants;
mod oracle;
mod samples;

use std::process::ExitCode;

use trackway_trace::Trace;

use crate::arguments::VerifyArguments;
use crate::failure::Failure;
use crate::{output, processors, soundness};

const CHECK_FAILED: u8 = 1;
/// A broken trace may break rules in every record.
const SHOWN: usize = 20;

/// What a check found.
struct Verdict {
    /// What is wrong, a finding each.
    findings: Vec<String>,
    /// One line for people; the last line of the output if nothing is wrong.
    summary: String,
}

pub fn run(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let threads = arguments.threads.unwrap_or_else(processors::available);
    soundness::warnings(&trace).iter().for_each(output::warn);
    let mut passed = show(&invariants::check(&trace, threads))?;
    if let Some(verdict) = allocations::check(&trace) {
        passed &= show(&verdict)?;
    }
    passed &= show(&oracle::check(&trace)?)?;
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CHECK_FAILED)
    })
}

fn show(verdict: &Verdict) -> Result<bool, Failure> {
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
    output::print(&text)?;
    Ok(verdict.findings.is_empty())
}
