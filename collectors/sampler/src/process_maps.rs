//! Mappings of processes by records that other tools kept.

use trackway_trace::{Mapping, MappingEvent};

use crate::address_spaces::AddressSpaces;
use crate::code::CodeCache;
use crate::record::MappedRecord;

/// What processes have mapped, by the records so far, with what the objects' files on this machine say of them.
#[derive(Default)]
pub struct ProcessMaps {
    spaces: AddressSpaces,
    cache: CodeCache,
}

impl ProcessMaps {
    pub fn map(&mut self, record: MappedRecord) {
        self.spaces.map(record, &mut self.cache);
    }

    /// The process begins as a copy of its parent.
    pub fn fork(&mut self, pid: u32, parent: u32, time_ns: u64) {
        self.spaces.fork(pid, parent, time_ns);
    }

    /// The process executes another program.
    pub fn execute(&mut self, pid: u32, name: String, time_ns: u64) {
        self.spaces.execute(pid, name, time_ns);
    }

    /// The code that the process has mapped at the address now.
    pub fn mapping(&self, pid: u32, address: u64) -> Option<&Mapping> {
        self.spaces.mapping(pid, address)
    }

    /// The changes since the last call.
    pub fn take_changes(&mut self) -> Vec<MappingEvent> {
        self.spaces.take_changes()
    }
}
