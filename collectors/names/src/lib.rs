//! What machine code is called in the source: lines, functions, variables, fields and types of instructions, from the
//! files of the objects that a program ran.
//!
//! [`ExecutedCode`] takes the blocks that were executed, [`resolve`] looks them up. An object is one file: `elf` opens
//! it, and what holds its debugging information; `lines` and `symbols` name its functions.

mod building;
mod checksums;
mod debug_info;
mod elf;
mod executed;
mod fields;
mod flow;
mod frames;
mod instructions;
mod lines;
mod maps;
mod operands;
mod places;
mod producers;
mod referents;
mod scopes;
mod segments;
mod state;
mod statics;
mod survey;
mod symbols;
mod types;
mod units;

use std::sync::Arc;

pub use executed::{ExecutedBlock, ExecutedCode};
pub use maps::{maps_lines, MapsLine};
pub use producers::{compiled_units, CompiledUnit};
pub use segments::{Segment, Segments};
pub use trackway_trace::table::CodeNames;

use building::NamesBuilder;
use elf::ElfFile;
use executed::ObjectCode;
use instructions::Operands;
use units::Units;

/// Notices while names are looked up.
pub enum Notice<'n> {
    /// The names of an object can't be read.
    Unreadable { path: &'n str, what: String },
    /// About to look up an object's, of so many.
    Object {
        path: &'n str,
        blocks: usize,
        number: usize,
        of: usize,
    },
}

/// The names of all code of files. Missing debugging information is no error: what is unknown stays unnamed.
pub fn resolve(code: &ExecutedCode, mut notice: impl FnMut(Notice)) -> CodeNames {
    let mut names = NamesBuilder::default();
    let objects = code.objects();
    for (index, object) in objects.iter().enumerate() {
        let path = object.path;
        notice(Notice::Object {
            path,
            blocks: object.blocks.len(),
            number: index + 1,
            of: objects.len(),
        });
        if let Err(what) = resolve_object(object, &mut names) {
            notice(Notice::Unreadable { path, what });
        }
    }
    names.finish()
}

fn resolve_object(code: &ObjectCode, names: &mut NamesBuilder) -> Result<(), String> {
    let files = elf::Files::open(code.path)?;
    let elf = ElfFile::parse(&files)?;
    let sections = elf::Sections::default();
    let mut dwarf = elf.dwarf(&sections);
    let symbols = symbols::Symbols::of(&elf);
    let base = elf.first_address();
    let blocks: Vec<Vec<u64>> = code
        .blocks
        .iter()
        .map(|block| addresses_of(block, base))
        .collect();
    let executed = sorted(blocks.iter().flatten().copied());
    let calls = code.calls.iter().map(|offset| base.wrapping_add(*offset));
    let addresses = sorted(executed.iter().copied().chain(calls));
    let units = Units::with_code(&dwarf, &addresses);
    if matches!(units, Units::Any) {
        // Each is read for its lines, and again for its entries.
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::All);
    }
    let dwarf = Arc::new(dwarf);
    let locations = lines::locate(&dwarf, &units, &symbols, &blocks, &addresses, names);
    checksums::add(&dwarf, &units, names);
    let found = operands::find(&elf, &sections, dwarf, &units, &blocks, &executed);
    let mut object = names.object(code.path);
    let nothing = Operands::default();
    for address in addresses {
        let location = locations.get(&address).copied().unwrap_or(0);
        let operands = found.get(&address).unwrap_or(&nothing);
        object.add(
            address.wrapping_sub(base),
            location,
            &operands.read,
            &operands.written,
        );
    }
    object.finish();
    Ok(())
}

/// Each address once.
fn sorted(addresses: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut addresses: Vec<u64> = addresses.collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn addresses_of(block: &ExecutedBlock, base: u64) -> Vec<u64> {
    block
        .offsets
        .iter()
        .map(|offset| base.wrapping_add(*offset))
        .collect()
}
