//! The entries of debugging information, wherever in the object's files they stand.

use std::cell::OnceCell;
use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, UnitHeader, UnitOffset};

use crate::elf::{Bytes, Dwarf};

pub type Entry<'d> = DebuggingInformationEntry<Bytes<'d>>;
pub type Unit<'d> = gimli::Unit<Bytes<'d>>;

/// An entry of `.debug_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// Whether the entry is in the file that several objects share.
    pub shared: bool,
    pub offset: usize,
}

struct LazyUnit<'d> {
    start: usize,
    header: UnitHeader<Bytes<'d>>,
    unit: OnceCell<Option<Unit<'d>>>,
}

/// A unit and the information that it belongs to.
#[derive(Clone, Copy)]
pub struct UnitOf<'a, 'd> {
    pub dwarf: &'a Dwarf<'d>,
    pub unit: &'a Unit<'d>,
    shared: bool,
    start: usize,
}

pub struct DebugInfo<'d> {
    dwarf: Arc<Dwarf<'d>>,
    own: Vec<LazyUnit<'d>>,
    shared: Vec<LazyUnit<'d>>,
}

impl<'d> DebugInfo<'d> {
    pub fn new(dwarf: Arc<Dwarf<'d>>) -> Self {
        DebugInfo {
            own: units(&dwarf),
            shared: dwarf.sup().map(units).unwrap_or_default(),
            dwarf,
        }
    }

    /// One of the object's own, by where it begins.
    pub fn own_unit(&self, start: usize) -> Option<UnitOf<'_, 'd>> {
        self.unit_of(EntryId {
            shared: false,
            offset: start,
        })
    }

    pub fn units(&self) -> impl Iterator<Item = UnitOf<'_, 'd>> {
        let own = self.own.iter().filter_map(|lazy| self.parsed(lazy, false));
        own.chain(self.shared.iter().filter_map(|lazy| self.parsed(lazy, true)))
    }

    pub fn unit_of(&self, id: EntryId) -> Option<UnitOf<'_, 'd>> {
        let units = if id.shared { &self.shared } else { &self.own };
        let next = units.partition_point(|unit| unit.start <= id.offset);
        self.parsed(units[..next].last()?, id.shared)
    }

    pub fn entry(&self, id: EntryId) -> Option<(UnitOf<'_, 'd>, Entry<'d>)> {
        let unit = self.unit_of(id)?;
        let entry = unit.unit.entry(unit.local(id)?).ok()?;
        Some((unit, entry))
    }

    fn parsed<'a>(&'a self, lazy: &'a LazyUnit<'d>, shared: bool) -> Option<UnitOf<'a, 'd>> {
        let dwarf = if shared { self.dwarf.sup()? } else { &*self.dwarf };
        let unit = lazy.unit.get_or_init(|| dwarf.unit(lazy.header).ok());
        Some(UnitOf {
            dwarf,
            unit: unit.as_ref()?,
            shared,
            start: lazy.start,
        })
    }
}

fn units<'d>(dwarf: &Dwarf<'d>) -> Vec<LazyUnit<'d>> {
    let mut headers = dwarf.units();
    let mut units = Vec::new();
    while let Ok(Some(header)) = headers.next() {
        let Some(start) = header.debug_info_offset() else {
            continue;
        };
        units.push(LazyUnit {
            start: start.0,
            header,
            unit: OnceCell::new(),
        });
    }
    units
}

impl<'d> UnitOf<'_, 'd> {
    pub fn id(&self, offset: UnitOffset) -> EntryId {
        EntryId {
            shared: self.shared,
            offset: self.start + offset.0,
        }
    }

    pub fn local(&self, id: EntryId) -> Option<UnitOffset> {
        id.offset.checked_sub(self.start).map(UnitOffset)
    }

    /// The entry that an attribute names.
    pub fn reference(&self, entry: &Entry<'d>, attribute: DwAt) -> Option<EntryId> {
        match entry.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => Some(self.id(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(EntryId {
                shared: self.shared,
                offset: offset.0,
            }),
            AttributeValue::DebugInfoRefSup(offset) => Some(EntryId {
                shared: true,
                offset: offset.0,
            }),
            _ => None,
        }
    }

    pub fn text(&self, entry: &Entry<'d>, attribute: DwAt) -> Option<String> {
        let value = entry.attr_value(attribute)?;
        let text = self.dwarf.attr_string(self.unit, value).ok()?;
        Some(String::from_utf8_lossy(text.slice()).into_owned())
    }

    pub fn name(&self, entry: &Entry<'d>) -> Option<String> {
        self.text(entry, gimli::DW_AT_name)
    }

    /// What the linker calls it, where that is its name or the entry tells.
    pub fn symbol_name(&self, entry: &Entry<'d>) -> Option<String> {
        self.text(entry, gimli::DW_AT_linkage_name)
            .or_else(|| self.name(entry))
    }

    pub fn flag(&self, entry: &Entry<'d>, attribute: DwAt) -> bool {
        matches!(entry.attr_value(attribute), Some(AttributeValue::Flag(true)))
    }

    pub fn ranges(&self, entry: &Entry<'d>) -> Vec<gimli::Range> {
        let mut ranges = Vec::new();
        if let Ok(mut found) = self.dwarf.die_ranges(self.unit, entry) {
            while let Ok(Some(range)) = found.next() {
                ranges.push(range);
            }
        }
        ranges
    }
}

/// A number that an attribute holds itself.
pub fn number(entry: &Entry, attribute: DwAt) -> Option<u64> {
    let value = entry.attr(attribute)?.value();
    value
        .udata_value()
        .or_else(|| value.sdata_value().map(|value| value as u64))
}
