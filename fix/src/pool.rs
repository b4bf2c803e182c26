//! Objects that are allocated one by one come from a pool: one after the other, and what is freed is used again first.

mod allocators;
mod c;
mod cxx;

use std::collections::BTreeSet;

use allocators::Allocators;
use trackway_answers::failure::Failure;

use crate::asking::{self, Subject};
use crate::commands::Command;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::uses::{Use, What};

/// Bytes that a pool takes at once: below what C libraries map one by one.
const BLOCK_BYTES: usize = 1 << 16;
/// Objects of a block if they are large.
const LEAST_OBJECTS: usize = 64;
/// The alignment that every allocator gives.
const USUAL_ALIGNMENT: u64 = 16;

/// `name`: of the structure.
///
/// # Errors
/// If a unit can't be compiled as it was.
pub fn edits(
    name: &str,
    units: &[Command],
    is_public: impl Fn(&str) -> bool,
) -> Result<Possibly<Edits>, Failure> {
    let found = asking::found(Subject::Pools(name), units)?;
    if let Some(made) = cxx::edits(&found, &is_public) {
        return Ok(made);
    }
    let threads: Vec<&Use> = found
        .iter()
        .filter(|found| found.what == What::Threads && !found.system)
        .collect();
    let uses = asking::found(Subject::Structure(name), units)?;
    let allocators = Allocators::of(&found);
    Ok(c::edits(name, &uses, &threads, &allocators, is_public))
}

/// A name that no text has.
fn free_name(name: &str, texts: &[&str]) -> String {
    let is_taken = |name: &str| texts.iter().any(|text| text.contains(name));
    let mut free = name.to_owned();
    while is_taken(&free) {
        free.push('_');
    }
    free
}

fn read(file: &str) -> Possibly<String> {
    std::fs::read_to_string(file).map_err(|error| vec![Refusal::new(format!("{file}: {error}"))])
}

/// Those that the sources of the program have, each place once.
fn of_sources<'u>(
    found: &'u BTreeSet<Use>,
    wanted: impl Fn(&What) -> bool + 'u,
) -> impl Iterator<Item = &'u Use> {
    found
        .iter()
        .filter(move |found| !found.system && wanted(&found.what))
}
