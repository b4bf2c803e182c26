//! What changed, as a comment on a change of code.

use trackway_report::{counted, to_markdown, MarkdownFrame, Report, Table, COMMENT_BYTES};

use super::DiffArguments;
use crate::shell_word::quoted;

/// By this, scripts find the comment that an earlier run of theirs has written.
const MARKER: &str = "trackway diff";

/// The changes of programs, fields and lines, those of other tables folded.
pub fn text(report: &Report, arguments: &DiffArguments) -> String {
    let [before, after] = [&arguments.before, &arguments.after].map(|path| path.display().to_string());
    let frame = MarkdownFrame {
        marker: MARKER.into(),
        heading: "Memory accesses: what changed".into(),
        note: note(arguments.again.len()),
        command: format!("trackway diff --top 0 {} {}", quoted(&before), quoted(&after)),
    };
    to_markdown(report, &frame, COMMENT_BYTES, is_open)
}

fn is_open(table: &Table) -> bool {
    table.name() == "programs" || table.name().starts_with("fields_") || table.name().starts_with("lines_")
}

fn note(further_runs: usize) -> String {
    match further_runs {
        0 => "Noise is not known: name further runs of the program before the change with --again.".into(),
        runs => format!(
            "Noise is the largest number less the least in {} of the program before the change.",
            counted(runs as u64 + 1, "run")
        ),
    }
}
