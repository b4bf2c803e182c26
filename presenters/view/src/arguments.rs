//! Arguments of `trackway view`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use trackway_answers::kept::KeepingArguments;
use trackway_answers::model::ModelArguments;
use trackway_answers::reading::ReadingArguments;
use trackway_answers::slice::SliceArguments;
use trackway_answers::sources::SourceArguments;
use trackway_answers::time::MachineArguments;
use trackway_answers::trace_size::parse_look;

/// Rows of each table by default. More would not help readers, and the page has to open at once.
pub const DEFAULT_ROWS: usize = 200;
/// Changes are looked for in traces of this size within some ten seconds.
const USUAL_LOOK: &str = "8M";
/// A page with more rows would be slow.
const MAX_ROWS: usize = 2000;

/// Make a page for the browser of what a trace says
///
/// Writes one HTML file that needs nothing else: the fields that miss the caches, the source beside its misses, the cache
/// lines that threads take from each other, what each thread did when, and what the numbers rest on. Of a program that
/// counts (`trackway cc --count`): its regions of interest, how even their threads are, what they executed and accessed,
/// beside the source. Of a sampled program: its samples by time and address, whose memory they access, and its lines.
/// Or serves it on the loopback interface (--serve) until interrupted. The page holds text of the
/// program's source files that are as they were compiled; --no-source leaves it out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  trackway view prog.trackway                    (writes prog.trackway.html)\n  \
                        trackway view --serve prog.trackway\n  \
                        trackway view before.trackway after.trackway   (what changed, and the second trace)\n  \
                        trackway view --cache preset:zen3 -o zen3.html prog.trackway"
)]
pub struct ViewArguments {
    /// The trace
    pub trace: PathBuf,
    /// Another trace, of the program after a change: the page is of this one, and says what changed from the first to it
    pub after: Option<PathBuf>,
    /// The page to write [default: TRACE.html, of the second trace if there are two]
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["serve", "json"])]
    pub output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(short, long)]
    pub force: bool,
    /// Serve the page at this address instead of writing it; port 0 is any that is free. Only who knows the printed address, which
    /// ends with a token, can read the page
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true,
          default_missing_value = "127.0.0.1:0", conflicts_with = "json")]
    pub serve: Option<SocketAddr>,
    /// Serve where other machines can connect, without encryption: the address, with its token, can be overheard
    #[arg(long, requires = "serve")]
    pub allow_remote: bool,
    /// Rows per table; 0 for as many as a page shows, 2000
    #[arg(long, default_value_t = DEFAULT_ROWS, value_name = "N")]
    pub top: usize,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    pub machine: MachineArguments,
    /// Look for changes in the middle of the run if the trace has more bytes than this; 0 to look for none
    #[arg(long, value_name = "SIZE", value_parser = parse_look, default_value = USUAL_LOOK)]
    pub look: u64,
    #[command(flatten)]
    pub sources: SourceArguments,
    /// No text of source files
    #[arg(long)]
    pub no_source: bool,
    /// Print the page's data as JSON instead
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub slice: SliceArguments,
    #[command(flatten)]
    pub reading: ReadingArguments,
    #[command(flatten)]
    pub keeping: KeepingArguments,
}

impl ViewArguments {
    /// The options on which the page depends.
    pub(crate) fn that_matter(&self) -> String {
        let (model, sources, slice) = (&self.model, &self.sources, &self.slice);
        format!(
            "{} {model:?} {:?} {} {sources:?} {slice:?} {}",
            self.rows(),
            self.machine,
            self.look,
            self.no_source
        )
    }

    /// The trace that the page is of.
    pub fn shown_trace(&self) -> &Path {
        self.after.as_deref().unwrap_or(&self.trace)
    }

    /// Rows per table.
    pub fn rows(&self) -> usize {
        match self.top {
            0 => MAX_ROWS,
            top => top.min(MAX_ROWS),
        }
    }
}
