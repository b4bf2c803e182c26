//! The accesses of a program whose arrays have room for all elements from the beginning.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, SiteId};

use super::survey::Chains;
use crate::analyses::edits::elements::ProgramBlocks;
use crate::analyses::edits::simulate::{each_access, Output};
use crate::analyses::edits::slots::Slots;
use crate::analyses::edits::Rewrite;
use crate::analyses::whatif::{BlockChange, Blocks, Numbering};

/// What an allocator gives is a multiple of this.
const GRAIN_BYTES: u64 = 16;
/// Any site: blocks that begin and end are looked up by their starts.
const SOME_SITE: usize = 0;

/// All blocks of an array lie where its last one does, and no copies are made.
pub(super) struct Reserved {
    program: Arc<ProgramBlocks>,
    chains: Arc<Chains>,
    numbering: Numbering,
    processes: HashMap<u32, Memory>,
}

/// The memory of a process.
struct Memory {
    live: Blocks<Option<Held>>,
    slots: Slots,
    /// The place of each array, and the start of its latest block in the recorded program.
    arrays: HashMap<usize, (u64, u64)>,
    /// Blocks of arrays, by their recorded starts.
    starts: HashMap<u64, Begun>,
}

/// A block of an array.
#[derive(Debug, Clone, Copy)]
struct Held {
    place: u64,
    /// What is done in so many bytes at its beginning is the copy that isn't made.
    copied: u64,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    chain: usize,
    is_last: bool,
}

/// Nothing in the block is accessed any more but to copy it.
const ALL: u64 = u64::MAX;

impl Memory {
    /// Returns whether the array doesn't need the call: it has its block already, or goes on to use it.
    fn apply(&mut self, chains: &Chains, change: BlockChange) -> bool {
        match change {
            BlockChange::Begins {
                number,
                start,
                length,
            } => {
                // What lay there has ended, though no event said so.
                self.end(chains, start);
                let mut has_block = false;
                let held = chains.parts.get(&number).map(|part| {
                    let bytes = chains.all[part.chain].bytes.next_multiple_of(GRAIN_BYTES);
                    let known = self.arrays.get(&part.chain).copied();
                    has_block = known.is_some();
                    let place = known.map_or_else(|| self.slots.take(bytes), |(place, _)| place);
                    if let Some((_, before)) = known.filter(|_| part.copied > 0) {
                        self.skip(before, ALL);
                    }
                    self.arrays.insert(part.chain, (place, start));
                    let begun = Begun {
                        chain: part.chain,
                        is_last: chains.is_last(number, *part),
                    };
                    self.starts.insert(start, begun);
                    Held {
                        place,
                        copied: part.copied,
                    }
                });
                self.live.begin(start, length, held);
                has_block
            }
            BlockChange::Ends { start } => {
                let goes_on = self.end(chains, start);
                self.live.end(start);
                goes_on
            }
        }
    }

    /// Returns whether a block has ended whose array goes on.
    fn end(&mut self, chains: &Chains, start: u64) -> bool {
        let Some(begun) = self.starts.remove(&start) else {
            return false;
        };
        let Some(&(place, latest)) = self.arrays.get(&begun.chain) else {
            return false;
        };
        if begun.is_last {
            let bytes = chains.all[begun.chain].bytes.next_multiple_of(GRAIN_BYTES);
            self.slots.give_back(bytes, place);
            self.arrays.remove(&begun.chain);
        } else if latest != start {
            // The copy has been made.
            self.skip(latest, 0);
        }
        !begun.is_last
    }

    fn skip(&mut self, start: u64, bytes: u64) {
        if let Some((_, Some(held))) = self.live.at(SOME_SITE, start) {
            held.copied = bytes;
        }
    }

    #[inline]
    fn access(&mut self, (site, address, length): (SiteId, u64, u64), to: &mut Output) {
        match self.live.at(site.index(), address) {
            Some((start, Some(held))) => {
                let inside = address - start;
                if inside >= held.copied {
                    to.access(site, held.place + inside, length);
                }
            }
            _ => to.access(site, address, length),
        }
    }
}

impl Reserved {
    pub fn new(program: Arc<ProgramBlocks>, chains: Arc<Chains>) -> Reserved {
        Reserved {
            numbering: program.numbering(),
            program,
            chains,
            processes: HashMap::new(),
        }
    }
}

impl Rewrite for Reserved {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        let program = &self.program;
        let memory = self.processes.entry(batch.process).or_insert_with(|| Memory {
            live: program.begin(|_| None),
            slots: Slots::default(),
            arrays: HashMap::new(),
            starts: HashMap::new(),
        });
        for (item, is_inside) in batch.all_items_of_slice() {
            match item {
                BatchItem::Event(event) => {
                    let changes = self.numbering.changes(event).into_iter().flatten();
                    let spared = changes.filter(|change| memory.apply(&self.chains, *change));
                    if spared.count() == 0 {
                        to.event(event, is_inside);
                    }
                }
                BatchItem::Accesses(piece) => {
                    each_access(batch, piece, |access| memory.access(access, to));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::edits::reserve::survey::{Chain, Part};

    /// Three blocks of an array, each copied to the next one.
    fn chains() -> Chains {
        let part = |copied| Part { chain: 0, copied };
        Chains {
            all: vec![Chain { bytes: 64, last: 2 }],
            parts: HashMap::from([(0, part(0)), (1, part(16)), (2, part(32))]),
        }
    }

    #[test]
    fn of_an_array_the_first_call_allocates_and_the_last_one_gives_back() {
        let chains = chains();
        let mut memory = Memory {
            live: Blocks::new(1),
            slots: Slots::default(),
            arrays: HashMap::new(),
            starts: HashMap::new(),
        };
        let begins = |number| BlockChange::Begins {
            number,
            start: 0x1000 * (number + 1),
            length: 16 << number,
        };
        let ends = |number: u64| BlockChange::Ends {
            start: 0x1000 * (number + 1),
        };
        let other = 7;
        let changes = [
            (begins(0), false),
            (begins(1), true),
            (ends(0), true),
            (begins(other), false),
            (begins(2), true),
            (ends(1), true),
            (ends(other), false),
            (ends(2), false),
        ];
        for (change, is_spared) in changes {
            assert_eq!(memory.apply(&chains, change), is_spared, "{change:?}");
        }
    }
}
