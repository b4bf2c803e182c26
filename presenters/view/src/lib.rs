//! `trackway view`: one page for a browser, as one HTML file that needs nothing else, or served.
//!
//! [`Page::to_html`] puts the tables of any analyses, and the text of source files, into a page as JSON; scripts in `assets`
//! draw them. A table is drawn as a chart if it has the columns of one (`README.md` lists them), and as a table anyway.

mod arguments;
mod assets;
mod build;
mod charts;
mod compact;
mod html;
mod map_levels;
mod page;
mod request;
mod serve;
mod sources;
mod suspects;
mod write;

use std::process::ExitCode;

use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_trace::Trace;

pub use arguments::ViewArguments;
pub use build::{add_counted_run, empty_page, part, program_name};
pub use page::{Page, PagePart};
pub use write::Target;

pub fn run(arguments: &ViewArguments) -> Result<ExitCode, Failure> {
    // A port that is taken, or a file that exists, is reported before the work instead of after it.
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
