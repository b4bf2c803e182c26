//! Which blocks were copied to larger ones, and released then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{AccessKind, AllocationSiteId, Batch, BatchItem, Event, SiteId, Trace};

use crate::analyses::edits::elements::{apply, Begun, ProgramBlocks};
use crate::analyses::edits::simulate::each_access;
use crate::analyses::edits::Subject;
use crate::analyses::whatif::{order_of, BlockChange, Blocks, Numbering};
use crate::model::blocks::{OriginCursor, Origins};
use crate::{Analysis, Findings, Order};

/// Sites by which one copy is made, at most; a compiler makes a few of one loop.
const MOST_SITES: usize = 32;
/// A block that is released was copied if this part of its bytes was read, and as much was written to the new one: what
/// moves objects needn't access all of their bytes.
const COPIED: f64 = 0.5;
/// What is read more often than this was used, not copied.
const MOST_READ: u64 = 2;

/// A block that took another one's content.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// The numbers of both allocations.
    pub from: u64,
    pub to: u64,
    /// Where the larger one was allocated, divided by the code that led to it.
    pub site: AllocationSiteId,
    /// Bytes of the smaller one, if accesses that were recorded copied it; else 0.
    pub copied: u64,
    /// Bytes of the larger one.
    pub bytes: u64,
    /// By which sites it was copied, and how many accesses of each did that.
    pub accesses: Vec<(SiteId, u64)>,
}

/// An array, from its first block to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// Those of the last block.
    pub bytes: u64,
    /// The number of the last block.
    pub last: u64,
}

/// What a block is to its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of the array.
    pub chain: usize,
    /// Bytes at its beginning that were copied from the block before.
    pub copied: u64,
}

/// Arrays that grew.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub all: Vec<Chain>,
    /// By the number of the allocation.
    pub parts: HashMap<u64, Part>,
}

impl Chains {
    /// `links` are in the order of their copies.
    pub fn of(links: &[Link]) -> Chains {
        let mut chains = Chains::default();
        for link in links {
            let chain = match chains.parts.get(&link.from) {
                Some(part) => part.chain,
                None => {
                    let chain = chains.all.len();
                    chains.all.push(Chain { bytes: 0, last: 0 });
                    chains.parts.insert(link.from, Part { chain, copied: 0 });
                    chain
                }
            };
            chains.all[chain] = Chain {
                bytes: link.bytes,
                last: link.to,
            };
            let part = Part {
                chain,
                copied: link.copied,
            };
            chains.parts.insert(link.to, part);
        }
        chains
    }

    /// Whether the block of that number is its array's last.
    pub fn is_last(&self, number: u64, part: Part) -> bool {
        self.all[part.chain].last == number
    }
}

/// Goes over the trace once.
pub(super) fn links(subject: &Subject, program: &ProgramBlocks, origins: &Origins) -> Vec<Link> {
    let survey = Survey {
        trace: subject.trace,
        program,
        origins,
        kinds: subject
            .trace
            .program()
            .sites
            .iter()
            .map(|site| site.kind)
            .collect(),
        found: Mutex::default(),
    };
    crate::run(&survey, subject.trace, subject.threads, subject.observer);
    survey.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Survey<'s> {
    trace: &'s Trace,
    program: &'s ProgramBlocks,
    origins: &'s Origins,
    /// What each site does.
    kinds: Vec<AccessKind>,
    found: Mutex<Vec<Link>>,
}

struct SurveyShard {
    numbering: Numbering,
    cursor: OriginCursor,
    processes: HashMap<u32, Blocks<Begun>>,
    /// The last block of each stream that may be taking another one's content.
    filling: HashMap<u32, Filling>,
    links: Vec<Link>,
}

/// A new block while something may be copied to it.
#[derive(Debug)]
struct Filling {
    block: Begun,
    site: AllocationSiteId,
    moves: Vec<Move>,
    /// A copy takes no more accesses.
    accesses_left: u64,
}

/// What a site read of another block, or wrote to the new one.
#[derive(Debug)]
struct Move {
    block: u64,
    site: SiteId,
    bytes: u64,
    accesses: u64,
}

impl Filling {
    fn new(block: Begun, site: AllocationSiteId) -> Filling {
        Filling {
            block,
            site,
            moves: Vec::new(),
            accesses_left: block.length.saturating_mul(2),
        }
    }

    fn note(&mut self, block: u64, site: SiteId, bytes: u64) {
        let is_same = |known: &Move| known.block == block && known.site == site;
        if let Some(known) = self.moves.iter().position(is_same) {
            let known = &mut self.moves[known];
            known.bytes = known.bytes.saturating_add(bytes);
            known.accesses += 1;
        } else if self.moves.len() < MOST_SITES {
            self.moves.push(Move {
                block,
                site,
                bytes,
                accesses: 1,
            });
        }
    }

    /// The link, if the content of a block that is released now was copied.
    fn link_from(&self, released: Begun) -> Option<Link> {
        let moved = |block: u64| {
            let of_block = self.moves.iter().filter(move |known| known.block == block);
            of_block.map(|known| known.bytes).fold(0, u64::saturating_add)
        };
        let enough = (released.length as f64 * COPIED) as u64;
        let is_copied = released.number != self.block.number
            && released.length < self.block.length
            && moved(released.number).min(moved(self.block.number)) >= enough.max(1)
            && moved(released.number) <= released.length.saturating_mul(MOST_READ);
        let own = |known: &&Move| [released.number, self.block.number].contains(&known.block);
        is_copied.then(|| Link {
            from: released.number,
            to: self.block.number,
            site: self.site,
            copied: released.length,
            bytes: self.block.length,
            accesses: self
                .moves
                .iter()
                .filter(own)
                .map(|known| (known.site, known.accesses))
                .collect(),
        })
    }
}

