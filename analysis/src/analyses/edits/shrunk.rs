//! Elements that get smaller: without members that nobody reads, or with members of fewer bytes.

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, SiteId};

use super::elements::{apply, ProgramBlocks};
use super::simulate::{each_access, Output};
use super::Rewrite;
use crate::analyses::whatif::{Blocks, Numbering};

/// Where smaller blocks lie: far from a program's own memory.
const FIRST: u64 = 1 << 45;
/// Allocators take larger blocks from the system, in pages of their own.
const LARGE_BYTES: u64 = 128 << 10;
const PAGE_BYTES: u64 = 4096;
const GRAIN_BYTES: u64 = 16;
/// No program's array has more.
const MOST_BLOCK_BYTES: u64 = 1 << 40;

/// How an element becomes smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shrinking {
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Covers the element from start to end.
    pub parts: Vec<Part>,
}

/// Bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub start: u64,
    /// Exclusive.
    pub end: u64,
    /// Where they go, and how many bytes are left of them; none if they are left out.
    pub to: Option<(u64, u64)>,
}

/// The blocks of elements by the number of their allocation, with the bytes before the first element.
pub(super) type Arrays = HashMap<u64, u64>;

/// Accesses go to smaller elements.
pub(super) struct Shrunk {
    program: Arc<ProgramBlocks>,
    arrays: Arc<Arrays>,
    shrinking: Arc<Shrinking>,
    /// Whether each site stores.
    stores: Arc<Vec<bool>>,
    numbering: Numbering,
    processes: HashMap<u32, Process>,
    /// Loads of what was left out.
    lost: u64,
}

struct Process {
    live: Blocks<Option<Array>>,
    room: Room,
}

/// A block of elements that lives.
#[derive(Debug, Clone, Copy)]
struct Array {
    phase: u64,
    count: u64,
    start: u64,
}

impl Shrunk {
    pub fn new(
        program: Arc<ProgramBlocks>,
        arrays: Arc<Arrays>,
        shrinking: Arc<Shrinking>,
        stores: Arc<Vec<bool>>,
    ) -> Shrunk {
        Shrunk {
            numbering: program.numbering(),
            program,
            arrays,
            shrinking,
            stores,
            processes: HashMap::new(),
            lost: 0,
        }
    }
}

/// Places of smaller blocks.
#[derive(Debug, Default)]
struct Room {
    /// By old starts, with their bytes: a new block replaces the one that was there before.
    taken: HashMap<u64, (u64, u64)>,
    next: u64,
}

impl Room {
    /// An array's new place, if the block is one.
    fn place(
        &mut self,
        shrinking: &Shrinking,
        phase: Option<&u64>,
        (old_start, length): (u64, u64),
    ) -> Option<Array> {
        let phase = *phase.filter(|_| length <= MOST_BLOCK_BYTES)?;
        let count = length.checked_sub(phase)? / shrinking.bytes_before;
        let bytes = count * shrinking.bytes_after;
        let start = match self.taken.get(&old_start) {
            Some((start, known)) if bytes <= *known => *start,
            _ => {
                let alignment = match bytes >= LARGE_BYTES {
                    true => PAGE_BYTES,
                    false => GRAIN_BYTES,
                };
                let start = FIRST + self.next.next_multiple_of(alignment);
                self.next = start - FIRST + bytes.next_multiple_of(GRAIN_BYTES);
                self.taken.insert(old_start, (start, bytes));
                start
            }
        };
        (count > 0).then_some(Array { phase, count, start })
    }
}

/// Passes on what becomes of an access to an array, and returns whether it loads what was left out.
fn access(
    shrinking: &Shrinking,
    array: &Array,
    (site, inside, length): (SiteId, u64, u64),
    stores: bool,
    to: &mut Output,
) -> bool {
    let mut pieces = Pieces::default();
    let end = inside
        .saturating_add(length)
        .min(array.count * shrinking.bytes_before);
    let mut at = inside;
    let mut is_lost = false;
    while at < end {
        let (number, within) = (at / shrinking.bytes_before, at % shrinking.bytes_before);
        let start = array.start + number * shrinking.bytes_after;
        let whole = (end - at) / shrinking.bytes_before;
        if within == 0 && whole > 0 {
            is_lost |= !stores && shrinking.parts.iter().any(|part| part.to.is_none());
            pieces.push(start, whole * shrinking.bytes_after, &mut |address, length| {
                to.access(site, address, length);
            });
            at += whole * shrinking.bytes_before;
            continue;
        }
        let behind = shrinking.parts.partition_point(|part| part.start <= within);
        let part = shrinking.parts[behind.saturating_sub(1)];
        let stop = (at - within + part.end).min(end);
        match part.to {
            None => is_lost |= !stores,
            Some((offset, left)) => {
                let skipped = (within - part.start).min(left.saturating_sub(1));
                let bytes = (stop - at).min(left - skipped);
                pieces.push(start + offset + skipped, bytes, &mut |address, length| {
                    to.access(site, address, length);
                });
            }
        }
        at = stop;
    }
    pieces.end(&mut |address, length| to.access(site, address, length));
    is_lost
}

