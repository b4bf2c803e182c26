//! Elements that are laid out one by one at other places: where each lies, and how accesses go there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use trackway_trace::{Batch, BatchItem, Program, SiteId};

use super::simulate::{each_access, Output};
use super::Rewrite;
use crate::analyses::whatif::{static_blocks, BlockChange as Change, Blocks, Numbering};

/// Where new places lie: far from a program's own memory.
const FIRST: u64 = 1 << 45;
/// Places are multiples of this many bytes.
pub(super) const UNIT_BYTES: u64 = 8;

/// A block of elements, one after the other.
#[derive(Debug, Clone)]
pub(super) struct ElementBlock {
    /// Bytes from the block's start to the first element.
    pub phase: u64,
    pub element_bytes: u64,
    /// The new place of each element, in units; none if it has none yet.
    pub places: Vec<Option<u32>>,
}

impl ElementBlock {
    /// The element at so many bytes from the block's start, and the bytes from its own start.
    #[inline]
    pub fn element(&self, inside: u64) -> Option<(usize, u64)> {
        let inside = inside.checked_sub(self.phase)?;
        let (number, within) = (inside / self.element_bytes, inside % self.element_bytes);
        (number < self.places.len() as u64).then_some((number as usize, within))
    }
}

/// Blocks by the number of their allocation.
pub(super) type ElementBlocks = HashMap<u64, ElementBlock>;

/// Accesses to elements go to their new places.
pub(super) struct Moved {
    program: Arc<ProgramBlocks>,
    blocks: Arc<ElementBlocks>,
    /// The sites whose accesses move; none if all do.
    only: Option<Arc<HashSet<SiteId>>>,
    numbering: Numbering,
    processes: HashMap<u32, Blocks<Option<u64>>>,
}

/// What is needed of a program to follow its blocks.
#[derive(Debug)]
pub(super) struct ProgramBlocks {
    sites: usize,
    statics: Vec<Change>,
    numbering: Numbering,
}

impl ProgramBlocks {
    pub fn of(program: &Program) -> ProgramBlocks {
        ProgramBlocks {
            sites: program.sites.len(),
            statics: static_blocks(program).collect(),
            numbering: Numbering::new(program),
        }
    }

    pub fn numbering(&self) -> Numbering {
        self.numbering.clone()
    }

    /// The blocks of a process that begins.
    pub fn begin<T>(&self, mut content: impl FnMut(Begun) -> T) -> Blocks<T> {
        let mut blocks = Blocks::new(self.sites);
        for change in &self.statics {
            apply(&mut blocks, *change, &mut content);
        }
        blocks
    }
}

/// A block that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub number: u64,
    pub start: u64,
    pub length: u64,
}

/// `content`: what is to be known of a block that begins.
pub(super) fn apply<T>(blocks: &mut Blocks<T>, change: Change, content: impl FnOnce(Begun) -> T) {
    match change {
        Change::Begins {
            number,
            start,
            length,
        } => {
            let block = Begun {
                number,
                start,
                length,
            };
            blocks.begin(start, length, content(block));
        }
        Change::Ends { start } => blocks.end(start),
    }
}

impl Moved {
    /// `only`: the sites whose accesses move; none if all do.
    pub fn new(
        program: Arc<ProgramBlocks>,
        blocks: Arc<ElementBlocks>,
        only: Option<Arc<HashSet<SiteId>>>,
    ) -> Moved {
        Moved {
            only,
            numbering: program.numbering(),
            program,
            blocks,
            processes: HashMap::new(),
        }
    }
}

/// An access goes to the new place; what spans several elements is divided.
#[inline]
fn access(
    all: &ElementBlocks,
    live: &mut Blocks<Option<u64>>,
    (site, address, length): (SiteId, u64, u64),
    to: &mut Output,
) {
    let block = live.at(site.index(), address);
    let known = block.and_then(|(start, number)| Some((start, all.get(&(*number)?)?)));
    let Some((start, block)) = known else {
        return to.access(site, address, length);
    };
    let (mut at, end) = (address, address.saturating_add(length));
    while at < end {
        let place = block.element(at - start);
        let place = place.and_then(|(number, within)| Some((block.places[number]?, within)));
        let Some((place, within)) = place else {
            return to.access(site, at, end - at);
        };
        let bytes = (block.element_bytes - within).min(end - at);
        to.access(site, FIRST + u64::from(place) * UNIT_BYTES + within, bytes);
        at += bytes;
    }
}

impl Rewrite for Moved {
    fn take(&mut self, batch: &Batch, to: &mut Output) {
        let Moved {
            program,
            blocks: all,
            only,
            numbering,
            processes,
        } = self;
        let known = |block: Begun| all.contains_key(&block.number).then_some(block.number);
        let live = processes
            .entry(batch.process)
            .or_insert_with(|| program.begin(known));
        let rewrite =
            |live: &mut Blocks<Option<u64>>, of_trace: (SiteId, u64, u64), to: &mut Output| match only
                .as_ref()
                .is_none_or(|only| only.contains(&of_trace.0))
            {
                true => access(all, live, of_trace, to),
                false => to.access(of_trace.0, of_trace.1, of_trace.2),
            };
        for (item, is_inside) in batch.all_items_of_slice() {
            match item {
                BatchItem::Event(event) => {
                    to.event(event, is_inside);
                    let changes = numbering.changes(event).into_iter().flatten();
                    changes.for_each(|change| apply(live, change, known));
                }
                BatchItem::Accesses(piece) => {
                    each_access(batch, piece, |access| rewrite(live, access, to));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_told_by_their_distance_from_the_first() {
        let block = ElementBlock {
            phase: 8,
            element_bytes: 24,
            places: vec![None; 3],
        };
        assert_eq!(block.element(7), None);
        assert_eq!(block.element(8), Some((0, 0)));
        assert_eq!(block.element(8 + 24 + 5), Some((1, 5)));
        assert_eq!(block.element(8 + 72), None);
    }
}
