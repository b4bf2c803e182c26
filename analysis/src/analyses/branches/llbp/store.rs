//! The large structure: a set of patterns for each context.

use crate::analyses::branches::counter::{confidence, step};

/// Patterns of a context.
pub(super) const PATTERNS: usize = 16;
/// Places that patterns of the same four histories share.
pub(super) const BUCKET: usize = 4;
pub(super) const TAG_BITS: u32 = 13;
pub(super) const COUNTER_BITS: u32 = 3;
const LENGTH_BITS: u32 = 2;
pub(super) const PATTERN_SET_BITS: u64 = PATTERNS as u64 * (TAG_BITS + COUNTER_BITS + LENGTH_BITS) as u64;
const WORTH_BITS: u32 = 2;

/// What a branch did after a history in a context. An unused one is like any other, of tag 0.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pattern {
    tag: u16,
    /// Number of the history among those of its bucket.
    length: u8,
    pub(super) counter: i8,
}

#[derive(Debug, Clone)]
struct Context {
    /// The bits of its number that its set doesn't say.
    tag: u32,
    /// Rises when a pattern becomes sure, and falls when one no longer is. The context with the least is replaced.
    worth: i8,
    patterns: [Pattern; PATTERNS],
}

/// Contexts and their pattern sets: directory and storage of LLBP. At first each way holds some context, with unused
/// patterns, so no valid bit is needed.
#[derive(Debug, Clone)]
pub(super) struct PatternStore {
    contexts: Vec<Context>,
    log2_sets: u32,
    ways: usize,
    tag_bits: u32,
}

/// A context's place in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContextPlace(usize);

impl PatternStore {
    pub(super) fn new(log2_sets: u32, ways: usize, context_bits: u32) -> Self {
        let first = |place: usize| Context {
            tag: (place % ways) as u32,
            worth: -2,
            patterns: [Pattern::default(); PATTERNS],
        };
        PatternStore {
            contexts: (0..ways << log2_sets).map(first).collect(),
            log2_sets,
            ways,
            tag_bits: context_bits.saturating_sub(log2_sets),
        }
    }

    fn set(&self, context: u32) -> usize {
        (context as usize & ((1 << self.log2_sets) - 1)) * self.ways
    }

    pub(super) fn find(&self, context: u32) -> Option<ContextPlace> {
        let set = self.set(context);
        let tag = context >> self.log2_sets;
        let way = self.contexts[set..set + self.ways]
            .iter()
            .position(|way| way.tag == tag);
        way.map(|way| ContextPlace(set + way))
    }

    /// Replaces the least worthy context. Returns the new one's place, and the number of the replaced one.
    pub(super) fn replace(&mut self, context: u32) -> (ContextPlace, u32) {
        let set = self.set(context);
        let least = (set..set + self.ways)
            .min_by_key(|&place| self.contexts[place].worth)
            .unwrap_or(set);
        let gone = self.contexts[least].tag << self.log2_sets | context & ((1 << self.log2_sets) - 1);
        self.contexts[least] = Context {
            tag: context >> self.log2_sets,
            worth: -2,
            patterns: [Pattern::default(); PATTERNS],
        };
        (ContextPlace(least), gone)
    }

    /// The pattern of a history with a tag.
    pub(super) fn match_pattern(&self, context: ContextPlace, history: usize, tag: u16) -> Option<usize> {
        let first = history / BUCKET * BUCKET;
        let length = (history % BUCKET) as u8;
        let matches = |pattern: &Pattern| pattern.tag == tag && pattern.length == length;
        let bucket = &self.contexts[context.0].patterns[first..first + BUCKET];
        bucket.iter().position(matches).map(|place| first + place)
    }

    pub(super) fn pattern(&self, context: ContextPlace, place: usize) -> Pattern {
        self.contexts[context.0].patterns[place]
    }

    /// One outcome more of a pattern.
    pub(super) fn train(&mut self, context: ContextPlace, place: usize, taken: bool) {
        let context = &mut self.contexts[context.0];
        let counter = &mut context.patterns[place].counter;
        let before = confidence(*counter);
        step(counter, taken, COUNTER_BITS);
        let after = confidence(*counter);
        if before == 0 && after == 1 {
            step(&mut context.worth, true, WORTH_BITS);
        } else if before == 1 && after == 0 {
            step(&mut context.worth, false, WORTH_BITS);
        }
    }

    /// Puts a pattern in the place of its bucket's least sure one.
    pub(super) fn allocate(&mut self, context: ContextPlace, history: usize, tag: u16, taken: bool) {
        let first = history / BUCKET * BUCKET;
        let bucket = &mut self.contexts[context.0].patterns[first..first + BUCKET];
        if let Some(pattern) = bucket
            .iter_mut()
            .min_by_key(|pattern| (confidence(pattern.counter), pattern.tag))
        {
            *pattern = Pattern {
                tag,
                length: (history % BUCKET) as u8,
                counter: if taken { 0 } else { -1 },
            };
        }
    }

    /// Bits of the pattern sets.
    pub(super) fn storage_bits(&self) -> u64 {
        self.contexts.len() as u64 * PATTERN_SET_BITS
    }

    /// Bits of the directory.
    pub(super) fn directory_bits(&self) -> u64 {
        self.contexts.len() as u64 * u64::from(self.tag_bits + WORTH_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_that_of_the_paper() {
        let store = PatternStore::new(11, 7, 14);
        assert_eq!(PATTERN_SET_BITS, 288);
        assert_eq!(store.storage_bits(), 504 * 1024 * 8);
        assert_eq!(store.directory_bits(), 8_960 * 8);
    }

    #[test]
    fn least_worthy_context_gives_way() {
        let mut store = PatternStore::new(1, 2, 4);
        let (kept, _) = store.replace(0b0110);
        store.allocate(kept, 5, 77, true);
        let place = store.match_pattern(kept, 5, 77).unwrap();
        store.train(kept, place, true);
        let (other, _) = store.replace(0b1000);
        assert_ne!(kept, other);
        let (last, gone) = store.replace(0b1010);
        assert_eq!((last, gone), (other, 0b1000));
        assert_eq!(store.find(0b0110), Some(kept));
        assert_eq!(store.find(0b1000), None);
    }

    #[test]
    fn sure_patterns_stay_in_their_bucket() {
        let mut store = PatternStore::new(0, 1, 1);
        let context = store.find(0).unwrap();
        for tag in 1..=4 {
            store.allocate(context, 4 + usize::from(tag) % 4, tag, true);
        }
        for tag in 1..=3 {
            let place = store
                .match_pattern(context, 4 + usize::from(tag) % 4, tag)
                .unwrap();
            store.train(context, place, true);
        }
        store.allocate(context, 4, 9, false);
        assert!(store.match_pattern(context, 4, 4).is_none());
        assert!((1..=3).all(|tag| store
            .match_pattern(context, 4 + usize::from(tag) % 4, tag)
            .is_some()));
        assert!(store.match_pattern(context, 8, 9).is_none());
        assert_eq!(
            store
                .match_pattern(context, 4, 9)
                .map(|place| store.pattern(context, place).counter),
            Some(-1)
        );
    }
}
