//! `trackway sharing`.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use trackway_analysis::sharing::Sharing;
use trackway_report::to_csv;
use trackway_trace::Trace;

use crate::arguments::SharingArguments;
use crate::failure::Failure;
use crate::output;
use crate::progress::ReadingProgress;
use crate::report::report;

/// Where the machine's lines are not known.
const USUAL_LINE_BYTES: u64 = 64;

pub fn run(arguments: &SharingArguments) -> Result<ExitCode, Failure> {
    let trace = Trace::open(&arguments.trace)?;
    let line_bytes = arguments
        .line_size
        .unwrap_or_else(|| line_bytes_of_machine(&trace));
    let top = if arguments.top == 0 {
        usize::MAX
    } else {
        arguments.top
    };
    let sharing = Sharing::new(trace.program(), line_bytes, top);
    let progress = ReadingProgress::new(&trace, arguments.quiet);
    let advance = |accesses, bytes| progress.advance(accesses, bytes);
    let (findings, summary) = trackway_analysis::run(&sharing, &trace, NonZeroUsize::MIN, &advance);
    progress.finish();
    let report = report(&trace, findings, &summary, Vec::new());
    if arguments.csv {
        report.warnings.iter().for_each(output::warn);
        output::print(&report.tables.first().map(to_csv).unwrap_or_default())?;
    } else {
        output::print_report(&report, arguments.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn line_bytes_of_machine(trace: &Trace) -> u64 {
    let caches = &trace.meta().caches;
    let sizes = caches.iter().map(|cache| u64::from(cache.line_bytes));
    sizes
        .filter(|size| size.is_power_of_two())
        .max()
        .unwrap_or(USUAL_LINE_BYTES)
}
