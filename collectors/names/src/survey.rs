//! One look at all entries of units: what must be found by address or by name.

use std::cell::OnceCell;
use std::rc::Rc;

use foldhash::HashMap;
use gimli::{DwTag, Expression, Operation, UnitOffset};

use crate::debug_info::{DebugInfo, Entry, EntryId, UnitOf};
use crate::elf::Bytes;
use crate::units::Units;

/// What the units that hold executed code say. All other units are read once something is missing there.
pub struct Survey<'a, 'd> {
    info: &'a DebugInfo<'d>,
    /// Sorted addresses.
    executed: &'a [u64],
    near: Findings,
    all: OnceCell<Findings>,
    near_is_all: bool,
    /// What near units declare and others define, by symbol name: built once, since units declare thousands.
    declarations: OnceCell<HashMap<String, EntryId>>,
}

#[derive(Default)]
pub struct Findings {
    /// Static variables by their addresses.
    pub statics: Vec<(u64, EntryId)>,
    /// Variables of threads, by their offsets in the object's part of a thread's memory.
    pub thread_locals: Vec<(u64, EntryId)>,
    /// Functions some of whose addresses were executed.
    functions: Vec<EntryId>,
    /// Variables whose places other units tell.
    declared: Vec<EntryId>,
    /// Namespaces and structures around types, with `::` after; those of types without are left out.
    scopes: HashMap<EntryId, Rc<str>>,
    /// The first typedef of a type.
    aliases: HashMap<EntryId, EntryId>,
    /// Structures that are more than declared, by their full names.
    definitions: HashMap<String, EntryId>,
}

impl<'a, 'd> Survey<'a, 'd> {
    pub fn of(info: &'a DebugInfo<'d>, units: &Units<'d>, executed: &'a [u64]) -> Self {
        let (near, near_is_all) = match units {
            Units::Any => (Findings::of(info.units(), executed), true),
            Units::These(units) => {
                let starts = units
                    .headers
                    .iter()
                    .filter_map(|header| header.debug_info_offset());
                let near = starts.filter_map(|start| info.own_unit(start.0));
                (Findings::of(near, executed), false)
            }
        };
        Survey {
            info,
            executed,
            near,
            all: OnceCell::new(),
            near_is_all,
            declarations: OnceCell::new(),
        }
    }

    /// Looks among what is in units with executed code, then among all.
    pub fn search<T>(&self, find: impl Fn(&Findings) -> Option<T>) -> Option<T> {
        find(&self.near).or_else(|| find(self.all()?))
    }

    /// What is in units with executed code.
    pub fn near(&self) -> &Findings {
        &self.near
    }

    /// What is in any unit; none if that is no more.
    pub fn all(&self) -> Option<&Findings> {
        let look = || Findings::of(self.info.units(), self.executed);
        (!self.near_is_all).then(|| self.all.get_or_init(look))
    }

    /// A variable that near units know of, which is elsewhere, by the name of its symbol.
    pub fn declaration(&self, name: &str) -> Option<EntryId> {
        let declarations = self.declarations.get_or_init(|| {
            let named = |id: &EntryId| {
                let (unit, entry) = self.info.entry(*id)?;
                Some((unit.symbol_name(&entry)?, *id))
            };
            // In reverse, so that the first of several declarations wins.
            self.near.declared.iter().rev().filter_map(named).collect()
        });
        declarations.get(name).copied()
    }

    /// Functions some of whose addresses were executed.
    pub fn functions(&self) -> &[EntryId] {
        &self.near.functions
    }

    /// Namespaces and structures around a type, with `::` after.
    pub fn scope(&self, id: EntryId) -> &str {
        self.of_entry(|findings| findings.scopes.get(&id))
            .map_or("", |scope| scope)
    }

    /// The first typedef of a type.
    pub fn alias(&self, id: EntryId) -> Option<EntryId> {
        self.of_entry(|findings| findings.aliases.get(&id)).copied()
    }

