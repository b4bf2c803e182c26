//! The lines of a plain level.

use super::entry::{Entry, DIRTY};
use super::replacement::Lru;
use super::store::{LineStore, SetCount, Sets};
use super::{CacheGeometry, Policy};
use crate::model::fetch_ahead::fetch;

/// A set's order of use is a word with a digit of four bits for each way.
const MOST_WAYS: usize = 16;
const EACH_DIGIT: u64 = 0x1111_1111_1111_1111;
/// Tags on a cache line of the machine that simulates.
const TAGS: usize = 8;
/// No line has this number.
const NO_LINE: u64 = u64::MAX;
/// 2^64 divided by the golden ratio, odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// LRU sets.
#[derive(Debug, Clone)]
pub(super) enum PlainSets {
    Usual(FewWays),
    Many(Sets<Lru>),
}

/// What became of a line that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Hit,
    /// Nothing, or an unchanged line, gave way.
    Miss,
    /// This changed line gave way.
    MissForDirty(u64),
}

impl PlainSets {
    pub fn new(geometry: CacheGeometry) -> PlainSets {
        match geometry.ways as usize <= MOST_WAYS {
            true => PlainSets::Usual(FewWays::new(geometry)),
            false => PlainSets::Many(Sets::new(geometry, Policy::Lru)),
        }
    }

    /// Uses a line, which becomes dirty if `is_write`. If it is not there, it comes in.
    #[inline(always)]
    pub fn take(&mut self, line: u64, is_write: bool) -> Taken {
        match self {
            PlainSets::Usual(sets) => sets.take(line, is_write),
            PlainSets::Many(sets) => take_among_many(sets, line, is_write),
        }
    }

    /// Makes a line dirty, if it is there, without using it. Returns whether it is.
    #[inline(always)]
    pub fn write(&mut self, line: u64) -> bool {
        match self {
            PlainSets::Usual(sets) => sets.write(line),
            PlainSets::Many(sets) => sets.peek(line).map(|entry| entry.set(DIRTY)).is_some(),
        }
    }

    /// Tells the processor that a line's set will be needed.
    #[inline(always)]
    pub fn announce(&self, line: u64) {
        match self {
            PlainSets::Usual(sets) => sets.announce(line),
            PlainSets::Many(sets) => sets.announce(line),
        }
    }
}

#[cold]
fn take_among_many(sets: &mut Sets<Lru>, line: u64, is_write: bool) -> Taken {
    let flags = if is_write { DIRTY } else { 0 };
    if let Some(entry) = sets.look_up(line) {
        entry.set(flags);
        return Taken::Hit;
    }
    let gone = sets.insert(Entry::new(line, flags));
    match gone.has(DIRTY) {
        true => Taken::MissForDirty(gone.line()),
        false => Taken::Miss,
    }
}

/// Sets in which lines never move: a line is found by eight bits of it, and what is known of all ways stands together.
#[derive(Debug, Clone)]
pub(super) struct FewWays {
    heads: Vec<Head>,
    /// The lines, `ways` of each set.
    tags: Vec<TagLine>,
    ways: usize,
    /// The last digit's position in an order.
    last_digit: u32,
    count: SetCount,
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct Head {
    /// The ways in the order of use, the latest one in the lowest digit.
    order: u64,
    /// A bit for each way.
    dirty: u64,
    /// A byte for each way.
    prints: [u64; 2],
}

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct TagLine([u64; TAGS]);

impl FewWays {
    fn new(geometry: CacheGeometry) -> FewWays {
        let (sets, ways) = (geometry.sets() as usize, geometry.ways as usize);
        let head = Head {
            order: (0..ways as u64).fold(0, |order, way| order | way << (4 * way)),
            dirty: 0,
            prints: [0; 2],
        };
        FewWays {
            heads: vec![head; sets],
            tags: vec![TagLine([NO_LINE; TAGS]); (sets * ways).div_ceil(TAGS)],
            ways,
            last_digit: 4 * (ways as u32 - 1),
            count: SetCount::new(sets as u64),
        }
    }

    #[inline(always)]
    fn take(&mut self, line: u64, is_write: bool) -> Taken {
        let set = self.count.set_of(line);
        match self.find(set, line) {
            Some(way) => {
                let head = &mut self.heads[set];
                head.use_way(way);
                head.dirty |= u64::from(is_write) << way;
                Taken::Hit
            }
            None => self.bring_in(set, line, is_write),
        }
    }

