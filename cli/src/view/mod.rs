//! `trackway view`.

mod arguments;
mod build;
mod charts;
mod counts;
mod map_levels;
mod passes;
mod request;
mod samples;
mod serve;
mod write;

use std::process::ExitCode;

pub use arguments::ViewArguments;
pub use build::{add_counted_run, empty_page, part, program_name};
use trackway_trace::Trace;
pub use write::Target;

use crate::failure::Failure;
use crate::output;

pub fn run(arguments: &ViewArguments) -> Result<ExitCode, Failure> {
    // A port that is taken, or a file that exists, is better known before the work than after it.
    let listener = arguments
        .serve
        .map(|address| serve::listen(address, arguments.allow_remote))
        .transpose()?;
    let target = Target::of(arguments);
    if listener.is_none() && !arguments.json {
        target.check()?;
    }
    let trace = Trace::open(&arguments.trace)?;
    let page = build::page(arguments, &trace)?;
    drop(trace);
    match listener {
        _ if arguments.json => output::print(&format!("{:#}\n", page.to_json()))?,
        Some(listener) => serve::serve(&listener, &page.to_html(), arguments.allow_remote)?,
        None => target.write(&page.to_html(), arguments.reading.quiet)?,
    }
    Ok(ExitCode::SUCCESS)
}
