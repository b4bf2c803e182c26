//! What machine code is called in the source: lines, functions, variables, fields and types of instructions, from the
//! files of the objects that a program ran.
//!
//! [`ExecutedCode`] takes the blocks that were executed, [`resolve`] looks them up. An object is one file: `elf` opens
//! it, and what holds its debugging information; `lines` and `symbols` name its functions.

mod building;
mod elf;
mod executed;
mod lines;
mod symbols;

pub use executed::{ExecutedBlock, ExecutedCode};
pub use trackway_trace::table::CodeNames;

use building::{NamesBuilder, Referred};
use elf::ElfFile;

/// What is told while names are looked up.
pub enum Notice<'n> {
    /// The names of an object can't be read.
    Unreadable { path: &'n str, what: String },
    /// About to look up an object's, of so many.
    Object { path: &'n str, number: usize, of: usize },
}

/// The names of all code of files. Missing debugging information is no error: what is unknown stays unnamed.
pub fn resolve(code: &ExecutedCode, mut notice: impl FnMut(Notice)) -> CodeNames {
    let mut names = NamesBuilder::default();
    let objects = code.objects();
    for (index, (path, blocks)) in objects.iter().enumerate() {
        notice(Notice::Object {
            path,
            number: index + 1,
            of: objects.len(),
        });
        if let Err(what) = resolve_object(path, blocks, &mut names) {
            notice(Notice::Unreadable { path, what });
        }
    }
    names.finish()
}

fn resolve_object(path: &str, blocks: &[&ExecutedBlock], names: &mut NamesBuilder) -> Result<(), String> {
    let files = elf::Files::open(path)?;
    let elf = ElfFile::parse(&files)?;
    let sections = elf::Sections::default();
    let dwarf = std::sync::Arc::new(elf.dwarf(&sections));
    let symbols = symbols::Symbols::of(&elf);
    let lines = lines::Lines::of(dwarf.clone());
    let mut offsets: Vec<u64> = blocks
        .iter()
        .flat_map(|block| block.offsets.iter().copied())
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut object = names.object(path);
    for offset in offsets {
        let address = elf.first_address().wrapping_add(offset);
        let mut frames = lines.as_ref().map(|lines| lines.at(address)).unwrap_or_default();
        symbols.complete(address, &mut frames);
        object.add(offset, &frames, &Referred::default(), &Referred::default());
    }
    object.finish();
    Ok(())
}
