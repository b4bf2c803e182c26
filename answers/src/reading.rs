//! Passes over a trace, and the report on what they found.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use trackway_analysis::blocks::Origins;
use trackway_analysis::{run, Analysis, Findings, Observer, RunSummary};
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::processors;
use crate::progress::{record_bytes, ReadingProgress};
use crate::soundness;

/// Opens a trace for a command that shows accesses, samples, or calls of allocators.
pub fn open_events(path: &Path) -> Result<Trace, Failure> {
    let trace = Trace::open(path)?;
    match trace.holds_only_counts() {
        true => Err(without_accesses(&trace, COUNTS)),
        false => Ok(trace),
    }
}

const COUNTS: &str = "counts, no accesses: `trackway report`";

/// Fails if the trace holds something else alone: counts, samples, or calls of allocators.
pub fn require_accesses(trace: &Trace) -> Result<(), Failure> {
    let other = match (trace.holds_only_allocations(), trace.is_sampled()) {
        (true, true) => "samples and calls of allocators: `trackway objects`, `samples` or `allocations`",
        (true, false) => "calls of allocators, no accesses: `trackway allocations`",
        (false, true) if !has_records(trace) => "samples, and not all accesses: `trackway samples`",
        _ if trace.holds_only_counts() => COUNTS,
        _ => return Ok(()),
    };
    Err(without_accesses(trace, other))
}

fn has_records(trace: &Trace) -> bool {
    trace.streams().iter().any(|stream| !stream.chunks.is_empty())
}

fn without_accesses(trace: &Trace, what: &str) -> Failure {
    Failure::about(trace.path(), format!("this trace holds {what}"))
}

/// How a trace is read. That changes no answer.
#[derive(Clone, Default, Args)]
pub struct ReadingArguments {
    /// Threads to work with, as far as the order of accesses allows [default: all processors]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// What follows the progress instead of a person at a terminal.
    #[arg(skip)]
    pub following: Following,
}

/// A program that follows how a trace is read, and may stop it; or none.
#[derive(Clone, Default)]
pub struct Following(pub Option<Arc<dyn Observer + Send>>);

impl fmt::Debug for Following {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "one" } else { "none" })
    }
}

/// Nothing: what is kept of an answer goes by the options that it depends on, as they are shown.
impl fmt::Debug for ReadingArguments {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("ReadingArguments")
    }
}

impl ReadingArguments {
    /// Whether who follows the reading has stopped it: then what was found is incomplete.
    pub fn is_stopped(&self) -> bool {
        self.following
            .0
            .as_ref()
            .is_some_and(|observer| observer.is_stopped())
    }

    /// Shows the progress of `read`, which reads the trace so many times. It gets the number of threads to work with,
    /// and what to call after each chunk.
    pub fn with_progress<R>(
        &self,
        trace: &Trace,
        passes: u64,
        read: impl FnOnce(NonZeroUsize, &dyn Observer) -> R,
    ) -> R {
        self.with_stages(trace, (0, passes), read)
    }

    /// The same where the first passes decide which others are made: the time left isn't said before.
    pub fn with_stages<R>(
        &self,
        trace: &Trace,
        (first, all): (u64, u64),
        read: impl FnOnce(NonZeroUsize, &dyn Observer) -> R,
    ) -> R {
        let threads = self.threads.unwrap_or_else(processors::available);
        let [settled, bytes] = [first, all].map(|passes| record_bytes(trace).saturating_mul(passes));
        if let Some(observer) = &self.following.0 {
            observer.begin(bytes);
            return read(threads, observer.as_ref());
        }
        let progress = ReadingProgress::new(bytes, settled, self.quiet);
        let done = read(threads, &progress);
        progress.finish();
        done
    }

    /// Shows the progress of all passes that `ask` makes in one bar, over so many bytes. The first ones may decide which
    /// others are made.
    pub fn as_one<R>(&self, (first, bytes): (u64, u64), ask: impl FnOnce(&ReadingArguments) -> R) -> R {
        if self.following.0.is_some() {
            return ask(self);
        }
        let progress = Arc::new(ReadingProgress::new(bytes, first, self.quiet));
        let done = ask(&ReadingArguments {
            following: Following(Some(Arc::<ReadingProgress>::clone(&progress))),
            ..self.clone()
        });
        progress.finish();
        done
    }

    /// The origins that divide allocation sites. Reads the trace if there are any that must be divided.
    pub fn origins(&self, trace: &Trace) -> Arc<Origins> {
        Arc::new(match Origins::divide(trace.program()) {
            true => self.with_progress(trace, Origins::PASSES, |threads, observer| {
                Origins::of(trace, threads, observer)
            }),
            false => Origins::none(trace.program()),
        })
    }

    /// What an analysis finds in one pass.
    pub fn pass<A: Analysis>(&self, analysis: &A, trace: &Trace) -> (Findings, RunSummary) {
        self.with_progress(trace, 1, |threads, observer| {
            run(analysis, trace, threads, observer)
        })
    }

    /// The same with what the findings are based on.
    pub fn report<A: Analysis>(&self, analysis: &A, trace: &Trace, warnings: Vec<String>) -> Report {
        let (findings, summary) = self.pass(analysis, trace);
        soundness::report(trace, findings, &summary, warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_passes_have_one_bar() {
        let reading = ReadingArguments::default();
        let seen = |reading: &ReadingArguments| {
            reading
                .following
                .0
                .clone()
                .map(|observer| Arc::as_ptr(&observer).addr())
        };
        assert_eq!(seen(&reading), None);
        reading.as_one((0, 100), |reading| {
            let bar = seen(reading);
            assert!(bar.is_some());
            reading.as_one((0, 7), |inner| assert_eq!(seen(inner), bar));
        });
    }
}