/// Joins pieces that follow each other.
#[derive(Debug, Default)]
struct Pieces(Option<(u64, u64)>);

impl Pieces {
    fn push(&mut self, address: u64, length: u64, pass_on: &mut impl FnMut(u64, u64)) {
        match &mut self.0 {
            Some((start, known)) if *start + *known == address => *known += length,
            _ => {
                self.end(pass_on);
                self.0 = Some((address, length));
            }
        }
    }

    fn end(&mut self, pass_on: &mut impl FnMut(u64, u64)) {
        if let Some((address, length)) = self.0.take() {
            pass_on(address, length);
        }
    }
}

impl Rewrite for Shrunk {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        let (arrays, shrinking) = (&*self.arrays, &*self.shrinking);
        let process = self.processes.entry(batch.process).or_insert_with(|| {
            let mut room = Room::default();
            let live = self
                .program
                .begin(|block| room.place(shrinking, arrays.get(&block.number), (block.start, block.length)));
            Process { live, room }
        });
        let Process { live, room } = process;
        let (stores, lost) = (&*self.stores, &mut self.lost);
        let mut rewrite = |live: &mut Blocks<Option<Array>>,
                           (site, address, length): (SiteId, u64, u64),
                           to: &mut Output| {
            let block = live.at(site.index(), address);
            let array = block.and_then(|(start, array)| Some((start, (*array)?)));
            let inside =
                array.and_then(|(start, array)| Some((array, (address - start).checked_sub(array.phase)?)));
            match inside {
                Some((array, inside)) if inside < array.count * shrinking.bytes_before => {
                    let stores = stores[site.index()];
                    *lost += u64::from(access(shrinking, &array, (site, inside, length), stores, to));
                }
                _ => to.access(site, address, length),
            }
        };
        for (item, is_inside) in batch.all_items_of_slice() {
            match item {
                BatchItem::Event(event) => {
                    to.event(event, is_inside);
                    let changes = self.numbering.changes(event).into_iter().flatten();
                    changes.for_each(|change| {
                        apply(live, change, |block| {
                            room.place(shrinking, arrays.get(&block.number), (block.start, block.length))
                        });
                    });
                }
                BatchItem::Accesses(piece) => {
                    each_access(batch, piece, |access| rewrite(live, access, to));
                }
            }
        }
    }

    fn objection(&self) -> Option<String> {
        let lost = trackway_report::grouped(self.lost);
        (self.lost > 0).then(|| format!("{lost} other accesses read what would be left out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_leave_their_room_to_those_that_take_their_place() {
        let shrinking = Shrinking {
            bytes_before: 16,
            bytes_after: 8,
            parts: Vec::new(),
        };
        let mut room = Room::default();
        let mut start = |old: u64, length: u64| {
            room.place(&shrinking, Some(&0), (old, length))
                .map(|array| array.start)
        };
        let first = start(0x1000, 160);
        assert_eq!(first, Some(FIRST));
        assert_eq!(start(0x2000, 160), Some(FIRST + 80));
        assert_eq!(start(0x1000, 80), first);
        assert_eq!(start(0x1000, 320), Some(FIRST + 160));
        assert_eq!(start(0x3000, 8), None, "no element fits");
    }

    #[test]
    fn pieces_that_follow_each_other_are_one_access() {
        let mut passed = Vec::new();
        let mut pass_on = |address: u64, length: u64| passed.push((address, length));
        let mut pieces = Pieces::default();
        for (address, length) in [(100, 4), (104, 4), (120, 8)] {
            pieces.push(address, length, &mut pass_on);
        }
        pieces.end(&mut pass_on);
        assert_eq!(passed, [(100, 8), (120, 8)]);
    }
}
