//! What functions cost by the path on which they were called.

use std::path::PathBuf;

use clap::Args;
use trackway_analysis::cache::Caches;
use trackway_analysis::calls::Calls;
use trackway_report::Report;
use trackway_trace::Trace;

use crate::failure::Failure;
use crate::model::simulated;
use crate::output::OutputArguments;
use crate::question::Question;
use crate::reading::{require_accesses, ReadingArguments};
use crate::time::TimeArguments;

/// What functions and their paths cost; `trackway diff --analysis calls` and the exports of call graphs show it.
#[derive(Debug, Clone, Args)]
pub struct CallsArguments {
    /// The trace
    pub trace: PathBuf,
    /// Caches to simulate, as for `report` [default: those of the machine that recorded]
    #[arg(long, value_name = "CACHES", value_parser = Caches::described_by)]
    pub cache: Option<Caches>,
    #[command(flatten)]
    pub time: TimeArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
}

impl Question for CallsArguments {
    fn answer(&self, trace: &Trace) -> Result<Report, Failure> {
        require_accesses(trace)?;
        calls(trace, &self.cache, &self.time, &self.reading, self.output.rows())
    }

    fn reading(&mut self) -> Option<&mut ReadingArguments> {
        Some(&mut self.reading)
    }
}

/// Makes tables of at most so many rows.
pub fn calls(
    trace: &Trace,
    cache: &Option<Caches>,
    time: &TimeArguments,
    reading: &ReadingArguments,
    rows: usize,
) -> Result<Report, Failure> {
    let mut warnings = Vec::new();
    let caches = simulated(cache.clone(), trace, true, &mut warnings);
    let machine = time.machine(&caches, trace, &mut warnings)?;
    Ok(reading.report(&Calls::new(caches, rows).with_time(machine), trace, warnings))
}
