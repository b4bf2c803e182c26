//! `trackway verify`.

mod allocations;
mod invariants;
mod oracle;
mod samples;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
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
                        trackway record --oracle-dump -- ./prog\n  trackway verify prog.trackway")]
pub struct VerifyArguments {
    /// The trace
    pub trace: PathBuf,
    /// Threads to work with [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub quiet: output::QuietArgument,
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
