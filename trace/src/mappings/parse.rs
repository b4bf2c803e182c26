//! Decodes [`MappingEvent`]s.

use super::encode::{EXECUTED, FORKED, MAPPED};
use super::*;
use crate::table::{Cursor, TableError};

type Result<T> = std::result::Result<T, TableError>;

/// Reads the payload of a chunk of mappings.
///
/// # Errors
/// If the payload breaks a rule of the format; the error says at which byte.
pub fn events(bytes: &[u8]) -> Result<Vec<MappingEvent>> {
    let mut cursor = Cursor::new(bytes);
    let count = cursor.count(1, "strings")?;
    let strings = (0..count).map(|_| string(&mut cursor));
    let strings = strings.collect::<Result<Vec<String>>>()?;
    let count = cursor.count(4, "changes of mappings")?;
    let mut events = Vec::with_capacity(count);
    let mut time_ns = 0u64;
    for _ in 0..count {
        time_ns = time_ns.wrapping_add(cursor.svarint("time of a mapping")? as u64);
        events.push(MappingEvent {
            time_ns,
            pid: cursor.number("process of a mapping")?,
            change: change(&mut cursor, &strings)?,
        });
    }
    match cursor.remaining() {
        0 => Ok(events),
        left => cursor.error(format!("{left} bytes after the last mapping")),
    }
}

fn string(cursor: &mut Cursor) -> Result<String> {
    let length = cursor.varint("length of a string")?;
    let bytes = cursor.take(length, "a string")?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => cursor.error("a string is not UTF-8"),
    }
}

fn change(cursor: &mut Cursor, strings: &[String]) -> Result<MappingChange> {
    match cursor.u8("kind of a change")? {
        MAPPED => Ok(MappingChange::Mapped(mapping(cursor, strings)?)),
        FORKED => Ok(MappingChange::Forked {
            parent: cursor.number("parent of a process")?,
        }),
        EXECUTED => Ok(MappingChange::Executed {
            name: text(cursor, strings)?,
        }),
        other => cursor.error(format!("change of mappings of kind {other}")),
    }
}

fn mapping(cursor: &mut Cursor, strings: &[String]) -> Result<Mapping> {
    let start = cursor.varint("start of a mapping")?;
    let length = cursor.varint("length of a mapping")?;
    let file_offset = cursor.varint("offset of a mapping")?;
    let load_address = cursor.varint("load address of a mapping")?;
    let protection = protection(cursor)?;
    let path = text(cursor, strings)?;
    let id_length = cursor.varint("length of a build id")?;
    Ok(Mapping {
        start,
        length,
        file_offset,
        protection,
        path,
        build_id: cursor.take(id_length, "a build id")?.to_vec(),
        load_address,
    })
}

fn text(cursor: &mut Cursor, strings: &[String]) -> Result<String> {
    let index = cursor.below(strings.len(), "string")?;
    Ok(strings[index as usize].clone())
}

fn protection(cursor: &mut Cursor) -> Result<Protection> {
    let byte = cursor.u8("protection of a mapping")?;
    if byte > 15 {
        return cursor.error(format!("protection {byte} of a mapping"));
    }
    Ok(Protection {
        readable: byte & 1 != 0,
        writable: byte & 2 != 0,
        executable: byte & 4 != 0,
        shared: byte & 8 != 0,
    })
}
