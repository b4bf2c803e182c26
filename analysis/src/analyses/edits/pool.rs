//! Objects that are allocated one by one, out of a pool: one after the other, and what is freed is used again first. The pool's own
//! work is taken for nothing: to take an object from a list of free ones, or the next of a block, is a few instructions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, SiteId};

use super::elements::ProgramBlocks;
use super::simulate::{each_access, Output};
use super::slots::Slots;
use super::Rewrite;
use crate::analyses::whatif::{BlockChange as Change, Blocks, Numbering};

const GRAIN_BYTES: u64 = 8;
/// Larger blocks are no objects of a pool.
const MOST_OBJECT_BYTES: u64 = 1 << 20;

/// Accesses to the objects go to the pool.
pub(super) struct Pooled {
    program: Arc<ProgramBlocks>,
    /// The allocations of objects, by number.
    objects: Arc<HashSet<u64>>,
    numbering: Numbering,
    processes: HashMap<u32, Pool>,
}

/// The pool of a process.
struct Pool {
    live: Blocks<Option<u64>>,
    slots: Slots,
    /// The slot of each object, by its old start: size and place.
    taken: HashMap<u64, (u64, u64)>,
}

impl Pool {
    /// Returns whether it is an object of the pool that begins or ends.
    fn apply(&mut self, objects: &HashSet<u64>, change: Change) -> bool {
        match change {
            Change::Begins {
                number,
                start,
                length,
            } => {
                // What lay there has ended, though no event said so.
                self.end(start);
                let is_object = objects.contains(&number) && length <= MOST_OBJECT_BYTES;
                let place = is_object.then(|| {
                    let bytes = length.next_multiple_of(GRAIN_BYTES);
                    let place = self.slots.take(bytes);
                    self.taken.insert(start, (bytes, place));
                    place
                });
                self.live.begin(start, length, place);
                is_object
            }
            Change::Ends { start } => {
                self.live.end(start);
                self.end(start)
            }
        }
    }

    fn end(&mut self, start: u64) -> bool {
        let taken = self.taken.remove(&start);
        if let Some((bytes, place)) = taken {
            self.slots.give_back(bytes, place);
        }
        taken.is_some()
    }

    #[inline]
    fn access(&mut self, (site, address, length): (SiteId, u64, u64), to: &mut Output) {
        match self.live.at(site.index(), address) {
            Some((start, Some(place))) => to.access(site, *place + (address - start), length),
            _ => to.access(site, address, length),
        }
    }
}

impl Pooled {
    pub fn new(program: Arc<ProgramBlocks>, objects: Arc<HashSet<u64>>) -> Pooled {
        Pooled {
            numbering: program.numbering(),
            program,
            objects,
            processes: HashMap::new(),
        }
    }
}

impl Rewrite for Pooled {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        let program = &self.program;
        let pool = self.processes.entry(batch.process).or_insert_with(|| Pool {
            live: program.begin(|_| None),
            slots: Slots::default(),
            taken: HashMap::new(),
        });
        for (item, is_inside) in batch.all_items_of_slice() {
            match item {
                BatchItem::Event(event) => {
                    let changes = self.numbering.changes(event).into_iter().flatten();
                    let of_pool = changes.filter(|change| pool.apply(&self.objects, *change));
                    if of_pool.count() == 0 {
                        to.event(event, is_inside);
                    }
                }
                BatchItem::Accesses(piece) => {
                    each_access(batch, piece, |access| pool.access(access, to));
                }
            }
        }
    }
}
