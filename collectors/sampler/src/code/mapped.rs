//! Code that processes map.

use std::fs;
use std::io;

use trackway_names::{maps_lines, MapsLine};
use trackway_perf_records::{AddressSpaces, MappedRecord};

use super::CodeCache;

impl CodeCache {
    /// A process maps what the record says.
    pub fn map(&mut self, record: MappedRecord, spaces: &mut AddressSpaces) {
        let path = record.path.clone();
        spaces.map(record);
        if let Some(object) = spaces.object(&path) {
            self.add(path, object);
        }
    }

    /// Takes what a running process has mapped already.
    pub fn map_running(&mut self, pid: u32, time_ns: u64, spaces: &mut AddressSpaces) -> io::Result<()> {
        let text = fs::read_to_string(format!("/proc/{pid}/maps"))?;
        for record in maps_lines(&text).map(|line| record_of(line, pid, time_ns)) {
            self.map(record, spaces);
        }
        Ok(())
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
    fn this_process_has_its_own_code_mapped() {
        let (mut spaces, mut cache) = (AddressSpaces::default(), CodeCache::default());
        let pid = std::process::id();
        cache.map_running(pid, 1, &mut spaces).unwrap();
        let here = this_process_has_its_own_code_mapped as fn() as usize as u64;
        let mapping = spaces.mapping(pid, here).unwrap();
        let function = cache.function(mapping, here).unwrap();
        assert_eq!(function.index_at(here), Some(0));
        assert!(mapping.load_address != 0 && mapping.load_address <= here);
    }
}