    /// A near unit tells all about its entries. Those of others are met after a search among all.
    fn of_entry<'s, T>(&'s self, find: impl Fn(&'s Findings) -> Option<&'s T>) -> Option<&'s T> {
        find(&self.near).or_else(|| find(self.all.get()?))
    }

    /// A structure that is more than declared, by its full name.
    pub fn definition(&self, name: &str) -> Option<EntryId> {
        self.search(|findings| findings.definitions.get(name).copied())
    }
}

/// An entry around others, and what names in it begin with.
struct Scope {
    depth: isize,
    prefix: Rc<str>,
}

impl Findings {
    fn of<'a, 'd: 'a>(units: impl Iterator<Item = UnitOf<'a, 'd>>, executed: &[u64]) -> Self {
        let mut findings = Findings::default();
        for unit in units {
            // What is damaged ends its unit.
            let _ = findings.visit(&unit, executed);
        }
        findings.statics.sort_unstable();
        findings.thread_locals.sort_unstable();
        findings
    }

    fn visit<'d>(&mut self, unit: &UnitOf<'_, 'd>, executed: &[u64]) -> gimli::Result<()> {
        let mut entries = unit.unit.entries_raw(None)?;
        let mut depth_of_first = 0;
        let mut entry = Entry::null();
        let mut around: Vec<Scope> = Vec::new();
        while !entries.is_empty() {
            entry.offset = entries.next_offset();
            entry.depth = depth_of_first + entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            entry.tag = abbreviation.tag();
            entry.has_children = abbreviation.has_children();
            if !is_interesting(entry.tag) {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            entries.read_attributes(abbreviation.attributes(), &mut entry.attrs)?;
            while around.last().is_some_and(|scope| scope.depth >= entry.depth) {
                around.pop();
            }
            if let Some(sibling) = behind_idle_function(unit, &entry, executed) {
                entries = unit.unit.entries_raw(Some(sibling))?;
                depth_of_first = entry.depth;
                continue;
            }
            let prefix = around.last().map(|scope| &scope.prefix);
            self.note(unit, &entry, prefix, executed);
            if entry.has_children {
                around.extend(scope(unit, &entry, prefix));
            }
        }
        Ok(())
    }

    fn note<'d>(
        &mut self,
        unit: &UnitOf<'_, 'd>,
        entry: &Entry<'d>,
        prefix: Option<&Rc<str>>,
        executed: &[u64],
    ) {
        let id = unit.id(entry.offset);
        match entry.tag {
            gimli::DW_TAG_variable => self.note_variable(unit, entry, id),
            gimli::DW_TAG_subprogram => {
                if runs(&unit.ranges(entry), executed) {
                    self.functions.push(id);
                }
            }
            _ => self.note_type(unit, entry, id, prefix),
        }
    }

    fn note_variable<'d>(&mut self, unit: &UnitOf<'_, 'd>, entry: &Entry<'d>, id: EntryId) {
        if unit.flag(entry, gimli::DW_AT_declaration) {
            self.declared.push(id);
        }
        let location = entry.attr_value(gimli::DW_AT_location);
        match location
            .and_then(|value| value.exprloc_value())
            .and_then(|place| fixed(unit, place))
        {
            Some(Fixed::Address(address)) => self.statics.push((address, id)),
            Some(Fixed::InThread(offset)) => self.thread_locals.push((offset, id)),
            None => {}
        }
    }

    fn note_type<'d>(
        &mut self,
        unit: &UnitOf<'_, 'd>,
        entry: &Entry<'d>,
        id: EntryId,
        prefix: Option<&Rc<str>>,
    ) {
        if entry.tag == gimli::DW_TAG_typedef {
            if let Some(target) = unit.reference(entry, gimli::DW_AT_type) {
                self.aliases.entry(target).or_insert(id);
            }
        }
        let prefix = prefix.filter(|prefix| !prefix.is_empty());
        if let Some(prefix) = prefix {
            self.scopes.insert(id, prefix.clone());
        }
        if !is_structure(entry.tag) || unit.flag(entry, gimli::DW_AT_declaration) {
            return;
        }
        if let Some(name) = unit.name(entry) {
            let full = format!("{}{name}", prefix.map_or("", |prefix| prefix));
            self.definitions.entry(full).or_insert(id);
        }
    }
}

