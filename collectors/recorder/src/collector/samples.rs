//! Chunks of samples and mappings.

use trackway_trace::{encode_mappings, ChunkFields, ChunkKind, MappingEvent, Samples};

use super::Collector;
use crate::encoding::Payload;

impl Collector<'_> {
    pub fn push_samples(&mut self, samples: &Samples) {
        let times = || samples.samples.iter().map(|sample| sample.time_ns);
        let fields = ChunkFields {
            sequence: self.next_sequence(ChunkKind::Samples),
            first_ns: times().min().unwrap_or(0),
            last_ns: times().max().unwrap_or(0),
            ..ChunkFields::new(ChunkKind::Samples)
        };
        self.queue.push(fields, Payload::Bytes(samples.encode()));
    }

    pub fn push_mappings(&mut self, changes: &[MappingEvent]) {
        let fields = ChunkFields {
            sequence: self.next_sequence(ChunkKind::Mappings),
            first_ns: changes.first().map_or(0, |change| change.time_ns),
            last_ns: changes.last().map_or(0, |change| change.time_ns),
            ..ChunkFields::new(ChunkKind::Mappings)
        };
        self.queue.push(fields, Payload::Bytes(encode_mappings(changes)));
    }
}
