//! Re-reference interval prediction (Jaleel and others, ISCA 2010), 2 bits, promotion to 0 on a hit.

use super::{empty_way, Replacement};
use crate::model::cache::entry::Entry;

/// The line is used again in the distant future, so it is replaced.
const DISTANT: u8 = 3;
/// The prediction for a line that comes in.
const LONG: u8 = 2;

/// Predictions for all ways of all sets.
#[derive(Debug, Clone)]
struct Predictions {
    of_ways: Vec<u8>,
    ways: usize,
}

impl Predictions {
    fn new(sets: usize, ways: usize) -> Predictions {
        Predictions {
            of_ways: vec![DISTANT; sets * ways],
            ways,
        }
    }

    #[inline(always)]
    fn of_set(&mut self, set: usize) -> &mut [u8] {
        &mut self.of_ways[set * self.ways..][..self.ways]
    }

    /// The first way with a distant prediction, after all have been raised until there is one.
    #[inline(always)]
    fn victim(&mut self, set: usize) -> usize {
        let predictions = self.of_set(set);
        let highest = predictions.iter().copied().max().unwrap_or(DISTANT);
        let raise = DISTANT - highest;
        if raise > 0 {
            predictions.iter_mut().for_each(|prediction| *prediction += raise);
        }
        let distant = predictions.iter().position(|&prediction| prediction == DISTANT);
        distant.unwrap_or(0)
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], set: usize, entry: Entry, prediction: u8) -> Entry {
        let way = empty_way(entries).unwrap_or_else(|| self.victim(set));
        self.of_set(set)[way] = prediction;
        std::mem::replace(&mut entries[way], entry)
    }
}

/// The static form: every line comes in with a long interval.
#[derive(Debug, Clone)]
pub(crate) struct Srrip {
    predictions: Predictions,
}

impl Replacement for Srrip {
    fn new(sets: usize, ways: usize) -> Srrip {
        Srrip {
            predictions: Predictions::new(sets, ways),
        }
    }

    #[inline(always)]
    fn hit(&mut self, _: &mut [Entry], set: usize, way: usize) -> usize {
        self.predictions.of_set(set)[way] = 0;
        way
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], set: usize, entry: Entry) -> Entry {
        self.predictions.insert(entries, set, entry, LONG)
    }
}

/// Sets whose number is a multiple of this always do as SRRIP; those half-way between them as its bimodal form.
const LEADER_DISTANCE: usize = 64;
const SELECTOR_MAX: u16 = 1023;
const SELECTOR_MIDDLE: u16 = 512;
/// In the bimodal form, one of this many lines comes in with a long interval, the others with a distant one.
const BIMODAL_PERIOD: u32 = 32;

/// The dynamic form: two groups of sets lead, the others follow the group that misses less.
#[derive(Debug, Clone)]
pub(crate) struct Drrip {
    predictions: Predictions,
    /// Grows with the misses of the sets that lead for SRRIP, shrinks with those of the bimodal ones.
    selector: u16,
    bimodal_fills: u32,
}

impl Drrip {
    #[inline(always)]
    fn prediction(&mut self, set: usize) -> u8 {
        let bimodal = match set % LEADER_DISTANCE {
            0 => {
                self.selector = (self.selector + 1).min(SELECTOR_MAX);
                false
            }
            position if position == LEADER_DISTANCE / 2 => {
                self.selector = self.selector.saturating_sub(1);
                true
            }
            _ => self.selector >= SELECTOR_MIDDLE,
        };
        if !bimodal {
            return LONG;
        }
        self.bimodal_fills += 1;
        if self.bimodal_fills == BIMODAL_PERIOD {
            self.bimodal_fills = 0;
            return LONG;
        }
        DISTANT
    }
}

impl Replacement for Drrip {
    fn new(sets: usize, ways: usize) -> Drrip {
        Drrip {
            predictions: Predictions::new(sets, ways),
            selector: SELECTOR_MIDDLE - 1,
            bimodal_fills: 0,
        }
    }

    #[inline(always)]
    fn hit(&mut self, _: &mut [Entry], set: usize, way: usize) -> usize {
        self.predictions.of_set(set)[way] = 0;
        way
    }

    #[inline(always)]
    fn insert(&mut self, entries: &mut [Entry], set: usize, entry: Entry) -> Entry {
        let prediction = self.prediction(set);
        self.predictions.insert(entries, set, entry, prediction)
    }
}
