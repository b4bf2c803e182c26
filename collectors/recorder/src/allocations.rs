//! Starting a program with the library that records calls of allocators.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary;
use crate::options::{AllocationTracer, RecordOptions};
use crate::RecordError;

/// Bytes of an ELF header, and of an entry of the table of segments.
const HEADER: usize = 64;
const ENTRY: usize = 56;
const MOST_ENTRIES: usize = 1024;
/// Kind of the segment that names the dynamic linker.
const INTERPRETER: u32 = 3;
const SET_USER_OR_GROUP: u32 = 0o6000;

/// Has the program's dynamic linker load the library before all others. Under DynamoRIO its launcher does so when it
/// becomes the program.
pub fn preload(
    command: &mut Command,
    tracer: &AllocationTracer,
    options: &RecordOptions,
    ring_name: &OsStr,
) -> Result<(), RecordError> {
    if !tracer.library.exists() {
        return Err(RecordError::NoTracer {
            path: tracer.library.clone(),
        });
    }
    if let Some(reason) = binary::found_in_path(&options.program).and_then(|file| obstacle(&file)) {
        (options.notify)(&format!(
            "NO ALLOCATIONS ARE RECORDED of {}: {reason}",
            options.program.to_string_lossy()
        ));
    }
    let variable = match options.client {
        Some(_) => "TRACKWAY_PRELOAD",
        None => "LD_PRELOAD",
    };
    command
        .env(
            variable,
            before_others(&tracer.library, std::env::var_os("LD_PRELOAD")),
        )
        .env("TRACKWAY_ALLOCATIONS_RING", ring_name);
    Ok(())
}

fn before_others(library: &Path, others: Option<OsString>) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Why the dynamic linker won't load the library into this program, and what to do; none if it will, as far as the file
/// tells.
fn obstacle(file: &Path) -> Option<String> {
    let run_by: Option<PathBuf> = binary::interpreter_of(file).first().map(PathBuf::from);
    let file = run_by.as_deref().unwrap_or(file);
    if is_static(file) == Some(true) {
        return Some(format!(
            "{} is linked statically, so that nothing can stand in the place of its malloc; link it dynamically",
            file.display()
        ));
    }
    let mode = file.metadata().ok()?.mode();
    (mode & SET_USER_OR_GROUP != 0).then(|| {
        format!(
            "{} runs with the rights of its owner or group, and the system preloads nothing into such programs; record \
             a copy without these bits",
            file.display()
        )
    })
}

/// Whether it names no dynamic linker; none if it is no ELF file for this machine's width.
fn is_static(file: &Path) -> Option<bool> {
    let mut head = Vec::new();
    let limit = HEADER + MOST_ENTRIES * ENTRY;
    File::open(file)
        .ok()?
        .take(limit as u64)
        .read_to_end(&mut head)
        .ok()?;
    if !head.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let word = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?));
    let (table, size, count) = (word(32)? as usize, half(54)?, half(56)?);
    let kind = |entry: u16| {
        let at = table.checked_add(usize::from(entry) * usize::from(size))?;
        Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?))
    };
    Some(!(0..count).any(|entry| kind(entry) == Some(INTERPRETER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_before_those_of_the_user() {
        let library = Path::new("/l/preload.so");
        let with = |others: Option<&str>| before_others(library, others.map(OsString::from));
        assert_eq!(with(None), "/l/preload.so");
        assert_eq!(with(Some("")), "/l/preload.so");
        assert_eq!(with(Some("/a.so b.so")), "/l/preload.so:/a.so b.so");
    }

    #[test]
    fn static_programs_and_those_with_rights_are_told_of() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let mut bytes = std::fs::read("/bin/true").unwrap();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!((is_static(&path), obstacle(&path)), (Some(false), None));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(obstacle(&path).is_some_and(|reason| reason.contains("rights of its owner")));
        bytes[56..58].fill(0); // no segments, and so none that names a dynamic linker
        std::fs::write(&path, &bytes).unwrap();
        assert!(obstacle(&path).is_some_and(|reason| reason.contains("statically")));
        std::fs::write(&path, b"#!/bin/true\n").unwrap();
        assert_eq!(obstacle(&path), None);
        assert_eq!(is_static(Path::new("/nowhere")), None);
    }
}
