//! Why a level misses: Hill's three classes, and coherence.

use std::collections::{HashMap, HashSet};

use super::associative::FullyAssociative;
use super::line_hash::LineHash;
use super::MissClass;

/// Follows the lines that a level is asked for.
#[derive(Debug, Clone)]
pub(super) struct Classifier {
    /// All lines ever asked for: a bit for each of 64 neighbours.
    seen: HashMap<u64, u64, LineHash>,
    /// Lines that left because another core wrote to them, and have not been asked for since.
    lost: HashSet<u64, LineHash>,
    /// Whether a line may be found that was never asked for.
    prefetches: bool,
    associative: FullyAssociative,
}

impl Classifier {
    /// Makes a classifier for a level of this many lines.
    pub fn new(lines: u64, prefetches: bool) -> Classifier {
        Classifier {
            seen: HashMap::default(),
            lost: HashSet::default(),
            prefetches,
            associative: FullyAssociative::new(lines as usize),
        }
    }

    /// Another core's write took the line away.
    pub fn lose(&mut self, line: u64) {
        self.lost.insert(line);
    }

    /// The level is asked for a line. Returns the class if that is a miss.
    #[inline]
    pub fn see(&mut self, line: u64, is_hit: bool) -> Option<MissClass> {
        let would_hit = self.associative.touch(line);
        if is_hit && !self.prefetches {
            return None;
        }
        let was_lost = !self.lost.is_empty() && self.lost.remove(&line);
        let is_new = self.is_new(line);
        let class = match (is_new, was_lost, would_hit) {
            (true, _, _) => MissClass::Compulsory,
            (_, true, _) => MissClass::Coherence,
            (_, _, true) => MissClass::Conflict,
            _ => MissClass::Capacity,
        };
        (!is_hit).then_some(class)
    }

    fn is_new(&mut self, line: u64) -> bool {
        let neighbours = self.seen.entry(line >> 6).or_default();
        let bit = 1 << (line & 63);
        let is_new = *neighbours & bit == 0;
        *neighbours |= bit;
        is_new
    }
}