fn runs(ranges: &[gimli::Range], executed: &[u64]) -> bool {
    ranges.iter().any(|range| {
        let first = executed.partition_point(|address| *address < range.begin);
        executed.get(first).is_some_and(|address| *address < range.end)
    })
}

/// The entry after a function that has code of its own, none of which was executed. No entry refers to what is in it:
/// an entry without code describes what was inlined elsewhere. Most of a library's entries are skipped this way.
fn behind_idle_function<'d>(
    unit: &UnitOf<'_, 'd>,
    entry: &Entry<'d>,
    executed: &[u64],
) -> Option<UnitOffset> {
    if entry.tag != gimli::DW_TAG_subprogram || !entry.has_children {
        return None;
    }
    let sibling = unit.local(unit.reference(entry, gimli::DW_AT_sibling)?)?;
    let ranges = unit.ranges(entry);
    let is_idle = !ranges.is_empty() && !runs(&ranges, executed);
    // One that leads back is damaged, and would never end.
    (is_idle && sibling > entry.offset).then_some(sibling)
}

fn is_structure(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
    )
}

fn is_interesting(tag: DwTag) -> bool {
    is_structure(tag)
        || matches!(
            tag,
            gimli::DW_TAG_variable
                | gimli::DW_TAG_subprogram
                | gimli::DW_TAG_typedef
                | gimli::DW_TAG_enumeration_type
                | gimli::DW_TAG_namespace
        )
}

/// Types in functions are named as if they stood alone; inline namespaces are left out.
fn scope<'d>(unit: &UnitOf<'_, 'd>, entry: &Entry<'d>, prefix: Option<&Rc<str>>) -> Option<Scope> {
    let before = prefix.map_or("", |prefix| prefix);
    let prefix: Rc<str> = match entry.tag {
        gimli::DW_TAG_subprogram => "".into(),
        // gcc marks namespaces without a name as if they were inline.
        gimli::DW_TAG_namespace
            if unit.flag(entry, gimli::DW_AT_export_symbols) && unit.name(entry).is_some() =>
        {
            before.into()
        }
        tag if is_structure(tag) || tag == gimli::DW_TAG_namespace => {
            let name = unit.name(entry);
            format!("{before}{}::", name.as_deref().unwrap_or("(anonymous namespace)")).into()
        }
        _ => return None,
    };
    Some(Scope {
        depth: entry.depth,
        prefix,
    })
}

enum Fixed {
    Address(u64),
    InThread(u64),
}

/// The place of a variable that never moves.
fn fixed<'d>(unit: &UnitOf<'_, 'd>, place: Expression<Bytes<'d>>) -> Option<Fixed> {
    let mut operations = place.operations(unit.unit.encoding());
    let address = |operation| match operation {
        Operation::Address { address } => Some(address),
        Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
            unit.dwarf.address(unit.unit, index).ok()
        }
        Operation::UnsignedConstant { value } => Some(value),
        _ => None,
    };
    let first = operations.next().ok()??;
    let is_address = matches!(first, Operation::Address { .. } | Operation::AddressIndex { .. });
    let value = address(first)?;
    match operations.next().ok()? {
        None if is_address => Some(Fixed::Address(value)),
        Some(Operation::TLS) => Some(Fixed::InThread(value)),
        Some(Operation::PlusConstant { value: more }) if is_address => {
            matches!(operations.next(), Ok(None)).then(|| Fixed::Address(value.wrapping_add(more)))
        }
        _ => None,
    }
}
