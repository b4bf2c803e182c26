//! The arguments of `trackway run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use trackway_answers::trace_size::parse_trace_size;

/// Bytes of a trace of which answers come in some tens of seconds.
const USUAL_LOOK: &str = "32M";
/// Bytes that a disk can be expected to have.
const USUAL_SIZE: &str = "1G";

/// Record a program, and say what to change
///
/// Runs a program that was built with `trackway cc`, `c++`, `fc` or `cargo`, records it, and shows the changes that would
/// save most time, as `trackway advise` does. Of a program that counts it shows the regions, as `trackway report`. Other
/// programs are recorded by --binary or --sample. The recording ends at --max-size, and the program runs on; answers come
/// from a part of the run if the trace is larger than --look. Both are said. Ends with the program's exit status.
/// docs/verbs/run.md describes it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trackway run ./prog input.txt\n  \
                        trackway run --binary ./prog input.txt\n  \
                        trackway run --json -f ./prog | tail -n 1\n  \
                        trackway run --page -o run1.trackway ./prog")]
pub struct RunArguments {
    /// The trace to write [default: PROGRAM.trackway in the present folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    pub force: bool,
    /// Record the binary as it is, every access of the program and its libraries, under DynamoRIO
    #[arg(long, conflicts_with = "sample")]
    pub binary: bool,
    /// Sample the program as it is, and show where it spends its time
    #[arg(long)]
    pub sample: bool,
    /// Record until the trace has that many bytes; the program runs on
    #[arg(long, value_name = "SIZE", value_parser = parse_trace_size, default_value = USUAL_SIZE)]
    pub max_size: u64,
    /// Answer from a part in the middle of the run if the trace has more bytes than this
    #[arg(long, value_name = "SIZE", value_parser = parse_trace_size, default_value = USUAL_LOOK)]
    pub look: u64,
    /// Changes to show, at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub top: usize,
    /// The machine whose time is estimated: a preset, or a file of `trackway calibrate --output` [default: this machine]
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub machine: Option<String>,
    /// Write a page for the browser, TRACE.html, however long that takes [default: if it takes less than some 5 s]
    #[arg(long, conflicts_with = "no_page")]
    pub page: bool,
    /// Write no page
    #[arg(long)]
    pub no_page: bool,
    /// Print the answer for programs: the last line of the output is JSON, with the trace's path and the next command
    #[arg(long)]
    pub json: bool,
    /// Also say what the trace consists of, and what the numbers rest on
    #[arg(short, long)]
    pub verbose: bool,
    /// The answer alone: no progress bar, and nothing about the trace
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}
