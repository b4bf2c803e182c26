//! The file: header, attributes, and records one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use trackway_perf_records::{RecordHeader, HEADER_LENGTH};

use super::events::FileEvent;
use crate::ImportError;

const MAGIC: &[u8; 8] = b"PERFILE2";
/// Bytes of the header of a file that was written to a pipe: magic and length. Records follow at once.
const PIPE_HEADER: u64 = 16;
/// Bytes of the offset and the length of a section.
const SECTION: usize = 16;

/// Kinds of records that perf itself writes, from 64 on.
const HEADER_ATTRIBUTES: u32 = 64;
/// Kind of a record that says how many bytes written by a processor follow.
const BLOCK: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];
const FIRST_OF_PERF: u32 = 64;
/// Number of the feature that names the events.
const EVENT_DESCRIPTIONS: u32 = 12;

/// A file in memory, and its events.
pub struct PerfData {
    path: PathBuf,
    bytes: Vec<u8>,
    pub events: Vec<FileEvent>,
    /// Where the records are.
    records: std::ops::Range<usize>,
}

/// Whether a file is one of `perf record`, by its first bytes.
pub fn is_perf_data(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; MAGIC.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == MAGIC
}

impl PerfData {
    pub fn read(path: &Path) -> Result<PerfData, ImportError> {
        let bytes = fs::read(path).map_err(|source| ImportError::Io {
            file: path.to_path_buf(),
            action: "read it",
            source,
        })?;
        let mut data = PerfData {
            path: path.to_path_buf(),
            bytes,
            events: Vec::new(),
            records: 0..0,
        };
        data.read_header()?;
        if data.events.is_empty() {
            return Err(data.invalid(0, "it describes no events".into()));
        }
        let first = data.events[0].layout;
        let alike = data.events.iter().all(|event| event.layout == first);
        let identified = data.events.iter().all(FileEvent::identifies);
        if !alike && !identified {
            let what = "its events differ in what samples hold, and samples don't say which event they are of; record \
                        with a newer perf";
            return Err(data.unsupported(what));
        }
        Ok(data)
    }

    fn read_header(&mut self) -> Result<(), ImportError> {
        if !self.bytes.starts_with(MAGIC) {
            return Err(self
                .unsupported("it is no file of `perf record`, or one of a processor of another byte order"));
        }
        if self.word(8)? == PIPE_HEADER {
            self.records = PIPE_HEADER as usize..self.bytes.len();
            return self.read_attribute_records();
        }
        let attribute_size = self.word(16)? as usize;
        let attributes = self.section(24)?;
        self.records = self.section(40)?;
        if attribute_size <= SECTION {
            return Err(self.invalid(16, format!("attributes of {attribute_size} bytes")));
        }
        for start in attributes.clone().step_by(attribute_size) {
            let ids_at = start + attribute_size - SECTION;
            if ids_at + SECTION > attributes.end {
                return Err(self.invalid(start, "attributes that are cut off".into()));
            }
            let ids = self.section(ids_at)?;
            let ids = self.bytes[ids].chunks_exact(8).map(number).collect();
            self.add_event(start, ids_at, ids)?;
        }
        self.read_names(72);
        Ok(())
    }

    fn add_event(&mut self, start: usize, end: usize, ids: Vec<u64>) -> Result<(), ImportError> {
        match FileEvent::of(&self.bytes[start..end], ids) {
            Some(event) => self.events.push(event),
            None => return Err(self.invalid(start, "attributes that are too short".into())),
        }
        Ok(())
    }

    /// In a pipe, attributes are records: the attributes, whose length they state, then ids.
    fn read_attribute_records(&mut self) -> Result<(), ImportError> {
        let mut found = Vec::new();
        self.each(|offset, header, _| {
            if header.kind == HEADER_ATTRIBUTES {
                found.push((offset + HEADER_LENGTH, offset + header.length));
            }
            Ok(())
        })?;
        for (start, end) in found {
            let size = self.word(start)? >> 32;
            let middle = start.saturating_add(size as usize).min(end);
            let ids = self.bytes[middle..end].chunks_exact(8).map(number).collect();
            self.add_event(start, middle, ids)?;
        }
        Ok(())
    }

