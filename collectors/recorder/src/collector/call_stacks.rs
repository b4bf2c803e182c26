//! Which code calls allocators, and where it is mapped: so that the frames of call stacks have names.

use std::collections::HashMap;

use trackway_names::ExecutedCode;
use trackway_trace::allocations::frames_of;
use trackway_trace::{encode_mappings, ChunkFields, ChunkKind, MappingChange, MappingEvent, Mappings};

use super::mapped_objects::MappedObjects;
use super::{Collector, Description};
use crate::encoding::Payload;

#[derive(Default)]
pub struct CallStacks {
    objects: MappedObjects,
    mappings: Vec<MappingEvent>,
    /// Return addresses of processes, and when they were seen last.
    frames: HashMap<(u32, u64), u64>,
}

impl CallStacks {
    /// The calls, of which the return addresses lie behind.
    pub fn add_to(&self, code: &mut ExecutedCode) {
        let mappings = Mappings::new(self.mappings.clone());
        for (&(pid, frame), &time_ns) in &self.frames {
            let call = frame.wrapping_sub(1);
            if let Some(mapping) = mappings.find(pid, time_ns, call) {
                code.add(&mapping.path, mapping.object_offset(call).into_iter());
            }
        }
    }
}

impl Collector<'_> {
    /// The process tells of all code that it has mapped.
    pub(super) fn take_mappings(&mut self, index: usize, buffer: &Description) {
        self.process_number(buffer);
        let length = match buffer.is_abandoned() {
            true => self.ring.written_length(index),
            false => buffer.length,
        };
        let mappings = self.call_stacks.objects.mappings(self.ring.bytes(index, length));
        self.ring.free(index, length);
        let changes = mappings.into_iter().map(MappingChange::Mapped).collect();
        self.push_changes(buffer, changes);
    }

    /// What a process that shows itself for the first time has mapped already.
    pub(super) fn note_origin(&mut self, buffer: &Description, has_former: bool) {
        let tells_of_stacks = self.ring.header().stack_frames > 0;
        let change = match (tells_of_stacks, buffer.parent_pid, has_former) {
            (false, ..) | (_, 0, false) => return,
            (_, 0, true) => MappingChange::Executed { name: String::new() },
            (_, parent, _) => MappingChange::Forked { parent },
        };
        self.push_changes(buffer, vec![change]);
    }

    pub(super) fn note_call_stacks(&mut self, index: usize, length: usize, buffer: &Description) {
        let last_ns = match buffer.is_abandoned() {
            true => self.clock.now_ns(),
            false => buffer.last_ns,
        };
        for frame in frames_of(self.ring.bytes(index, length)) {
            self.call_stacks.frames.insert((buffer.image.pid, frame), last_ns);
        }
    }

    fn push_changes(&mut self, buffer: &Description, changes: Vec<MappingChange>) {
        let events: Vec<MappingEvent> = changes
            .into_iter()
            .map(|change| MappingEvent {
                time_ns: buffer.first_ns,
                pid: buffer.image.pid,
                change,
            })
            .collect();
        let fields = ChunkFields {
            sequence: self.next_sequence(ChunkKind::Mappings),
            first_ns: buffer.first_ns,
            last_ns: buffer.first_ns,
            ..ChunkFields::new(ChunkKind::Mappings)
        };
        self.queue.push(fields, Payload::Bytes(encode_mappings(&events)));
        self.call_stacks.mappings.extend(events);
    }
}
