//! The marks of a trace while it is read.

use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::Deserializer;

use super::MarkInfo;

/// How much a trace may have of marks. A compressed chunk of a few bytes can stand for many; what a trace keeps of
/// them stays in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkLimits {
    pub marks: usize,
    /// Bytes of all payloads after decompression.
    pub payload_bytes: u64,
}

impl MarkLimits {
    pub const OF_A_TRACE: MarkLimits = MarkLimits {
        marks: 1 << 21,
        payload_bytes: 256 << 20,
    };
}

/// Marks in the order of time; those of one time in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct MarkList {
    marks: Vec<MarkInfo>,
    payload_bytes: u64,
    is_out_of_order: bool,
}

impl MarkList {
    pub fn as_slice(&self) -> &[MarkInfo] {
        &self.marks
    }

    /// Whether a payload of so many bytes may still be read.
    pub fn admits(&mut self, payload_bytes: u64, limits: MarkLimits) -> bool {
        self.payload_bytes = self.payload_bytes.saturating_add(payload_bytes);
        self.payload_bytes <= limits.payload_bytes
    }

    /// Adds the marks of a payload, all of them or, after an error, those before it.
    pub fn add(&mut self, payload: &[u8], limits: MarkLimits) -> Result<(), serde_json::Error> {
        let before = self.marks.len();
        let room = limits.marks.saturating_sub(before);
        let mut json = serde_json::Deserializer::from_slice(payload);
        let marks = &mut self.marks;
        let read = AtMost { room, marks }.deserialize(&mut json);
        let added = &self.marks[before.saturating_sub(1)..];
        self.is_out_of_order |= !added.is_sorted_by_key(|mark| mark.ns);
        read.and_then(|()| json.end())
    }

    /// Brings the marks into order. Threads may have written theirs before others.
    pub fn sort(&mut self) {
        if std::mem::take(&mut self.is_out_of_order) {
            self.marks.sort_by_key(|mark| mark.ns);
        }
    }
}

/// Takes marks one by one, so that a list takes no more memory than it may have.
struct AtMost<'m> {
    room: usize,
    marks: &'m mut Vec<MarkInfo>,
}

impl<'de> DeserializeSeed<'de> for AtMost<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AtMost<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list of marks")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(mark) = list.next_element()? {
            self.room = self.room.checked_sub(1).ok_or_else(too_many)?;
            self.marks.push(mark);
        }
        Ok(())
    }
}

fn too_many<E: Error>() -> E {
    E::custom("the trace has too many marks")
}
