//! Marks on a line of time. Counts the marks after a moment.

use crate::model::fetch_ahead::fetch;

/// Moments of a block, whose marks are counted bit by bit.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;
/// Blocks, or groups of them, whose marks are counted one by one.
const FAN: usize = 16;
/// This many levels of groups of 16 suffice for 2^32 moments.
const LEVELS: usize = 6;
/// More moments than 2^31 don't fit the numbers.
const MOST_MOMENTS: usize = 1 << 31;
const LEAST_MOMENTS: usize = BLOCK * FAN;

/// Not a moment.
pub(super) const NEVER: u32 = u32::MAX;
/// The most marks: of the longest line of time half remains for what follows.
pub(super) const MOST_MARKS: usize = MOST_MOMENTS / 2;

/// Moments 0, 1, 2, ..., of which some are marked. There is a bit for each moment, the number of marks of each 512
/// moments, of each 16 times as many, and so on. Adding, removing and counting touch one cache line of each level. When
/// the moments are used up, the marked ones are numbered anew (Bennett and Kruskal, 1975).
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    words: Vec<[u64; WORDS]>,
    levels: [Vec<[u32; FAN]>; LEVELS],
    depth: usize,
    next: u32,
    marks: usize,
}

impl Timeline {
    pub fn new() -> Timeline {
        Timeline::with_marks(0, LEAST_MOMENTS)
    }

    /// Makes room for this many moments, the first of which are marked.
    fn with_marks(marks: usize, moments: usize) -> Timeline {
        let mut timeline = Timeline {
            words: vec![[0; WORDS]; moments / BLOCK],
            levels: Default::default(),
            depth: 0,
            next: 0,
            marks: 0,
        };
        let mut groups = moments / BLOCK;
        while groups > 1 {
            groups = groups.div_ceil(FAN);
            timeline.levels[timeline.depth] = vec![[0; FAN]; groups];
            timeline.depth += 1;
        }
        (0..marks).for_each(|_| {
            timeline.mark();
        });
        timeline
    }

    /// Whether all moments are used up: [`Timeline::renumber`] then.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.next as usize == self.words.len() * BLOCK
    }

    pub fn marks(&self) -> usize {
        self.marks
    }

    /// Marks the next moment. There must be one.
    #[inline(always)]
    pub fn mark(&mut self) -> u32 {
        let moment = self.next;
        let inside = moment as usize % BLOCK;
        self.words[moment as usize / BLOCK][inside / 64] |= 1 << (inside % 64);
        let mut index = moment as usize / BLOCK;
        for level in &mut self.levels[..self.depth] {
            level[index / FAN][index % FAN] += 1;
            index /= FAN;
        }
        self.next += 1;
        self.marks += 1;
        moment
    }

    /// Has what [`Timeline::unmark`] needs fetched.
    #[inline(always)]
    pub fn prepare(&self, moment: u32) {
        fetch(&self.words[moment as usize / BLOCK]);
    }

    /// Removes a mark; says how many there are after it.
    #[inline(always)]
    pub fn unmark(&mut self, moment: u32) -> u64 {
        let inside = moment as usize % BLOCK;
        let words = &mut self.words[moment as usize / BLOCK];
        words[inside / 64] &= !(1 << (inside % 64));
        let mut behind = marks_from(words, inside);
        let mut index = moment as usize / BLOCK;
        let mut latest = self.next as usize / BLOCK;
        for level in &mut self.levels[..self.depth] {
            let group = &mut level[index / FAN];
            group[index % FAN] -= 1;
            // There is nothing after the latest moment, so a group that holds both needs no upper end.
            if index != latest {
                behind += counts_behind(group, index % FAN);
            }
            index /= FAN;
            latest /= FAN;
        }
        self.marks -= 1;
        behind
    }

    /// Numbers the marked moments 0, 1, 2, ... and makes room for three times as many. `moments` holds all of them, and
    /// perhaps [`NEVER`].
    #[cold]
    pub fn renumber<'m>(&mut self, moments: impl Iterator<Item = &'m mut u32>) {
        let mut before = Vec::with_capacity(self.words.len());
        let mut marks = 0;
        for words in &self.words {
            before.push(marks);
            marks += words.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        for moment in moments.filter(|moment| **moment != NEVER) {
            let block = *moment as usize / BLOCK;
            let inside = *moment as usize % BLOCK;
            let in_block: u32 = self.words[block].iter().map(|word| word.count_ones()).sum();
            let from = marks_from(&self.words[block], inside) as u32;
            *moment = before[block] + in_block - from;
        }
        let room = (self.marks * 4).next_power_of_two();
        *self = Timeline::with_marks(self.marks, room.clamp(LEAST_MOMENTS, MOST_MOMENTS));
    }
}

/// Marks of a block from the moment `inside` of it on.
#[inline(always)]
fn marks_from(words: &[u64; WORDS], inside: usize) -> u64 {
    let mut marks = 0;
    for (number, word) in words.iter().enumerate() {
        let before = inside.saturating_sub(number * 64) as u32;
        marks += (word & u64::MAX.checked_shl(before).unwrap_or(0)).count_ones();
    }
    marks.into()
}

#[inline(always)]
fn counts_behind(group: &[u32; FAN], index: usize) -> u64 {
    let mut sum = 0;
    for (number, count) in group.iter().enumerate() {
        sum += if number > index { *count } else { 0 };
    }
    sum.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_as_a_list_counts_them() {
        let mut timeline = Timeline::new();
        // The reference: the marked moments in order, each with a name that stays.
        let mut list: Vec<usize> = Vec::new();
        let mut moments: Vec<u32> = Vec::new();
        let mut random = 1u64;
        for step in 0..120_000usize {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chance = (random >> 33) as usize;
            if chance.is_multiple_of(3) && !list.is_empty() && step > 4000 || list.len() > 9000 {
                let position = chance / 3 % list.len();
                let name = list.remove(position);
                assert_eq!(timeline.unmark(moments[name]), (list.len() - position) as u64);
                moments[name] = NEVER;
            }
            if timeline.is_full() {
                timeline.renumber(moments.iter_mut());
            }
            list.push(moments.len());
            moments.push(timeline.mark());
            assert_eq!(timeline.marks(), list.len());
        }
        assert!(timeline.depth > 1);
    }
}
