//! Functions of which the file has only a symbol.

use object::{Object, ObjectSymbol, SymbolKind};

use crate::building::Frame;
use crate::elf::ElfFile;

struct Symbol<'d> {
    address: u64,
    /// 0: unknown, as for those that were written in assembly.
    size: u64,
    name: &'d str,
}

/// The functions of an object by their addresses.
pub struct Symbols<'d>(Vec<Symbol<'d>>);

impl<'d> Symbols<'d> {
    /// Reads the full symbol table if there is one, else the exported symbols.
    pub fn of(elf: &ElfFile<'d>) -> Self {
        let files = [Some(&elf.object), elf.debug.as_ref()];
        let mut symbols: Vec<Symbol> = files
            .into_iter()
            .flatten()
            .flat_map(|file| file.symbols().filter_map(function))
            .collect();
        if symbols.is_empty() {
            symbols.extend(elf.object.dynamic_symbols().filter_map(function));
        }
        // If an address has several names, the widest symbol's counts, then the first one in byte order.
        symbols.sort_by_key(|symbol| (symbol.address, std::cmp::Reverse(symbol.size), symbol.name));
        symbols.dedup_by_key(|symbol| symbol.address);
        Symbols(symbols)
    }

    /// Names the outermost function if nothing else did. gcc leaves the linkage names of local functions out, but the
    /// symbol has them.
    pub fn complete(&self, address: u64, frames: &mut Vec<Frame>) {
        if frames.is_empty() {
            frames.push(Frame::default());
        }
        let Some(outermost) = frames.last_mut().filter(|frame| !is_mangled(&frame.function)) else {
            return;
        };
        let symbol = self.containing(address).unwrap_or_default();
        let is_clone = symbol.contains('.');
        if outermost.function.is_empty() || (is_mangled(symbol) && !is_clone) {
            outermost.function = symbol.to_owned();
        }
    }

    fn containing(&self, address: u64) -> Option<&'d str> {
        let next = self.0.partition_point(|symbol| symbol.address <= address);
        let symbol = self.0[..next].last()?;
        let inside = symbol.size == 0 || address - symbol.address < symbol.size;
        inside.then_some(symbol.name)
    }
}

fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z")
}

fn function<'d>(symbol: object::Symbol<'d, '_>) -> Option<Symbol<'d>> {
    let is_code = symbol.kind() == SymbolKind::Text && symbol.is_definition();
    let name = symbol.name().ok().filter(|name| is_code && !name.is_empty())?;
    Some(Symbol {
        address: symbol.address(),
        size: symbol.size(),
        // Versions belong to the linker.
        name: name.split('@').next().unwrap_or(name),
    })
}
