//! Encodes [`MappingEvent`]s.

use super::*;
use crate::table::{encode_svarint, encode_varint};

/// Numbers of the changes.
pub(super) const MAPPED: u8 = 0;
pub(super) const FORKED: u8 = 1;
pub(super) const EXECUTED: u8 = 2;

/// The payload of a chunk of mappings.
pub fn encode_mappings(events: &[MappingEvent]) -> Vec<u8> {
    let mut strings = Strings::default();
    let mut list = Vec::new();
    let mut previous_ns = 0u64;
    for event in events {
        encode_svarint(event.time_ns.wrapping_sub(previous_ns) as i64, &mut list);
        previous_ns = event.time_ns;
        encode_varint(event.pid.into(), &mut list);
        match &event.change {
            MappingChange::Mapped(mapping) => encode_mapping(mapping, &mut strings, &mut list),
            MappingChange::Forked { parent } => {
                list.push(FORKED);
                encode_varint((*parent).into(), &mut list);
            }
            MappingChange::Executed { name } => {
                list.push(EXECUTED);
                encode_varint(strings.index(name), &mut list);
            }
        }
    }
    let mut out = Vec::new();
    encode_varint(strings.texts.len() as u64, &mut out);
    for text in &strings.texts {
        encode_varint(text.len() as u64, &mut out);
        out.extend_from_slice(text.as_bytes());
    }
    encode_varint(events.len() as u64, &mut out);
    out.extend_from_slice(&list);
    out
}

fn encode_mapping(mapping: &Mapping, strings: &mut Strings, list: &mut Vec<u8>) {
    list.push(MAPPED);
    for number in [
        mapping.start,
        mapping.length,
        mapping.file_offset,
        mapping.load_address,
    ] {
        encode_varint(number, list);
    }
    list.push(mapping.protection.to_byte());
    encode_varint(strings.index(&mapping.path), list);
    encode_varint(mapping.build_id.len() as u64, list);
    list.extend_from_slice(&mapping.build_id);
}

impl Protection {
    fn to_byte(self) -> u8 {
        u8::from(self.readable)
            | u8::from(self.writable) << 1
            | u8::from(self.executable) << 2
            | u8::from(self.shared) << 3
    }
}

#[derive(Default)]
struct Strings {
    texts: Vec<String>,
    indices: HashMap<String, u64>,
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(index) = self.indices.get(text) {
            return *index;
        }
        let index = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index
    }
}
