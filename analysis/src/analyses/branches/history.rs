//! Global histories: the outcomes of the last branches, and folds of them.

use super::counter::spread;
use crate::model::control_flow::{BranchEvent, BranchKind};

/// Bits of the outcomes of past branches, the newest at distance 0.
#[derive(Debug, Clone)]
pub struct GlobalHistory {
    words: Vec<u64>,
    /// How many bits came, modulo the room.
    end: usize,
    length: usize,
}

impl GlobalHistory {
    /// One that remembers at least `length` bits; all are 0 before the first branch.
    pub fn new(length: usize) -> Self {
        let room = (length + 1).next_power_of_two().max(64);
        GlobalHistory {
            words: vec![0; room / 64],
            end: 0,
            length,
        }
    }

    pub fn push(&mut self, bit: bool) {
        let (word, shift) = (self.end / 64, self.end % 64);
        self.words[word] = self.words[word] & !(1 << shift) | u64::from(bit) << shift;
        self.end = (self.end + 1) & (self.words.len() * 64 - 1);
    }

    /// The bit that came `distance` bits before the newest.
    pub fn bit(&self, distance: usize) -> bool {
        let room = self.words.len() * 64;
        let place = (self.end + room - 1 - distance) & (room - 1);
        self.words[place / 64] >> (place % 64) & 1 == 1
    }

    /// How many bits hardware would store.
    pub fn storage_bits(&self) -> u64 {
        self.length as u64
    }
}

/// The newest `length` bits of a history, folded to `width` bits: the exclusive or of the bits at distances that are
/// equal modulo `width`. It is updated in constant time (Michaud, *A PPM-like, tag-based branch predictor*, 2005).
#[derive(Debug, Clone)]
pub struct Fold {
    value: u32,
    length: u32,
    width: u32,
    /// Where the bit that leaves stands.
    leaves_at: u32,
}

impl Fold {
    /// `width` is from 1 to 31.
    pub fn new(length: usize, width: u32) -> Self {
        debug_assert!((1..32).contains(&width));
        Fold {
            value: 0,
            length: length as u32,
            width,
            leaves_at: length as u32 % width,
        }
    }

    /// Takes the newest bit of a history, just pushed.
    pub fn follow(&mut self, history: &GlobalHistory) {
        let value = self.value << 1 | u32::from(history.bit(0));
        let value = value ^ u32::from(history.bit(self.length as usize)) << self.leaves_at;
        self.value = (value ^ value >> self.width) & ((1 << self.width) - 1);
    }

    pub fn value(&self) -> u32 {
        self.value
    }
}

/// The bits that a branch adds to a global history. A conditional branch adds its direction. Others add two bits of
/// their address and target, which tell the paths after indirect branches, calls and returns apart.
pub(super) fn history_bits(event: &BranchEvent) -> impl Iterator<Item = bool> {
    let (bits, count) = match event.kind {
        BranchKind::Conditional => (u64::from(event.taken), 1),
        _ => (spread(event.address >> 1) ^ spread(event.target >> 1), 2),
    };
    (0..count).map(move |place| bits >> place & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::chance::Chance;

    fn folded_by_definition(history: &GlobalHistory, length: usize, width: u32) -> u32 {
        (0..length).fold(0, |value, distance| {
            value ^ u32::from(history.bit(distance)) << (distance as u32 % width)
        })
    }

    #[test]
    fn folds_are_what_their_definition_says() {
        let mut history = GlobalHistory::new(3000);
        let shapes = [
            (1, 1),
            (5, 7),
            (7, 7),
            (8, 7),
            (64, 10),
            (127, 11),
            (3000, 12),
            (3000, 31),
        ];
        let mut folds = shapes.map(|(length, width)| Fold::new(length, width));
        let mut chance = Chance::new();
        for count in 0..10_000 {
            history.push(chance.next() & 1 == 1);
            folds.iter_mut().for_each(|fold| fold.follow(&history));
            if count % 97 == 0 {
                for (fold, (length, width)) in folds.iter().zip(shapes) {
                    assert_eq!(
                        fold.value(),
                        folded_by_definition(&history, length, width),
                        "{length} {width}"
                    );
                }
            }
        }
    }

    #[test]
    fn history_gives_back_what_came() {
        let mut history = GlobalHistory::new(100);
        let bits: Vec<bool> = (0..1000).map(|count| count % 3 == 0 || count % 7 == 2).collect();
        bits.iter().for_each(|&bit| history.push(bit));
        for distance in 0..=100 {
            assert_eq!(history.bit(distance), bits[999 - distance]);
        }
        assert_eq!(history.storage_bits(), 100);
    }
}
