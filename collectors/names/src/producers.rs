//! How the units of an object were compiled, as far as the compiler wrote it down.

use gimli::{constants, AttributeValue};

use crate::elf::{Bytes, Dwarf, ElfFile, Files, Sections};

/// A unit of debugging information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledUnit {
    /// The source file, as the command line names it.
    pub source: String,
    /// Where the compiler ran.
    pub directory: String,
    /// The compiler's name, and its command line if `-grecord-command-line` asked for that.
    pub producer: String,
}

/// The units of an object, those without a name left out.
///
/// # Errors
/// If the file can't be read or isn't an object.
pub fn compiled_units(path: &str) -> Result<Vec<CompiledUnit>, String> {
    let files = Files::open(path)?;
    let elf = ElfFile::parse(&files)?;
    let sections = Sections::default();
    let dwarf = elf.dwarf(&sections);
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().map_err(|error| error.to_string())? {
        let unit = dwarf.unit(header).map_err(|error| error.to_string())?;
        units.extend(compiled(&dwarf, &unit));
    }
    Ok(units)
}

fn compiled(dwarf: &Dwarf, unit: &gimli::Unit<Bytes>) -> Option<CompiledUnit> {
    let mut entries = unit.entries();
    let entry = entries.next_dfs().ok()??;
    let text = |attribute| {
        let value: AttributeValue<Bytes> = entry.attr_value(attribute)?;
        let bytes = dwarf.attr_string(unit, value).ok()?;
        Some(bytes.to_string_lossy().into_owned())
    };
    Some(CompiledUnit {
        source: text(constants::DW_AT_name)?,
        directory: text(constants::DW_AT_comp_dir).unwrap_or_default(),
        producer: text(constants::DW_AT_producer).unwrap_or_default(),
    })
}
