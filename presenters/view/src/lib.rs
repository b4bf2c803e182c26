//! `trackway view`: one page for a browser, as one HTML file that needs nothing else, or served.
//!
//! [`Page::to_html`] puts the tables of any analyses, and the text of source files, into a page as JSON; scripts in `assets`
//! draw them. A table is drawn as a chart if it has the columns of one (`README.md` lists them), and as a table anyway.

mod arguments;
mod assets;
mod build;
mod charts;
mod compact;
mod comparison;
mod first;
mod html;
mod map_levels;
mod page;
mod parts;
mod request;
mod serve;
mod sources;
mod suspects;
mod terms;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use trackway_answers::failure::Failure;
use trackway_answers::kept::{Asked, KeepingArguments};
use trackway_answers::output;
use trackway_report::Report;
use trackway_trace::Trace;

pub use arguments::ViewArguments;
pub use build::{add_counted_run, empty_page, program_name};
pub use page::{Page, PagePart};
pub use parts::part;
pub use write::Target;

pub fn run(arguments: &ViewArguments) -> Result<ExitCode, Failure> {
    if let Some(address) = arguments.serve {
        // A port that is taken is reported before the work instead of after it.
        let listener = serve::listen(address, arguments.allow_remote)?;
        let page = text(arguments, Form::Html)?;
        serve::serve(&listener, &page, arguments.allow_remote)?;
    } else if arguments.json {
        output::print(&text(arguments, Form::Json)?)?;
    } else {
        let target = Target::of(arguments);
        target.check()?;
        target.write(&text(arguments, Form::Html)?, arguments.reading.quiet)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes the page of an opened trace, writes it to the file that the arguments name, and returns that file's path.
/// `advised` is what to change, if that is known already of the part that the page looks at.
///
/// # Errors
/// If the file exists and must not be replaced, which is reported before the work; if it can't be written, an option
/// doesn't fit the trace, or who follows the work has stopped it.
pub fn write_page(
    arguments: &ViewArguments,
    trace: &Trace,
    advised: Option<Report>,
) -> Result<PathBuf, Failure> {
    let target = Target::of(arguments);
    target.check()?;
    let page = build::page(arguments, trace, advised)?;
    if arguments.reading.is_stopped() {
        return Err(Failure::new(
            "the page was not written: the work on it was stopped",
        ));
    }
    target.write(&page.to_html(), arguments.reading.quiet)?;
    Ok(target.into_path())
}

/// What becomes of a page.
#[derive(Debug, Clone, Copy)]
enum Form {
    Html,
    Json,
}

/// The page of a trace, unless it is kept from an earlier time.
fn text(arguments: &ViewArguments, form: Form) -> Result<String, Failure> {
    let asked = Asked {
        verb: "view",
        options: format!("{form:?} {}", arguments.that_matter()),
        trace: arguments.shown_trace(),
        source_root: arguments.sources.root(),
        slice: arguments.slice.request(),
    };
    // An answer that is kept knows nothing of the state of a second trace.
    let keeping = KeepingArguments {
        fresh: arguments.keeping.fresh || arguments.after.is_some(),
    };
    asked.answer(&keeping, |trace| {
        let page = build::page(arguments, trace, None)?;
        Ok(match form {
            Form::Html => page.to_html(),
            Form::Json => format!("{:#}\n", page.to_json()),
        })
    })
}