impl Survey<'_> {
    fn event(&self, shard: &mut SurveyShard, batch: &Batch, event: Event) {
        let event = shard.cursor.divide(self.origins, batch, event);
        let Some(live) = shard.processes.get_mut(&batch.process) else {
            return;
        };
        let at = |live: &mut Blocks<Begun>, address| {
            let block = live.at(0, address).map(|(_, block)| *block);
            block.filter(|block| block.start == address)
        };
        let before = match event {
            Event::Free { address, .. } => at(live, address),
            Event::Reallocate { old_address, .. } => at(live, old_address),
            _ => None,
        };
        let mut begun = None;
        for change in shard.numbering.changes(event).into_iter().flatten() {
            apply(live, change, |block| *begun.insert(block));
            if let BlockChange::Ends { start } = change {
                // A block that has ended takes nothing.
                let ended = |filling: &mut Filling| filling.block.start == start;
                if shard.filling.get_mut(&batch.stream).is_some_and(ended) {
                    shard.filling.remove(&batch.stream);
                }
            }
        }
        match (event, before, begun) {
            (Event::Free { .. }, Some(released), _) => {
                let filling = shard.filling.get(&batch.stream);
                if let Some(link) = filling.and_then(|filling| filling.link_from(released)) {
                    shard.filling.remove(&batch.stream);
                    shard.links.push(link);
                }
            }
            (Event::Allocate { site, .. }, _, Some(block)) => {
                shard.filling.insert(batch.stream, Filling::new(block, site));
            }
            (Event::Reallocate { site, .. }, Some(old), Some(block)) if block.length > old.length => {
                shard.links.push(Link {
                    from: old.number,
                    to: block.number,
                    site,
                    copied: 0,
                    bytes: block.length,
                    accesses: Vec::new(),
                });
            }
            _ => (),
        }
    }

    fn access(
        &self,
        filling: &mut Filling,
        live: &mut Blocks<Begun>,
        (site, address, length): (SiteId, u64, u64),
    ) {
        if filling.accesses_left == 0 {
            return;
        }
        filling.accesses_left -= 1;
        let Some((_, block)) = live.at(site.index(), address) else {
            return;
        };
        let kind = self.kinds[site.index()];
        let is_new = block.number == filling.block.number;
        if (is_new && kind.writes()) || (!is_new && kind.reads()) {
            filling.note(block.number, site, length);
        }
    }
}

impl Analysis for Survey<'_> {
    type Shard = SurveyShard;

    fn order(&self) -> Order {
        order_of(self.trace)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> SurveyShard {
        SurveyShard {
            numbering: self.program.numbering(),
            cursor: OriginCursor::default(),
            processes: HashMap::new(),
            filling: HashMap::new(),
            links: Vec::new(),
        }
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        let begin = || self.program.begin(|block| block);
        shard.processes.entry(batch.process).or_insert_with(begin);
        for item in batch.items() {
            match item {
                BatchItem::Event(event) => self.event(shard, batch, event),
                BatchItem::Accesses(piece) => {
                    let filling = shard.filling.get_mut(&batch.stream);
                    let live = shard.processes.get_mut(&batch.process);
                    let both = filling.filter(|filling| filling.accesses_left > 0).zip(live);
                    if let Some((filling, live)) = both {
                        each_access(batch, piece, |access| self.access(filling, live, access));
                    }
                }
            }
        }
    }

    /// One of them took all batches.
    fn merge(&self, into: &mut SurveyShard, from: SurveyShard) {
        if into.processes.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, shard: SurveyShard, _: &Trace) -> Findings {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = shard.links;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Begun = Begun {
        number: 7,
        start: 0x1000,
        length: 64,
    };
    const LARGE: Begun = Begun {
        number: 9,
        start: 0x2000,
        length: 128,
    };

    fn link(from: u64, to: u64, copied: u64, bytes: u64) -> Link {
        Link {
            from,
            to,
            site: AllocationSiteId(0),
            copied,
            bytes,
            accesses: Vec::new(),
        }
    }

    #[test]
    fn a_block_is_copied_if_it_is_read_and_as_much_is_written() {
        let mut filling = Filling::new(LARGE, AllocationSiteId(3));
        filling.note(SMALL.number, SiteId(1), 64);
        assert!(
            filling.link_from(SMALL).is_none(),
            "what is read may go elsewhere"
        );
        filling.note(LARGE.number, SiteId(2), 32);
        filling.note(5, SiteId(1), 8);
        let link = filling.link_from(SMALL).unwrap();
        assert_eq!((link.from, link.to, link.copied, link.bytes), (7, 9, 64, 128));
        assert_eq!(link.accesses, [(SiteId(1), 1), (SiteId(2), 1)]);
        assert!(
            filling.link_from(Begun { length: 200, ..SMALL }).is_none(),
            "a larger block doesn't grow to a smaller one"
        );
        filling.note(SMALL.number, SiteId(1), 65);
        assert!(
            filling.link_from(SMALL).is_none(),
            "a copy doesn't read all of a block more than twice"
        );
    }

    #[test]
    fn arrays_go_from_their_first_block_to_their_last() {
        let chains = Chains::of(&[link(1, 2, 16, 32), link(5, 6, 8, 16), link(2, 3, 32, 64)]);
        assert_eq!(chains.all.len(), 2);
        let part = |number: u64| chains.parts[&number];
        assert_eq!((part(1).copied, part(2).copied, part(3).copied), (0, 16, 32));
        assert_eq!((part(3).chain, chains.all[part(3).chain].bytes), (0, 64));
        assert!(chains.is_last(3, part(3)) && !chains.is_last(2, part(2)) && chains.is_last(6, part(6)));
    }
}
