//! What the program's processes have mapped, as far as samples need it.

use std::collections::HashMap;
use std::fs;
use std::rc::Rc;

use trackway_names::{maps_lines, MapsLine};
use trackway_trace::{Mapping, MappingChange, MappingEvent};

use crate::code::CodeCache;
use crate::record::MappedRecord;

/// The code that processes have mapped now, and the changes that the trace doesn't have yet.
#[derive(Default)]
pub struct AddressSpaces {
    /// Executable mappings by process, the latest first.
    code: HashMap<u32, Rc<Vec<Mapping>>>,
    changes: Vec<MappingEvent>,
}

impl AddressSpaces {
    /// The changes since the last call.
    pub fn take_changes(&mut self) -> Vec<MappingEvent> {
        std::mem::take(&mut self.changes)
    }

    pub fn map(&mut self, record: MappedRecord, cache: &mut CodeCache) {
        let (pid, time_ns) = (record.pid, record.time_ns);
        let mut mapping = mapping_of(record);
        if let Some(object) = cache.object(&mapping.path) {
            if mapping.build_id.is_empty() {
                mapping.build_id = object.build_id().to_vec();
            }
            mapping.load_address = cache.load_address(&mapping).unwrap_or(0);
        }
        if mapping.protection.executable {
            let code = Rc::make_mut(self.code.entry(pid).or_default());
            code.insert(0, mapping.clone());
        }
        self.note(pid, time_ns, MappingChange::Mapped(mapping));
    }

    pub fn fork(&mut self, pid: u32, parent: u32, time_ns: u64) {
        let inherited = self.code.get(&parent).cloned().unwrap_or_default();
        self.code.insert(pid, inherited);
        self.note(pid, time_ns, MappingChange::Forked { parent });
    }

    pub fn execute(&mut self, pid: u32, name: String, time_ns: u64) {
        self.code.remove(&pid);
        self.note(pid, time_ns, MappingChange::Executed { name });
    }

    fn note(&mut self, pid: u32, time_ns: u64, change: MappingChange) {
        self.changes.push(MappingEvent { time_ns, pid, change });
    }

    /// The code that the process has mapped at the address.
    pub fn mapping(&self, pid: u32, address: u64) -> Option<&Mapping> {
        self.code
            .get(&pid)?
            .iter()
            .find(|mapping| mapping.contains(address))
    }

    /// Takes what a running process has mapped already.
    pub fn read_running(&mut self, pid: u32, time_ns: u64, cache: &mut CodeCache) -> std::io::Result<()> {
        let text = fs::read_to_string(format!("/proc/{pid}/maps"))?;
        for record in maps_lines(&text).map(|line| record_of(line, pid, time_ns)) {
            self.map(record, cache);
        }
        Ok(())
    }
}

fn mapping_of(record: MappedRecord) -> Mapping {
    Mapping {
        start: record.start,
        length: record.length,
        file_offset: record.file_offset,
        protection: record.protection,
        path: record.path,
        build_id: record.build_id,
        load_address: 0,
    }
}

fn record_of(line: MapsLine, pid: u32, time_ns: u64) -> MappedRecord {
    MappedRecord {
        pid,
        time_ns,
        start: line.start,
        length: line.end - line.start,
        file_offset: line.file_offset,
        protection: line.protection,
        build_id: Vec::new(),
        path: match line.path {
            "" => "//anon".into(),
            path => path.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_childs_code_is_its_parents_until_it_executes() {
        let (mut spaces, mut cache) = (AddressSpaces::default(), CodeCache::default());
        let line = maps_lines("1000-2000 r-xp 00000000 00:00 0 [jit]")
            .next()
            .unwrap();
        let record = record_of(line, 1, 5);
        spaces.map(record, &mut cache);
        spaces.fork(2, 1, 6);
        assert_eq!(spaces.mapping(2, 0x1800).unwrap().path, "[jit]");
        spaces.execute(2, "other".into(), 7);
        assert_eq!(spaces.mapping(2, 0x1800), None);
        assert!(spaces.mapping(1, 0x1800).is_some() && spaces.mapping(1, 0x2000).is_none());
        assert_eq!(spaces.take_changes().len(), 3);
        assert!(spaces.take_changes().is_empty());
    }

    #[test]
    fn this_process_has_its_own_code_mapped() {
        let (mut spaces, mut cache) = (AddressSpaces::default(), CodeCache::default());
        let pid = std::process::id();
        spaces.read_running(pid, 1, &mut cache).unwrap();
        let here = this_process_has_its_own_code_mapped as fn() as usize as u64;
        let mapping = spaces.mapping(pid, here).unwrap();
        let function = cache.function(mapping, here).unwrap();
        assert_eq!(function.index_at(here), Some(0));
        let mapping = spaces.mapping(pid, here).unwrap();
        assert!(mapping.load_address != 0 && mapping.load_address <= here);
    }
}
