//! Finds the names of the executed code, at the end of a recording.

use std::time::{Duration, Instant};

use trackway_names::{resolve, Notice};
use trackway_sampler::SeenBlock;
use trackway_trace::{ChunkFields, ChunkKind};

use super::Collector;
use crate::encoding::Payload;
use crate::RecordOptions;

/// After this time, the recorder says what it is doing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Blocks whose names take about as long.
const MANY_BLOCKS: usize = 20_000;

impl Collector<'_> {
    /// Names code that was sampled, too.
    pub fn add_seen_code(&mut self, blocks: Vec<SeenBlock>) {
        for block in blocks {
            self.executed.add(&block.path, block.offsets.into_iter());
        }
    }

    /// Names all code that images described, if any did. Objects that can't be read are reported.
    pub fn push_names(&mut self, options: &RecordOptions) {
        self.call_stacks.add_to(&mut self.executed);
        if self.executed.is_empty() {
            return;
        }
        let began = Instant::now();
        let names = resolve(&self.executed, |notice| match notice {
            Notice::Unreadable { path, what } => {
                (options.notify)(&format!("the code of {path} has no names: {what}"))
            }
            Notice::Object {
                path,
                blocks,
                number,
                of,
            } if began.elapsed() > PATIENCE || blocks > MANY_BLOCKS => {
                (options.progress)(&format!(
                    "looking up the names of {path}, object {number} of {of}"
                ));
            }
            Notice::Object { .. } => {}
        });
        let fields = ChunkFields {
            sequence: self.next_sequence(ChunkKind::Names),
            ..ChunkFields::new(ChunkKind::Names)
        };
        self.queue.push(fields, Payload::Bytes(names.encode()));
    }
}
