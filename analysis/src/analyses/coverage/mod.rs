//! What compiled recording doesn't see: the bytes that a program's machine code moves, held against those that its
//! recording has. `docs/verbs/coverage.md` defines the numbers.

mod comparison;
mod executed;
mod recorded;
mod site_bytes;
mod tables;

use std::collections::{HashMap, HashSet};

use trackway_trace::{Program, Site};

use crate::model::written_in;
use crate::Findings;

pub use executed::ExecutedBytes;
pub use recorded::RecordedBytes;

/// A line of a compiled function, from which other code is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Caller {
    /// Linkage name of the function in whose text the line stands.
    pub function: String,
    /// The file's name without folders, since compilers and debugging information may name these differently.
    pub file: String,
    pub line: u32,
}

/// What the recording of a compiled program has. Bytes outside of stacks.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Loads and stores, by the linkage name of the function in whose text they stand: what records may be inlined
    /// otherwise than what doesn't.
    pub(crate) own: HashMap<String, u64>,
    /// Copies, fills and ranges of library functions: their calls may be calls in machine code, or not.
    pub(crate) ranges: HashMap<Caller, Ranges>,
}

/// Ranges that were recorded at one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    pub bytes: u64,
    /// The same in vectors: library functions read and copy these, past the end of a string or twice within it.
    pub in_vectors: u64,
}

/// Machine code that the pass hasn't seen, as compiled code called it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Callee {
    /// Linkage name; empty if unknown.
    pub function: String,
    /// Path of the file.
    pub object: String,
}

/// What the program's machine code moves. Bytes outside of stacks.
#[derive(Debug, Clone, Default)]
pub struct Executed {
    /// By compiled functions themselves.
    pub(crate) own: HashMap<String, u64>,
    /// By what they called; none: before any of them ran.
    pub(crate) called: HashMap<(Option<Caller>, Callee), u64>,
    /// By reading the linker's table of addresses, which no source mentions; not in the others.
    pub(crate) offset_table: u64,
    /// By reading constants that the compiler keeps in memory, such as tables of jumps and real numbers.
    pub(crate) constants: u64,
}

/// The caller that a call at the site is from.
fn caller(program: &Program, site: &Site) -> Caller {
    let place = program.location(site.location);
    let path = program.string(place.file);
    Caller {
        function: program.string(written_in(program, site)).to_owned(),
        file: path.rsplit('/').next().unwrap_or(path).to_owned(),
        line: place.line,
    }
}

/// Tables of what is recorded and what isn't, of `top` rows.
pub fn compare(recorded: &Recorded, executed: &Executed, top: usize) -> Findings {
    tables::findings(&comparison::join(recorded, executed), top)
}

/// Functions of a compiled program, by their linkage names.
#[derive(Debug, Clone, Default)]
pub struct CompiledFunctions<'p> {
    /// Those whose text was compiled for recording, also if it was inlined everywhere.
    texts: HashSet<&'p str>,
    /// Those that have no version without our instructions. Machine code of theirs also moves records.
    without_plain_copy: HashSet<&'p str>,
}

impl<'p> CompiledFunctions<'p> {
    pub fn of(program: &'p Program) -> Self {
        let functions = program.functions.iter().map(|function| function.linkage_name);
        let inlined = program.locations.iter().map(|location| location.function);
        let names = functions.chain(inlined).map(|name| program.string(name));
        let unsplit = program
            .functions
            .iter()
            .filter(|function| !function.has_plain_copy);
        CompiledFunctions {
            texts: names.filter(|name| !name.is_empty()).collect(),
            without_plain_copy: unsplit
                .map(|function| program.string(function.linkage_name))
                .collect(),
        }
    }

    /// In alphabetical order.
    pub fn without_plain_copy(&self) -> Vec<&'p str> {
        let mut names: Vec<&str> = self.without_plain_copy.iter().copied().collect();
        names.sort_unstable();
        names
    }
}