    /// Reads names of events, as far as the file has them. Nothing depends on them, so unreadable ones are left out.
    fn read_names(&mut self, features_at: usize) {
        let Ok(features) = self.word(features_at) else {
            return;
        };
        if features >> EVENT_DESCRIPTIONS & 1 == 0 {
            return;
        }
        let before = (features & ((1 << EVENT_DESCRIPTIONS) - 1)).count_ones() as usize;
        let names = self
            .section(self.records.end + before * SECTION)
            .ok()
            .and_then(|section| event_names(&self.bytes[section]));
        for (event, name) in self.events.iter_mut().zip(names.unwrap_or_default()) {
            event.described.name = name;
        }
    }

    /// Gives each record, with its offset, to `take`.
    pub fn each(
        &self,
        mut take: impl FnMut(usize, RecordHeader, &[u8]) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut offset = self.records.start;
        while offset < self.records.end {
            let rest = &self.bytes[offset..self.records.end];
            let header = RecordHeader::read(rest).filter(|header| header.length <= rest.len());
            let Some(header) = header else {
                return Err(self.invalid(offset, "no record, or one that is cut off".into()));
            };
            if COMPRESSED.contains(&header.kind) {
                return Err(self.unsupported(
                    "its records are compressed: record without -z, or run `perf inject` on it",
                ));
            }
            let record = &rest[..header.length];
            take(offset, header, record)?;
            offset += header.length;
            let block = usize::try_from(Self::block_length(header, record)).unwrap_or(usize::MAX);
            offset = match offset.checked_add(block) {
                Some(end) if end <= self.records.end => end,
                _ => return Err(self.invalid(offset, "what a processor wrote is cut off".into())),
            };
        }
        Ok(())
    }

    /// Bytes after the record that a processor wrote by itself.
    pub fn block_length(header: RecordHeader, record: &[u8]) -> u64 {
        match header.kind {
            BLOCK => record.get(8..16).map_or(0, number),
            _ => 0,
        }
    }

    /// The event of a sample, by its first word where samples differ.
    pub fn event_of_sample(&self, record: &[u8]) -> usize {
        if !self.events[0].identifies() {
            return 0;
        }
        let id = record.get(HEADER_LENGTH..HEADER_LENGTH + 8).map_or(0, number);
        self.event_of(id)
    }

    /// The event that has this id.
    pub fn event_of(&self, id: u64) -> usize {
        let found = self.events.iter().position(|event| event.ids.contains(&id));
        found.unwrap_or(0)
    }

    /// Whether perf itself wrote the record, not the kernel.
    pub fn is_perfs(header: RecordHeader) -> bool {
        header.kind >= FIRST_OF_PERF
    }

    fn word(&self, at: usize) -> Result<u64, ImportError> {
        match self.bytes.get(at..at.saturating_add(8)) {
            Some(bytes) => Ok(number(bytes)),
            None => Err(self.invalid(at, "the file is cut off".into())),
        }
    }

    /// The bytes of a section whose offset and length stand there.
    fn section(&self, at: usize) -> Result<std::ops::Range<usize>, ImportError> {
        let (offset, length) = (self.word(at)?, self.word(at + 8)?);
        let end = offset
            .checked_add(length)
            .filter(|end| *end <= self.bytes.len() as u64);
        match end {
            Some(end) => Ok(offset as usize..end as usize),
            None => Err(self.invalid(
                at,
                format!("a section of {length} bytes at {offset}: the file is cut off"),
            )),
        }
    }

    pub fn invalid(&self, offset: usize, what: String) -> ImportError {
        ImportError::InvalidPerfData {
            file: self.path.clone(),
            offset: offset as u64,
            what,
        }
    }

    fn unsupported(&self, what: &str) -> ImportError {
        ImportError::Unsupported {
            file: self.path.clone(),
            what: what.to_owned(),
        }
    }
}

/// Reads up to 8 little-endian bytes.
pub fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Reads the section: the number of events and the bytes of their attributes. For each event, it holds the attributes,
/// the number of ids, the length and the text of its name, and the ids.
fn event_names(section: &[u8]) -> Option<Vec<String>> {
    let half = |at: usize| Some(number(section.get(at..at.checked_add(4)?)?) as usize);
    let (count, attribute_size) = (half(0)?, half(4)?);
    let mut at = 8usize;
    let mut names = Vec::new();
    for _ in 0..count {
        at = at.checked_add(attribute_size)?;
        let (ids, length) = (half(at)?, half(at + 4)?);
        let text = section.get(at + 8..(at + 8).checked_add(length)?)?;
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        names.push(String::from_utf8_lossy(text).into_owned());
        at = (at + 8 + length).checked_add(ids.checked_mul(8)?)?;
    }
    Some(names)
}