    #[inline(always)]
    fn bring_in(&mut self, set: usize, line: u64, is_write: bool) -> Taken {
        let head = &mut self.heads[set];
        let way = head.use_last(self.last_digit);
        let was_dirty = head.dirty >> way & 1 != 0;
        head.dirty = head.dirty & !(1 << way) | u64::from(is_write) << way;
        head.set_print(way, print_of(line));
        let index = set * self.ways + way as usize;
        let gone = std::mem::replace(&mut self.tags[index / TAGS].0[index % TAGS], line);
        match was_dirty {
            true => Taken::MissForDirty(gone),
            false => Taken::Miss,
        }
    }

    #[inline(always)]
    fn write(&mut self, line: u64) -> bool {
        let set = self.count.set_of(line);
        let way = self.find(set, line);
        if let Some(way) = way {
            self.heads[set].dirty |= 1 << way;
        }
        way.is_some()
    }

    #[inline(always)]
    fn find(&self, set: usize, line: u64) -> Option<u32> {
        let mut candidates = self.heads[set].ways_with(print_of(line));
        while candidates != 0 {
            let way = candidates.trailing_zeros();
            let index = set * self.ways + way as usize;
            // If the set doesn't have this way, the tag is that of another set, which never holds the line.
            let tag = self.tags.get(index / TAGS).map(|tags| tags.0[index % TAGS]);
            if tag == Some(line) {
                return Some(way);
            }
            candidates &= candidates - 1;
        }
        None
    }

    #[inline(always)]
    fn announce(&self, line: u64) {
        let set = self.count.set_of(line);
        fetch(&self.heads[set]);
        let first = set * self.ways;
        for tags in (first..first + self.ways).step_by(TAGS) {
            fetch(&self.tags[tags / TAGS]);
        }
    }
}

impl Head {
    /// The ways which may have a line with these bits: a bit for each.
    #[inline(always)]
    fn ways_with(&self, print: u8) -> u32 {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8, _mm_set_epi64x};
            let [low, high] = self.prints.map(|prints| prints as i64);
            // SAFETY: all processors of this kind have SSE2.
            unsafe {
                let equal = _mm_cmpeq_epi8(_mm_set_epi64x(high, low), _mm_set1_epi8(print as i8));
                _mm_movemask_epi8(equal) as u32
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let prints = self.prints.iter().flat_map(|prints| prints.to_le_bytes());
            prints
                .zip(0..)
                .fold(0, |ways, (found, way)| ways | u32::from(found == print) << way)
        }
    }

    #[inline(always)]
    fn set_print(&mut self, way: u32, print: u8) {
        let prints = &mut self.prints[way as usize / 8 % 2];
        let shift = way % 8 * 8;
        *prints = *prints & !(0xff << shift) | u64::from(print) << shift;
    }

    /// Moves a way to the front.
    #[inline(always)]
    fn use_way(&mut self, way: u32) {
        let differences = self.order ^ (u64::from(way) * EACH_DIGIT);
        // The lowest digit that is 0 gives its highest bit, as if nothing were borrowed from it.
        let zeros = differences.wrapping_sub(EACH_DIGIT) & !differences & (EACH_DIGIT << 3);
        // All bits up to those of the digit, and all below it.
        let upto = zeros ^ zeros.wrapping_sub(1);
        let below = upto >> 4;
        self.order = self.order & !upto | (self.order & below) << 4 | u64::from(way);
    }

    /// Moves the last way to the front, and returns it.
    #[inline(always)]
    fn use_last(&mut self, last_digit: u32) -> u32 {
        let way = self.order >> last_digit & 0xf;
        let others = self.order & !(0xf << last_digit);
        self.order = others << 4 | way;
        way as u32
    }
}

#[inline(always)]
fn print_of(line: u64) -> u8 {
    (line.wrapping_mul(MULTIPLIER) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_forms_are_the_same(
            ways in 1u32..=16,
            sets in 1u64..4,
            uses in proptest::collection::vec((0u64..60, 0u8..4), 0..300),
        ) {
            let geometry = CacheGeometry { size_bytes: sets * u64::from(ways) * 64, ways, line_bytes: 64 };
            let mut usual = PlainSets::new(geometry);
            let mut many = PlainSets::Many(Sets::new(geometry, Policy::Lru));
            for (line, what) in uses {
                match what {
                    0 => prop_assert_eq!(usual.write(line), many.write(line)),
                    _ => prop_assert_eq!(usual.take(line, what == 1), many.take(line, what == 1)),
                }
            }
        }
    }
}
