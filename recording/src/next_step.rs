//! What to type after a recording.

use trackway_answers::next_step::NextStep;
use trackway_recorder::{Output, RecordOptions, RecordSummary};

/// The verb that answers what was recorded. None if no trace was written here, or nothing is in it.
pub fn after(summary: &RecordSummary, options: &RecordOptions) -> Option<NextStep> {
    if let Some(snapshots) = &summary.snapshots {
        let written = snapshots
            .written
            .iter()
            .rev()
            .find(|snapshot| snapshot.written.is_ok());
        return written.map(|snapshot| NextStep::ask("last", &snapshot.path, ""));
    }
    match &options.output {
        Output::File { path, .. } => verb(summary).map(|verb| NextStep::ask(verb, path, "")),
        Output::Collector(_) | Output::Discard => None,
    }
}

fn verb(summary: &RecordSummary) -> Option<&'static str> {
    let has_samples = summary
        .samples
        .as_ref()
        .is_some_and(|samples| samples.samples > 0);
    let has_accesses = summary.raw_bytes > 0 || summary.counts.threads > 0;
    match (has_samples, has_accesses, summary.allocation_bytes > 0) {
        (true, _, true) => Some("objects"),
        (true, _, false) => Some("samples"),
        (false, true, _) => Some("report"),
        (false, false, true) => Some("allocations"),
        (false, false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conclusion::tests::summary;
    use trackway_recorder::SamplesSummary;

    #[test]
    fn the_next_verb_answers_what_was_recorded() {
        let options = |output| RecordOptions::new("p", output);
        let file = options(Output::File {
            path: "a b".into(),
            force: false,
        });
        let mut summary = summary();
        let next = |summary: &RecordSummary| after(summary, &file).map(|next| next.to_string());
        assert_eq!(next(&summary), None);
        summary.allocation_bytes = 1;
        assert_eq!(next(&summary).unwrap(), "trackway allocations 'a b'");
        summary.raw_bytes = 1;
        assert_eq!(next(&summary).unwrap(), "trackway report 'a b'");
        assert_eq!(after(&summary, &options(Output::Discard)), None);
        summary.raw_bytes = 0;
        summary.samples = Some(SamplesSummary {
            samples: 1,
            ..SamplesSummary::default()
        });
        assert_eq!(next(&summary).unwrap(), "trackway objects 'a b'");
        summary.allocation_bytes = 0;
        assert_eq!(next(&summary).unwrap(), "trackway samples 'a b'");
    }
}
