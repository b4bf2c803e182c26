//! In which order elements are visited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use trackway_trace::{Batch, BatchItem, Piece, Trace};

use super::{Target, Visited};
use crate::analyses::edits::elements::{apply, Begun, ElementBlock, ProgramBlocks, UNIT_BYTES};
use crate::analyses::edits::Subject;
use crate::analyses::whatif::{order_of, Blocks, Numbering};
use crate::{Analysis, Findings, Order};

/// Elements of a target beyond this many are not followed.
const MOST_ELEMENTS: u64 = 1 << 24;
/// Elements begin at multiples of no more than this.
const LINE_BYTES: u64 = 64;
const NO_TARGET: u8 = u8::MAX;

/// Goes over the trace once. Returns what was visited of each target.
pub(super) fn visited(subject: &Subject, targets: &[Target], program: &Arc<ProgramBlocks>) -> Vec<Visited> {
    let sites = subject.trace.program().sites.len();
    let mut by_site = vec![NO_TARGET; sites];
    let mut touches = by_site.clone();
    for (number, target) in targets.iter().enumerate() {
        for site in &target.visitors {
            by_site[site.index()] = number as u8;
        }
        for site in &target.sites {
            touches[site.index()] = number as u8;
        }
    }
    let survey = Survey {
        trace: subject.trace,
        targets,
        by_site,
        touches,
        program,
        found: Mutex::default(),
    };
    crate::run(&survey, subject.trace, subject.threads, subject.observer);
    survey.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Survey<'s> {
    trace: &'s Trace,
    targets: &'s [Target],
    /// The target whose visits a site makes.
    by_site: Vec<u8>,
    /// The target whose elements a site accesses.
    touches: Vec<u8>,
    program: &'s ProgramBlocks,
    found: Mutex<Vec<Visited>>,
}

struct SurveyShard {
    numbering: Numbering,
    processes: HashMap<u32, Blocks<Begun>>,
    following: Vec<Following>,
}

/// How far the visits of a target have come.
#[derive(Debug, Default)]
struct Following {
    visited: Visited,
    /// The next free place.
    next: u64,
    /// The last element: its address, and its place.
    last: Option<(u64, u64)>,
    /// By how much the last two new elements lay apart.
    stride: u64,
    /// Elements of all known blocks.
    known: u64,
    /// When each element of a block was accessed first by other sites, by the number of the block: counted from 1.
    begun: HashMap<u64, Vec<u32>>,
    begun_count: u32,
    /// When the last new element was accessed first.
    last_begun: u32,
}

impl Following {
    /// Notes that an element of the target which begins so many bytes after the block's start is accessed by another site.
    fn touch(&mut self, target: &Target, block: Begun, inside: u64) {
        let Some(number) = self.find(target, block, inside) else {
            return;
        };
        let count = self
            .visited
            .blocks
            .get(&block.number)
            .map_or(0, |block| block.places.len());
        let begun = self.begun.entry(block.number).or_insert_with(|| vec![0; count]);
        if begun[number] == 0 {
            self.begun_count += 1;
            begun[number] = self.begun_count;
        }
    }

    /// Notes that the target's site accesses that address, `inside` bytes past the block's start.
    fn visit(&mut self, target: &Target, block: Begun, address: u64, inside: u64) {
        let Some(inside) = inside.checked_sub(target.offset) else {
            return;
        };
        let Some(number) = self.find(target, block, inside) else {
            return;
        };
        let Some(elements) = self.visited.blocks.get_mut(&block.number) else {
            return;
        };
        let begin = address - target.offset;
        let bytes = elements.element_bytes;
        let place = &mut elements.places[number];
        let at = match *place {
            Some(place) => u64::from(place),
            None => {
                let alignment = 1 << bytes.trailing_zeros().min(LINE_BYTES.trailing_zeros());
                let at = self.next.next_multiple_of((alignment / UNIT_BYTES).max(1));
                *place = u32::try_from(at).ok();
                self.next = at + bytes.div_ceil(UNIT_BYTES);
                let follows = |(last, _): (u64, u64)| begin > last && begin - last <= bytes.max(LINE_BYTES);
                let stride = begin.wrapping_sub(self.last.map_or(0, |(last, _)| last));
                self.visited.strided += u64::from(std::mem::replace(&mut self.stride, stride) == stride);
                let begun = self.begun.get(&block.number).map_or(0, |begun| begun[number]);
                let last_begun = std::mem::replace(&mut self.last_begun, begun);
                self.visited.as_begun += u64::from(begun > 0 && begun == last_begun + 1);
                self.visited.elements += 1;
                self.visited.in_order += u64::from(self.last.is_some_and(follows));
                self.last = Some((begin, at));
                return;
            }
        };
        match self.last {
            Some((_, last)) if last == at => return,
            Some((_, last)) => {
                self.visited.again += 1;
                let ahead = at.wrapping_sub(last);
                self.visited.repeated += u64::from(ahead <= bytes.div_ceil(UNIT_BYTES).max(1));
            }
            None => (),
        }
        self.last = Some((begin, at));
    }

