//! A change: what it gains, what that rests on, and when it would be wrong.

use trackway_analysis::layout::MemberMove;
use trackway_analysis::site_counts::SiteCounters;
use trackway_trace::{LocationId, Program, Trace};

use crate::next_step::NextStep;

/// What cards call this change.
pub const HUGE_PAGES: &str = "huge pages";

pub struct Card {
    pub change: String,
    /// What is changed.
    pub of: String,
    /// The program's counters with the change.
    pub after: SiteCounters,
    pub because: String,
    /// When the advice is wrong.
    pub unless: String,
    pub worse: String,
    pub place: Option<String>,
    /// What to type or to do next.
    pub next: String,
    /// Lines for the source.
    pub definition: Vec<String>,
    /// Where members stand before and after, if the change is one of a layout.
    pub moves: Vec<MemberMove>,
}

/// The command that says between which places threads pass lines.
pub fn sharing(trace: &Trace) -> NextStep {
    NextStep::ask("sharing", trace.path(), "")
}

/// File and line.
pub fn place(recorded: &Program, location: LocationId) -> Option<String> {
    let location = recorded.location(location);
    let file = recorded.string(location.file).rsplit('/').next()?;
    (!file.is_empty()).then(|| format!("{file}:{}", location.line))
}
