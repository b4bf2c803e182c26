//! Which units of an object's debugging information hold executed code. A library has hundreds of which a few are looked
//! at: to read the others would take most of the time.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use gimli::{DebugInfoOffset, Section, UnitHeader};

use crate::elf::{Bytes, Dwarf};

pub enum Units<'d> {
    /// Any unit may: not each has its addresses in a table, or the description of a function may stand in another unit.
    Any,
    /// These by the table of their addresses, and they refer to no other unit.
    These(UnitsWithCode<'d>),
}

pub struct UnitsWithCode<'d> {
    pub headers: Vec<UnitHeader<Bytes<'d>>>,
    /// Ranges of addresses, which don't overlap, and which of the headers has them; sorted.
    ranges: Vec<(gimli::Range, usize)>,
}

impl<'d> Units<'d> {
    /// `addresses`: sorted.
    pub fn with_code(dwarf: &Dwarf<'d>, addresses: &[u64]) -> Self {
        match by_table(dwarf, addresses) {
            Ok(Some(units)) => Units::These(units),
            _ => Units::Any,
        }
    }
}

impl UnitsWithCode<'_> {
    /// The index of the header that has an address. None has code that the linker made, or that was built without
    /// debugging information.
    pub fn with(&self, address: u64) -> Option<usize> {
        value_at(&self.ranges, address)
    }
}

fn value_at(ranges: &[(gimli::Range, usize)], address: u64) -> Option<usize> {
    let next = ranges.partition_point(|(range, _)| range.begin <= address);
    let (range, value) = ranges[..next].last()?;
    (address < range.end).then_some(*value)
}

fn by_table<'d>(dwarf: &Dwarf<'d>, addresses: &[u64]) -> gimli::Result<Option<UnitsWithCode<'d>>> {
    let mut table = Table::read(dwarf)?;
    if dwarf.sup().is_some() || !table.has_all(dwarf)? {
        return Ok(None);
    }
    let starts = addresses
        .iter()
        .filter_map(|address| value_at(&table.ranges, *address));
    let starts: BTreeSet<usize> = starts.collect();
    let mut headers = Vec::new();
    let mut numbers = HashMap::new();
    for start in starts {
        let header = dwarf.unit_header(DebugInfoOffset(start))?;
        if !stands_alone(dwarf, header)? {
            return Ok(None);
        }
        numbers.insert(start, headers.len());
        headers.push(header);
    }
    table.ranges.retain(|(_, start)| numbers.contains_key(start));
    let ranges = table
        .ranges
        .into_iter()
        .map(|(range, start)| (range, numbers[&start]));
    Ok(Some(UnitsWithCode {
        headers,
        ranges: ranges.collect(),
    }))
}

/// What `.debug_aranges` tells. gcc makes it, with an entry for each unit, be it without code; clang doesn't unless asked to.
struct Table {
    /// Ranges of addresses and where their units begin, sorted.
    ranges: Vec<(gimli::Range, usize)>,
    /// Where units begin that have an entry.
    units: HashSet<usize>,
}

impl Table {
    fn read(dwarf: &Dwarf) -> gimli::Result<Self> {
        let (mut ranges, mut units) = (Vec::new(), HashSet::new());
        let mut headers = dwarf.debug_aranges.headers();
        while let Some(header) = headers.next()? {
            let unit = header.debug_info_offset().0;
            units.insert(unit);
            let mut entries = header.entries();
            while let Some(entry) = entries.next()? {
                ranges.push((entry.range(), unit));
            }
        }
        ranges.sort_unstable_by_key(|(range, unit)| (range.begin, *unit));
        Ok(Table { ranges, units })
    }

    fn has_all(&self, dwarf: &Dwarf) -> gimli::Result<bool> {
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let start = header.debug_info_offset();
            if !start.is_some_and(|start| self.units.contains(&start.0)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether no entry of a unit refers to one of another.
fn stands_alone<'d>(dwarf: &Dwarf<'d>, header: UnitHeader<Bytes<'d>>) -> gimli::Result<bool> {
    let unit = dwarf.unit(header)?;
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let Some(abbreviation) = entries.read_abbreviation()? else {
            continue;
        };
        let attributes = abbreviation.attributes();
        if attributes
            .iter()
            .any(|attribute| refers_elsewhere(attribute.form()))
        {
            return Ok(false);
        }
        entries.skip_attributes(attributes)?;
    }
    Ok(true)
}

fn refers_elsewhere(form: gimli::DwForm) -> bool {
    matches!(
        form,
        gimli::DW_FORM_ref_addr
            | gimli::DW_FORM_ref_sig8
            | gimli::DW_FORM_ref_sup4
            | gimli::DW_FORM_ref_sup8
            | gimli::DW_FORM_GNU_ref_alt
            | gimli::DW_FORM_indirect
    )
}

/// Debugging information of which one unit is all. Tables of other sections are those of the whole.
pub fn alone<'d>(dwarf: &Dwarf<'d>, header: &UnitHeader<Bytes<'d>>) -> Option<Dwarf<'d>> {
    let start = header.debug_info_offset()?.0;
    let end = start.checked_add(header.length_including_self())?;
    let all = dwarf.debug_info.reader().slice();
    let unit = gimli::DebugInfo::new(all.get(start..end)?, gimli::LittleEndian);
    Some(Dwarf {
        debug_info: unit,
        debug_abbrev: dwarf.debug_abbrev,
        debug_addr: dwarf.debug_addr,
        debug_line: dwarf.debug_line,
        debug_line_str: dwarf.debug_line_str,
        debug_str: dwarf.debug_str,
        debug_str_offsets: dwarf.debug_str_offsets,
        ranges: dwarf.ranges,
        ..Dwarf::default()
    })
}