    /// The number of the element in its block, which is known then.
    fn find(&mut self, target: &Target, block: Begun, inside: u64) -> Option<usize> {
        if let Some(elements) = self.visited.blocks.get(&block.number) {
            let (number, within) = elements.element(inside)?;
            let is_alone = elements.places.len() == 1;
            return (within == 0 || is_alone || !target.is_structure).then_some(number);
        }
        let is_alone = block.length < 2 * target.element_bytes;
        let (phase, element_bytes) = match is_alone {
            true => (0, block.length),
            false => (inside % target.element_bytes, target.element_bytes),
        };
        let count = (block.length - phase) / element_bytes;
        if count == 0 || self.known.saturating_add(count) > MOST_ELEMENTS {
            return None;
        }
        self.known += count;
        self.visited.alone += u64::from(count == 1);
        let elements = ElementBlock {
            phase,
            element_bytes,
            places: vec![None; count as usize],
        };
        let number = elements.element(inside)?.0;
        self.visited.blocks.insert(block.number, elements);
        Some(number)
    }

    /// What was never visited comes after all others.
    fn finish(mut self) -> Visited {
        let mut numbers: Vec<u64> = self.visited.blocks.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(block) = self.visited.blocks.get_mut(&number) else {
                continue;
            };
            for place in block.places.iter_mut().filter(|place| place.is_none()) {
                *place = u32::try_from(self.next).ok();
                self.next += block.element_bytes.div_ceil(UNIT_BYTES);
            }
        }
        self.visited
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
            processes: HashMap::new(),
            following: self.targets.iter().map(|_| Following::default()).collect(),
        }
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        let SurveyShard {
            numbering,
            processes,
            following,
        } = shard;
        let live = processes
            .entry(batch.process)
            .or_insert_with(|| self.program.begin(|block| block));
        let mut visit = |site: usize, address: u64, live: &mut Blocks<Begun>| {
            let number = self.touches[site];
            if number == NO_TARGET {
                return;
            }
            let Some((start, block)) = live.at(site, address) else {
                return;
            };
            let (target, following) = (&self.targets[number as usize], &mut following[number as usize]);
            let inside = address - start;
            if self.by_site[site] == number {
                following.visit(target, *block, address, inside);
            } else if let Some(begin) = inside.checked_sub(target.offsets[&(site as u32)]) {
                following.touch(target, *block, begin);
            }
        };
        for item in batch.items() {
            match item {
                BatchItem::Event(event) => {
                    let changes = numbering.changes(event).into_iter().flatten();
                    changes.for_each(|change| apply(live, change, |block| block));
                }
                BatchItem::Accesses(Piece::Accesses(range)) => {
                    range.for_each(|index| visit(batch.site[index].index(), batch.address[index], live));
                }
                BatchItem::Accesses(Piece::Run(run)) => {
                    let lanes = batch.lanes(run).iter();
                    let own = lanes.filter(|lane| self.touches[lane.site.index()] != NO_TARGET);
                    for lane in own {
                        (0..run.count)
                            .for_each(|iteration| visit(lane.site.index(), lane.address_in(iteration), live));
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
        let visited = shard.following.into_iter().map(Following::finish);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = visited.collect();
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::SiteId;

    fn target() -> Target {
        Target {
            name: String::new(),
            site: SiteId(0),
            visitors: Vec::new(),
            sites: Vec::new(),
            offsets: HashMap::new(),
            element_bytes: 16,
            offset: 8,
            is_structure: true,
            part: 1.0,
        }
    }

    fn block() -> Begun {
        Begun {
            number: 0,
            start: 0x1000,
            length: 160,
        }
    }

    fn follow(visits: &[u64]) -> Visited {
        let mut following = Following::default();
        for element in visits {
            let inside = element * 16 + 8;
            following.visit(&target(), block(), 0x1000 + inside, inside);
        }
        following.finish()
    }

    #[test]
    fn places_are_those_of_the_first_visits() {
        let visited = follow(&[7, 2, 9]);
        let places = &visited.blocks[&0].places;
        assert_eq!([places[7], places[2], places[9]], [Some(0), Some(2), Some(4)]);
        assert_eq!(places[0], Some(6), "what is never visited comes last");
        assert_eq!((visited.elements, visited.in_order, visited.again), (3, 0, 0));
    }

    #[test]
    fn an_order_that_is_repeated_is_told_from_chance() {
        let walks = follow(&[7, 2, 9, 7, 2, 9, 7, 2, 9]);
        assert_eq!((walks.again, walks.repeated), (6, 4));
        let chance = follow(&[7, 2, 9, 2, 7, 9, 7]);
        assert_eq!((chance.again, chance.repeated), (4, 0));
    }

    #[test]
    fn the_order_in_which_others_began_is_told() {
        let (target, block) = (target(), block());
        let mut following = Following::default();
        for element in [5, 1, 8, 3] {
            following.touch(&target, block, element * 16);
        }
        for element in [5, 1, 8, 3] {
            following.visit(&target, block, 0x1000 + element * 16 + 8, element * 16 + 8);
        }
        let visited = following.finish();
        assert_eq!((visited.elements, visited.as_begun), (4, 4));
    }

    #[test]
    fn the_order_of_addresses_is_seen() {
        let visited = follow(&[0, 1, 2, 3]);
        assert_eq!((visited.elements, visited.in_order), (4, 3));
    }
}
