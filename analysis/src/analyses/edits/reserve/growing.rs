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
    fn apply(&mut self, chains: &Chains, change: BlockChange) {
        match change {
            BlockChange::Begins {
                number,
                start,
                length,
            } => {
                // What lay there has ended, though no event said so.
                self.end(chains, start);
                let held = chains.parts.get(&number).map(|part| {
                    let bytes = chains.all[part.chain].bytes.next_multiple_of(GRAIN_BYTES);
                    let known = self.arrays.get(&part.chain).copied();
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
            }
            BlockChange::Ends { start } => {
                self.end(chains, start);
                self.live.end(start);
            }
        }
    }

    fn end(&mut self, chains: &Chains, start: u64) {
        let Some(begun) = self.starts.remove(&start) else {
            return;
        };
        let Some(&(place, latest)) = self.arrays.get(&begun.chain) else {
            return;
        };
        if begun.is_last {
            let bytes = chains.all[begun.chain].bytes.next_multiple_of(GRAIN_BYTES);
            self.slots.give_back(bytes, place);
            self.arrays.remove(&begun.chain);
        } else if latest != start {
            // The copy has been made.
            self.skip(latest, 0);
        }
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
        for item in batch.all_items() {
            match item {
                BatchItem::Event(event) => {
                    to.call(event);
                    let changes = self.numbering.changes(event).into_iter().flatten();
                    changes.for_each(|change| memory.apply(&self.chains, change));
                }
                BatchItem::Accesses(piece) => {
                    each_access(batch, piece, |access| memory.access(access, to));
                }
            }
        }
    }
}
