//! Advice from a trace.

use std::path::Path;
use std::process::ExitCode;

use trackway_answers::failure::Failure;
use trackway_answers::objects::open_samples;
use trackway_answers::output;
use trackway_answers::placement::recommend;
use trackway_trace::Existing;

use crate::{advice_file, PlaceArguments};

pub fn run(arguments: &PlaceArguments, trace: &Path) -> Result<ExitCode, Failure> {
    let trace = open_samples(trace)?;
    let report = recommend(
        &trace,
        &arguments.tiers,
        arguments.output.rows(),
        |placement| match &arguments.advice {
            Some(file) => {
                let text = advice_file::text(placement, &trace.meta().program)?;
                output::write_file(file, text.as_bytes(), Existing::with_force(arguments.force))
            }
            None => Ok(()),
        },
    )?;
    arguments.output.print(&report, report.tables.first())
}
