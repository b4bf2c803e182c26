//! Checksums that the compiler left of source files: the line tables of DWARF 5 may have them.

use gimli::{FileEntry, LineProgramHeader, UnitHeader};

use crate::building::NamesBuilder;
use crate::elf::{Bytes, Dwarf};
use crate::units::Units;

/// Adds those of the files that have been named. No file is read for that: whose checksum is not in the binary has none.
pub fn add(dwarf: &Dwarf, units: &Units, names: &mut NamesBuilder) {
    if let Units::These(units) = units {
        for header in &units.headers {
            add_of_unit(dwarf, header, names);
        }
        return;
    }
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        add_of_unit(dwarf, &header, names);
    }
}

fn add_of_unit<'d>(dwarf: &Dwarf<'d>, header: &UnitHeader<Bytes<'d>>, names: &mut NamesBuilder) {
    let Ok(unit) = dwarf.unit(*header) else { return };
    let Some(lines) = unit.line_program.as_ref().map(|program| program.header()) else {
        return;
    };
    if !lines.file_has_md5() {
        return;
    }
    for file in lines.file_names() {
        let digest = *file.md5();
        // Compilers write zeros for files of which they know none.
        let known = digest.iter().any(|byte| *byte != 0);
        if let Some(path) = path_of(dwarf, &unit, lines, file).filter(|_| known) {
            names.checksum(&path, digest);
        }
    }
}

/// As the lines of addresses have it.
fn path_of<'d>(
    dwarf: &Dwarf<'d>,
    unit: &gimli::Unit<Bytes<'d>>,
    lines: &LineProgramHeader<Bytes<'d>>,
    file: &FileEntry<Bytes<'d>>,
) -> Option<String> {
    let mut path = unit
        .comp_dir
        .map_or(String::new(), |folder| folder.to_string_lossy().into_owned());
    // Directory 0 is the one in which the unit was compiled.
    if file.directory_index() != 0 {
        if let Some(folder) = file.directory(lines) {
            append(
                &mut path,
                &dwarf.attr_string(unit, folder).ok()?.to_string_lossy(),
            );
        }
    }
    append(
        &mut path,
        &dwarf.attr_string(unit, file.path_name()).ok()?.to_string_lossy(),
    );
    Some(path)
}

fn append(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}
