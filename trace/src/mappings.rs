//! What the processes of a sampled program had mapped where, over time (`docs/format.md`, section 8).
//!
//! [`Mappings`] answers which file's code or data stood at an address of a process at a time.

mod encode;
mod parse;

use std::collections::HashMap;

use crate::{ChunkKind, Trace, TraceError};

/// A change of what a process has mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingEvent {
    /// Nanoseconds of the trace's clock.
    pub time_ns: u64,
    /// The system's id of the process.
    pub pid: u32,
    pub change: MappingChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingChange {
    /// Something was mapped, in place of what was there.
    Mapped(Mapping),
    /// The process begins as a copy of its parent.
    Forked { parent: u32 },
    /// The process begins anew with a program of that name, and nothing is mapped any more.
    Executed { name: String },
}

/// A range of addresses and what stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub length: u64,
    /// Where in the file the range begins, bytes.
    pub file_offset: u64,
    pub protection: Protection,
    /// Path of the file, or a name such as `[stack]`, `[heap]`, `[vdso]`, `//anon`.
    pub path: String,
    /// Build id of the object, which identifies other copies of the file; empty if unknown.
    pub build_id: Vec<u8>,
    /// Address at which the first byte of the object's memory image is loaded; 0 if unknown, or not an object. An
    /// instruction's offset in the names of machine code (section 1.6) is its address less this one.
    pub load_address: u64,
}

/// What may be done to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    pub readable: bool,
    pub writable: bool,
    pub executable: bool,
    /// Other processes see what is written.
    pub shared: bool,
}

impl Mapping {
    pub fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.length
    }

    /// Offset of the address in the names of machine code, if the mapping is of an object.
    pub fn object_offset(&self, address: u64) -> Option<u64> {
        (self.load_address != 0).then(|| address.wrapping_sub(self.load_address))
    }
}

/// All changes of a trace.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    events: Vec<MappingEvent>,
    /// Indices of the events of each process, in the order of their times.
    of_process: HashMap<u32, Vec<usize>>,
}

impl Mappings {
    pub fn new(mut events: Vec<MappingEvent>) -> Self {
        events.sort_by_key(|event| event.time_ns); // what came at the same time stays in order
        let mut of_process: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, event) in events.iter().enumerate() {
            of_process.entry(event.pid).or_default().push(index);
        }
        Mappings { events, of_process }
    }

    /// All changes in the order of their times.
    pub fn events(&self) -> &[MappingEvent] {
        &self.events
    }

    /// What the process had mapped at the address at that time. A trace doesn't say what was unmapped, so the latest
    /// mapping of the address counts. Before the first change of a process nothing is known to be mapped.
    pub fn find(&self, pid: u32, time_ns: u64, address: u64) -> Option<&Mapping> {
        let (mut pid, mut time_ns) = (pid, time_ns);
        // Each step goes back in time or ends.
        for _ in 0..self.events.len() {
            match self.find_in_process(pid, time_ns, address)? {
                Found::Mapping(mapping) => return Some(mapping),
                Found::Parent(parent, forked_ns) => (pid, time_ns) = (parent, forked_ns),
            }
        }
        None
    }

    fn find_in_process(&self, pid: u32, time_ns: u64, address: u64) -> Option<Found<'_>> {
        let own = self.of_process.get(&pid)?;
        let before = own.partition_point(|&index| self.events[index].time_ns <= time_ns);
        for &index in own[..before].iter().rev() {
            let event = &self.events[index];
            match &event.change {
                MappingChange::Mapped(mapping) if mapping.contains(address) => {
                    return Some(Found::Mapping(mapping))
                }
                MappingChange::Mapped(_) => {}
                MappingChange::Forked { parent } => return Some(Found::Parent(*parent, event.time_ns)),
                MappingChange::Executed { .. } => return None,
            }
        }
        None
    }
}

enum Found<'m> {
    Mapping(&'m Mapping),
    /// The process had none of its own; its parent may have had one when it forked.
    Parent(u32, u64),
}

impl Trace {
    /// What was mapped, of all chunks of kind [`ChunkKind::Mappings`], and what could not be read of them.
    pub fn mappings(&self) -> (Mappings, Vec<TraceError>) {
        let (mut events, mut damage) = (Vec::new(), Vec::new());
        let mut payload = Vec::new();
        for chunk in self.chunks_of(ChunkKind::Mappings) {
            let read = self.read_payload(chunk, &mut payload).and_then(|()| {
                parse::events(&payload).map_err(|error| TraceError::BadMappings {
                    file: self.path().to_path_buf(),
                    offset: chunk.offset,
                    position: error.position,
                    what: error.what,
                })
            });
            match read {
                Ok(read) => events.extend(read),
                Err(error) => damage.push(error),
            }
        }
        (Mappings::new(events), damage)
    }
}

pub use encode::encode_mappings;
pub use parse::events as parse_mappings;

#[cfg(test)]
mod tests;
