//! What stands at an address of an object: static variables, and what the compiler put there.

use std::cell::RefCell;
use std::collections::HashMap;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use trackway_trace::VariableKind;

use crate::debug_info::EntryId;
use crate::elf::ElfFile;
use crate::fields::Spot;
use crate::referents::Referent;
use crate::scopes::declared;
use crate::types::Types;

const OFFSET_TABLE: &str = "global offset table";

struct Symbol<'d> {
    address: u64,
    size: u64,
    name: &'d str,
    is_global: bool,
}

struct Section {
    first: u64,
    end: u64,
    holds: &'static str,
}

pub struct Statics<'d> {
    symbols: Vec<Symbol<'d>>,
    /// Of what the compiler and the linker made.
    sections: Vec<Section>,
    /// What is subtracted from an offset in the object's part of a thread's memory to count it from fs.
    thread_size: u64,
    known: RefCell<HashMap<EntryId, Option<Known>>>,
}

#[derive(Clone)]
struct Known {
    name: String,
    type_id: EntryId,
    kind: VariableKind,
}

impl<'d> Statics<'d> {
    pub fn of(elf: &ElfFile<'d>) -> Self {
        let files = [Some(&elf.object), elf.debug.as_ref()];
        let files = files.into_iter().flatten();
        let mut symbols: Vec<Symbol> = files
            .flat_map(|file| file.symbols().filter_map(data))
            .chain(elf.object.dynamic_symbols().filter_map(data))
            .collect();
        symbols.sort_by_key(|symbol| (symbol.address, std::cmp::Reverse(symbol.size), symbol.name));
        symbols.dedup_by_key(|symbol| symbol.address);
        Statics {
            symbols,
            sections: elf.object.sections().filter_map(made).collect(),
            thread_size: thread_size(elf),
            known: RefCell::default(),
        }
    }

    /// What stands at an address.
    pub fn at(&self, types: &Types, address: u64) -> Option<Referent> {
        if let Some(table) = self.linkers(address) {
            return Some(Referent::compiler_made(table));
        }
        let found = types
            .survey
            .search(|findings| self.covering(types, &findings.statics, address));
        found.or_else(|| self.symbol_at(address))
    }

    /// What stands at a distance from the thread's base.
    pub fn in_thread(&self, types: &Types, distance: i64) -> Option<Referent> {
        const STACK_GUARD: i64 = 0x28;
        if distance == STACK_GUARD {
            return Some(Referent::compiler_made("stack guard"));
        }
        let offset = distance.checked_add_unsigned(self.thread_size)?;
        let offset = u64::try_from(offset).ok()?;
        types
            .survey
            .search(|findings| self.covering(types, &findings.thread_locals, offset))
    }

    /// The linker's tables hold no variables: none need be looked for.
    fn linkers(&self, address: u64) -> Option<&'static str> {
        self.section_at(address).filter(|holds| *holds == OFFSET_TABLE)
    }

    fn section_at(&self, address: u64) -> Option<&'static str> {
        let mut sections = self.sections.iter();
        let section = sections.find(|section| (section.first..section.end).contains(&address))?;
        Some(section.holds)
    }

    fn covering(&self, types: &Types, variables: &[(u64, EntryId)], address: u64) -> Option<Referent> {
        let next = variables.partition_point(|(start, _)| *start <= address);
        let before = &variables[..next];
        let (start, _) = *before.last()?;
        let here = before.iter().rev().take_while(|(other, _)| *other == start);
        let distance = address - start;
        for (_, id) in here {
            let Some(known) = self.known(types, *id) else {
                continue;
            };
            let size = types.size(known.type_id);
            if distance < size.max(1) {
                let mut spot = Spot::whole(known.type_id);
                spot.offset = distance as i64;
                return Some(Referent::variable(&known.name, known.kind, spot));
            }
        }
        None
    }

    fn known(&self, types: &Types, id: EntryId) -> Option<Known> {
        let mut known = self.known.borrow_mut();
        let read = || {
            let (unit, entry) = types.info.entry(id)?;
            let (name, type_id, external) = declared(types.info, &unit, &entry)?;
            let kind = if external {
                VariableKind::Global
            } else {
                VariableKind::Static
            };
            Some(Known { name, type_id, kind })
        };
        known.entry(id).or_insert_with(read).clone()
    }

    /// Without debugging information a variable has no type.
    fn symbol_at(&self, address: u64) -> Option<Referent> {
        let next = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols[..next]
            .last()
            .filter(|symbol| address - symbol.address < symbol.size.max(1));
        if let Some(symbol) = symbol {
            let is_table = ["_ZTV", "_ZTC", "_ZTT"]
                .iter()
                .any(|start| symbol.name.starts_with(start));
            if is_table {
                return Some(Referent::compiler_made("vtable"));
            }
            let kind = if symbol.is_global {
                VariableKind::Global
            } else {
                VariableKind::Static
            };
            return Some(Referent::unknown_type(symbol.name, kind));
        }
        Some(Referent::compiler_made(self.section_at(address)?))
    }
}

fn data<'d>(symbol: object::Symbol<'d, '_>) -> Option<Symbol<'d>> {
    let is_data = symbol.kind() == SymbolKind::Data && symbol.is_definition() && symbol.size() > 0;
    let name = symbol.name().ok().filter(|name| is_data && !name.is_empty())?;
    Some(Symbol {
        address: symbol.address(),
        size: symbol.size(),
        name: name.split('@').next().unwrap_or(name),
        is_global: symbol.is_global(),
    })
}

fn made(section: object::Section) -> Option<Section> {
    let holds = match (section.name().ok()?, section.kind()) {
        (".got" | ".got.plt", _) => OFFSET_TABLE,
        (_, SectionKind::ReadOnlyString) => "string literal",
        (".rodata", _) | (_, SectionKind::ReadOnlyData) => "constant",
        _ => return None,
    };
    Some(Section {
        first: section.address(),
        end: section.address().saturating_add(section.size()),
        holds,
    })
}

/// As long as the part of the object is in the memory of a thread that it was started with.
fn thread_size(elf: &ElfFile) -> u64 {
    let parts = [".tdata", ".tbss"]
        .into_iter()
        .filter_map(|name| elf.object.section_by_name(name));
    let parts: Vec<(u64, u64, u64)> = parts
        .map(|part| {
            (
                part.address(),
                part.address().saturating_add(part.size()),
                part.align().max(1),
            )
        })
        .collect();
    let first = parts.iter().map(|part| part.0).min().unwrap_or(0);
    let end = parts.iter().map(|part| part.1).max().unwrap_or(0);
    let align = parts.iter().map(|part| part.2).max().unwrap_or(1);
    (end - first).checked_next_multiple_of(align).unwrap_or(0)
}
