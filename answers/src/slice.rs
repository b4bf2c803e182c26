//! Parts of a trace, as options name them: some times, some threads, the code of some functions.

mod content;
mod middle;
mod request;
mod when;

use clap::Args;

pub use content::Content;
pub use middle::Middle;
pub use request::{described_in, description, windows, SliceRequest};
pub use when::{When, WindowRange};

/// What of the trace is looked at.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct SliceArguments {
    #[command(flatten)]
    pub others: SliceLimits,
    /// Only before this time, as for --from
    #[arg(long, visible_alias = "until", value_name = "WHEN", help_heading = "Slice")]
    pub to: Option<When>,
    /// Only this thread, by the number that reports show; may be repeated
    #[arg(long, value_name = "TID", help_heading = "Slice")]
    pub thread: Vec<u32>,
}

/// The options of slices whose names every verb has left for them.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct SliceLimits {
    /// Only from this time on: a duration since the beginning of the recording such as 250ms or 1.5s, a part of the
    /// recording such as 10%, or mark:TEXT; mark:TEXT#2 is the second mark of that text
    #[arg(long, value_name = "WHEN", help_heading = "Slice")]
    pub from: Option<When>,
    /// Only from the first mark of that text on, as --from mark:TEXT
    #[arg(long, value_name = "TEXT", conflicts_with = "from", help_heading = "Slice")]
    pub after_mark: Option<String>,
    /// Only these windows, in which recording was on, by their numbers: N or N-M; may be repeated
    #[arg(long, visible_alias = "window", value_name = "N", help_heading = "Slice")]
    pub windows: Vec<WindowRange>,
    /// Only accesses by code of functions whose name, or linkage name, matches this pattern of * and ?, inlined code
    /// included; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Slice")]
    pub function: Vec<String>,
    /// Only what threads did while they were in a region of interest whose name matches this pattern of * and ?, each
    /// thread in its own; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Slice")]
    pub region: Vec<String>,
    /// Without the accesses that functions of libraries make for the program's calls, such as strlen's
    #[arg(long, help_heading = "Slice")]
    pub without_library: bool,
}

impl SliceArguments {
    /// What they ask for.
    pub fn request(&self) -> SliceRequest {
        self.others.request(self.to.clone(), self.thread.clone())
    }
}

impl SliceLimits {
    /// The same with the options that have other names elsewhere.
    pub fn request(&self, to: Option<When>, threads: Vec<u32>) -> SliceRequest {
        let after = self.after_mark.clone().map(When::Mark);
        SliceRequest {
            from: self.from.clone().or(after),
            to,
            windows: self.windows.clone(),
            threads,
            functions: self.function.clone(),
            regions: self.region.clone(),
            without_library: self.without_library,
            content: Content::Accesses,
        }
    }
}
