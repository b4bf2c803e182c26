//! Which code calls allocators, and where it is mapped: so that the frames of call stacks have names.

use std::collections::HashMap;

use trackway_names::ExecutedCode;
use trackway_trace::allocations::frames_of;
use trackway_trace::{encode_mappings, ChunkFields, ChunkKind, MappingChange, MappingEvent, Mappings};

use super::mapped_objects::MappedObjects;
use super::{Collector, Description};
use crate::encoding::Payload;

/// Mappings and return addresses that are remembered for the names at the end: more is no program's.
const MOST_MAPPINGS: usize = 1 << 21;
const MOST_FRAMES: usize = 1 << 22;

#[derive(Default)]
pub struct CallStacks {
    objects: MappedObjects,
    mappings: Vec<MappingEvent>,
    /// Return addresses of processes, and when they were seen last.
    frames: HashMap<(u32, u64), u64>,
}

impl CallStacks {
    /// Adds the calls. A return address lies past its call.
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
    /// Takes a process's report of all code that it has mapped.
    pub(super) fn take_mappings(&mut self, index: usize, buffer: &Description) {
        self.process_number(buffer);
        let lines = match buffer.is_abandoned() {
            true => self.ring.moved_out_written(index, self.ring.buffer_size()),
            false => self.ring.moved_out(index, buffer.length),
        };
        let mappings = self.call_stacks.objects.mappings(&lines);
        let changes = mappings.into_iter().map(MappingChange::Mapped).collect();
        self.push_changes(buffer, changes);
    }

    /// What a process that shows itself for the first time has mapped already.
    pub(super) fn note_origin(&mut self, buffer: &Description, has_former: bool) {
        let change = match (self.ring.records_stacks(), buffer.parent_pid, has_former) {
            (false, ..) | (_, 0, false) => return,
            (_, 0, true) => MappingChange::Executed { name: String::new() },
            (_, parent, _) => MappingChange::Forked { parent },
        };
        self.push_changes(buffer, vec![change]);
    }

    pub(super) fn note_call_stacks(&mut self, calls: &[u8], pid: u32, last_ns: u64) {
        let frames = &mut self.call_stacks.frames;
        for frame in frames_of(calls) {
            if frames.len() < MOST_FRAMES {
                frames.insert((pid, frame), last_ns);
            }
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
        let room = MOST_MAPPINGS - self.call_stacks.mappings.len();
        self.totals.is_damaged |= events.len() > room;
        self.call_stacks.mappings.extend(events.into_iter().take(room));
    }
}
