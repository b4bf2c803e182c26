//! What stands at an address of an object: static variables, and what the compiler put there.

use std::cell::RefCell;

use foldhash::HashMap;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use trackway_trace::VariableKind;

use crate::debug_info::EntryId;
use crate::elf::ElfFile;
use crate::fields::Spot;
use crate::referents::Referent;
use crate::scopes::declared;
use crate::survey::Findings;
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
    /// Not only what is linked with others by name.
    has_local_symbols: bool,
    /// Sections that the compiler and the linker made.
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
        symbols.dedup_by_key(|symbol| (symbol.address, symbol.size, symbol.name));
        Statics {
            has_local_symbols: symbols.iter().any(|symbol| !symbol.is_global),
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
        let here = |findings: &Findings| self.covering(types, &findings.statics, address);
        here(types.survey.near())
            .or_else(|| self.declared_at(types, address))
            .or_else(|| here(self.may_be_variable(address).then(|| types.survey.all())??))
            .or_else(|| self.symbol_at(address))
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

    /// A variable of which a symbol tells the place, and a declaration beside executed code the type.
    fn declared_at(&self, types: &Types, address: u64) -> Option<Referent> {
        self.symbols_covering(address).iter().find_map(|symbol| {
            let known = self.known(types, types.survey.declaration(symbol.name)?)?;
            // `extern int list[]` tells less than where the variable stands.
            let is_complete = types.size(known.type_id) == symbol.size;
            is_complete.then(|| known.at(address - symbol.address))
        })
    }

    /// Constants that instructions hold beside them have no symbol, variables do.
    fn may_be_variable(&self, address: u64) -> bool {
        !self.has_local_symbols || !self.symbols_covering(address).is_empty()
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
                return Some(known.at(distance));
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

    /// All names of what stands there, the widest first.
    fn symbols_covering(&self, address: u64) -> &[Symbol<'d>] {
        let next = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = &self.symbols[..next];
        let start = before.last().map_or(0, |last| last.address);
        let here = &before[before.partition_point(|symbol| symbol.address < start)..];
        let covers = |symbol: &&Symbol| address - symbol.address < symbol.size;
        &here[..here.iter().take_while(covers).count()]
    }

    /// Without debugging information a variable has no type.
    fn symbol_at(&self, address: u64) -> Option<Referent> {
        if let Some(symbol) = self.symbols_covering(address).first() {
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

impl Known {
    fn at(&self, distance: u64) -> Referent {
        let mut spot = Spot::whole(self.type_id);
        spot.offset = distance as i64;
        Referent::variable(&self.name, self.kind, spot)
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

/// Bytes of the object's part of the thread-local memory that a thread starts with.
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
