//! Files that are torn, foreign, newer or hostile: errors that say where, and never a panic.

use std::path::{Path, PathBuf};

use trackway_interchange::{import, ImportOptions};

const HEADER: (u16, u16, u64) = (25, 0, 7);
const FOOTER: (u16, u16, u64) = (26, 0, 0);
const INSTRUCTION: u16 = 10;
const READ: u16 = 0;
const MARKER: u16 = 28;
const ENCODING: u16 = 47;

fn entries(entries: &[(u16, u16, u64)]) -> Vec<u8> {
    let bytes = entries.iter().flat_map(|(kind, size, value)| {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(size.to_le_bytes());
        bytes.extend(value.to_le_bytes());
        bytes
    });
    bytes.collect()
}

/// The error for a file with these bytes; none if it is imported.
fn complaint(bytes: &[u8]) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.trace");
    std::fs::write(&file, bytes).unwrap();
    let options = ImportOptions {
        traces: vec![file],
        output: directory.path().join("x.trackway"),
        force: false,
        modules: None,
    };
    import(&options).err().map(|error| error.to_string())
}

fn refused(list: &[(u16, u16, u64)], what: &str) {
    let text = complaint(&entries(list)).expect("an error");
    assert!(text.contains("x.trace: ") && text.contains(what), "{text}");
}

#[test]
fn a_small_trace_is_imported() {
    let list = [HEADER, (INSTRUCTION, 3, 0x1000), (READ, 8, 0x2000), FOOTER];
    assert_eq!(complaint(&entries(&list)), None);
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    assert!(complaint(b"#!/bin/sh\nexit\n")
        .unwrap()
        .contains("doesn't begin like a converted drmemtrace trace"));
    assert!(complaint(b"").unwrap().contains("doesn't begin like"));
    assert!(complaint(b"PK\x03\x04 and no archive")
        .unwrap()
        .contains("zip archive cannot be read"));
    refused(&[(25, 0, 99), FOOTER], "version 99");
    refused(&[HEADER, (MARKER, 12, 99), FOOTER], "version 99");
    refused(&[HEADER, (MARKER, 9, 0x20), FOOTER], "32-bit");
}

#[test]
fn torn_files_are_refused_with_the_place() {
    refused(
        &[HEADER, (INSTRUCTION, 3, 0x1000)],
        "at byte 12 of its decompressed entries: the file ends without a footer",
    );
    let whole = entries(&[HEADER, (INSTRUCTION, 3, 0x1000), FOOTER]);
    let text = complaint(&whole[..30]).unwrap();
    assert!(
        text.contains("at byte 24") && text.contains("within an entry"),
        "{text}"
    );
}

#[test]
fn impossible_entries_are_refused_with_the_place() {
    refused(
        &[HEADER, (READ, 8, 0x2000), FOOTER],
        "at byte 12 of its decompressed entries: an access without",
    );
    refused(
        &[HEADER, (INSTRUCTION, 0, 0x1000), FOOTER],
        "an instruction of 0 bytes",
    );
    refused(
        &[HEADER, (INSTRUCTION, 16, 0x1000), FOOTER],
        "an instruction of 16 bytes",
    );
    refused(
        &[HEADER, (INSTRUCTION, 4, u64::MAX - 1), FOOTER],
        "an instruction of 4 bytes at",
    );
    refused(&[HEADER, (ENCODING, 9, 0), FOOTER], "an encoding of 9 bytes");
    refused(
        &[HEADER, (ENCODING, 8, 0), (ENCODING, 8, 0), FOOTER],
        "at byte 24",
    );
    refused(&[HEADER, (200, 1, 0x1000), FOOTER], "unknown type 200");
}

#[test]
fn one_instruction_cannot_make_a_block_without_end() {
    let mut list = vec![HEADER, (INSTRUCTION, 3, 0x1000)];
    list.extend((0..20_000).map(|index| (READ, 8, index * 64)));
    list.push(FOOTER);
    refused(&list, "too many accesses");
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drmemtrace/lz4/drmemtrace.fx.03781.1854.trace.lz4")
}

#[test]
fn damaged_compressed_files_never_panic() {
    let whole = std::fs::read(fixture()).unwrap();
    assert!(complaint(&whole[..whole.len() / 2]).is_some());
    for step in 0..24 {
        let mut bytes = whole.clone();
        let position = 7 + step * (bytes.len() - 8) / 24;
        bytes[position] ^= 0x55;
        let _ = complaint(&bytes);
    }
}
