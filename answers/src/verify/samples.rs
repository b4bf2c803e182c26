//! The rules for samples and mappings.

use trackway_trace::{Trace, TraceError};

/// What samples and mappings were found to hold.
#[derive(Default)]
pub struct Checked {
    pub samples: u64,
    /// Findings with the offset of the chunk.
    pub texts: Vec<(u64, String)>,
}

/// Checks that they can be read, that their events are described, and that samples lie in what was mapped.
pub fn check(trace: &Trace) -> Checked {
    let (mappings, damage) = trace.mappings();
    let mut checked = Checked::default();
    checked.texts.extend(damage.iter().map(text));
    let events = trace
        .meta()
        .sampling
        .as_ref()
        .map_or(0, |sampling| sampling.events.len());
    for chunk in trace.chunks_of(trackway_trace::ChunkKind::Samples) {
        let samples = match trace.read_samples(chunk) {
            Ok(samples) => samples.samples,
            Err(error) => {
                checked.texts.push(text(&error));
                continue;
            }
        };
        checked.samples += samples.len() as u64;
        let undescribed = samples
            .iter()
            .filter(|sample| sample.event as usize >= events)
            .count();
        let unmapped = samples
            .iter()
            .filter(|sample| {
                mappings
                    .find(sample.pid, sample.time_ns, sample.seen_at)
                    .is_none()
            })
            .count();
        for (count, what) in [
            (
                undescribed,
                "are of an event that the start chunk doesn't describe",
            ),
            (unmapped, "lie where their process had nothing mapped"),
        ] {
            if count > 0 {
                let found = format!("chunk at offset {}: {count} samples {what}", chunk.offset);
                checked.texts.push((chunk.offset, found));
            }
        }
    }
    checked
}

fn text(error: &TraceError) -> (u64, String) {
    (error.offset().unwrap_or(0), error.to_string())
}
