//! What processes have mapped, by the records so far, with what the objects' files on this machine say of them.

use std::collections::HashMap;
use std::rc::Rc;

use trackway_trace::{Mapping, MappingChange, MappingEvent};

use crate::objects::{ObjectFile, Objects};
use crate::record::MappedRecord;

/// The code that processes have mapped now, its objects, and the changes that the trace doesn't have yet.
#[derive(Default)]
pub struct AddressSpaces {
    /// Executable mappings by process, the latest first.
    code: HashMap<u32, Rc<Vec<Mapping>>>,
    objects: Objects,
    changes: Vec<MappingEvent>,
}

impl AddressSpaces {
    /// The changes since the last call.
    pub fn take_changes(&mut self) -> Vec<MappingEvent> {
        std::mem::take(&mut self.changes)
    }

    /// The process maps a file, or memory of its own.
    pub fn map(&mut self, record: MappedRecord) {
        let (pid, time_ns) = (record.pid, record.time_ns);
        let mut mapping = mapping_of(record);
        if let Some(object) = self.objects.open(&mapping.path) {
            if mapping.build_id.is_empty() {
                mapping.build_id = object.build_id().to_vec();
            }
            mapping.load_address = load_address(&mapping, object).unwrap_or(0);
        }
        if mapping.protection.executable {
            let code = Rc::make_mut(self.code.entry(pid).or_default());
            code.insert(0, mapping.clone());
        }
        self.note(pid, time_ns, MappingChange::Mapped(mapping));
    }

    /// The process begins as a copy of its parent.
    pub fn fork(&mut self, pid: u32, parent: u32, time_ns: u64) {
        let inherited = self.code.get(&parent).cloned().unwrap_or_default();
        self.code.insert(pid, inherited);
        self.note(pid, time_ns, MappingChange::Forked { parent });
    }

    /// The process executes another program.
    pub fn execute(&mut self, pid: u32, name: String, time_ns: u64) {
        self.code.remove(&pid);
        self.note(pid, time_ns, MappingChange::Executed { name });
    }

    fn note(&mut self, pid: u32, time_ns: u64, change: MappingChange) {
        self.changes.push(MappingEvent { time_ns, pid, change });
    }

    /// The code that the process has mapped at the address now.
    pub fn mapping(&self, pid: u32, address: u64) -> Option<&Mapping> {
        self.code
            .get(&pid)?
            .iter()
            .find(|mapping| mapping.contains(address))
    }

    /// The object of that path, if a process has mapped it and it could be read.
    pub fn object(&self, path: &str) -> Option<&Rc<ObjectFile>> {
        self.objects.get(path)
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

/// Address at which the first byte of the object's memory image is loaded.
fn load_address(mapping: &Mapping, object: &ObjectFile) -> Option<u64> {
    object
        .segments()
        .load_address(mapping.start, mapping.file_offset, mapping.protection.executable)
}

#[cfg(test)]
mod tests {
    use trackway_trace::Protection;

    use super::*;

    fn code(pid: u32, start: u64, path: &str) -> MappedRecord {
        MappedRecord {
            pid,
            time_ns: 5,
            start,
            length: 0x1000,
            protection: Protection {
                readable: true,
                executable: true,
                ..Protection::default()
            },
            path: path.into(),
            ..MappedRecord::default()
        }
    }

    #[test]
    fn a_childs_code_is_its_parents_until_it_executes() {
        let mut spaces = AddressSpaces::default();
        spaces.map(code(1, 0x1000, "[jit]"));
        spaces.fork(2, 1, 6);
        assert_eq!(spaces.mapping(2, 0x1800).unwrap().path, "[jit]");
        spaces.execute(2, "other".into(), 7);
        assert_eq!(spaces.mapping(2, 0x1800), None);
        assert!(spaces.mapping(1, 0x1800).is_some() && spaces.mapping(1, 0x2000).is_none());
        assert_eq!(spaces.take_changes().len(), 3);
        assert!(spaces.take_changes().is_empty());
    }
}
