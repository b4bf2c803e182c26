//! Branches that go the other way once in a constant number of times.

use super::counter::spread;
use crate::model::chance::Chance;

const WAYS: usize = 4;
/// Tag, length, present round, confidence, age, direction.
const ENTRY_BITS: u64 = 10 + 10 + 10 + 4 + 4 + 1;
const MOST_COUNTED: u16 = (1 << 10) - 1;
const MOST_CONFIDENT: u8 = 15;
/// Shorter rounds are left to the global history.
const SHORTEST: u16 = 3;

/// The loop predictor (Sherwood and Calder, *Loop termination prediction*, ISHPC 2000; as a side predictor of TAGE in
/// Seznec, *A 256 Kbits L-TAGE branch predictor*, CBP-2, 2007, and CBP-5, 2016).
#[derive(Debug, Clone)]
pub struct LoopPredictor {
    entries: Vec<Entry>,
    chance: Chance,
    found: Option<usize>,
    set: usize,
    tag: u16,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    tag: u16,
    /// Executions from one exit to the next, the latter included; 0: not known yet.
    length: u16,
    /// Executions since the last exit.
    present: u16,
    confidence: u8,
    age: u8,
    /// Which way the branch goes but for exits.
    stays: bool,
}

impl Entry {
    fn prediction(&self) -> bool {
        if self.present + 1 == self.length {
            !self.stays
        } else {
            self.stays
        }
    }

    /// Rounds that were alike before it is trusted: 15, fewer if they are long.
    fn is_sure(&self) -> bool {
        self.confidence == MOST_CONFIDENT || u32::from(self.confidence) * u32::from(self.length) > 128
    }

    fn forget(&mut self) {
        *self = Entry {
            tag: self.tag,
            stays: self.stays,
            ..Entry::default()
        };
    }

    fn count(&mut self, taken: bool) {
        self.present += 1;
        let is_exit = taken != self.stays;
        if self.present >= MOST_COUNTED || (self.length > 0 && self.present > self.length) {
            self.forget();
        } else if is_exit {
            self.close_round();
        }
    }

    fn close_round(&mut self) {
        if self.length == 0 && self.present >= SHORTEST {
            self.length = self.present;
        } else if self.length == self.present {
            self.confidence = (self.confidence + 1).min(MOST_CONFIDENT);
        } else {
            self.forget();
        }
        self.present = 0;
    }
}

impl LoopPredictor {
    /// Makes 2^`log2_sets` sets of 4 entries.
    pub fn new(log2_sets: u32) -> Self {
        LoopPredictor {
            entries: vec![Entry::default(); WAYS << log2_sets],
            chance: Chance::new(),
            found: None,
            set: 0,
            tag: 0,
        }
    }

    pub fn storage_bits(&self) -> u64 {
        self.entries.len() as u64 * ENTRY_BITS
    }

    /// The predicted direction of a branch, if it is known to end a loop of constant length.
    pub fn look_up(&mut self, address: u64) -> Option<bool> {
        let sets = self.entries.len() / WAYS;
        let code = spread(address);
        self.set = code as usize % sets * WAYS;
        self.tag = (code / sets as u64) as u16 & 0x3ff;
        let set = &self.entries[self.set..self.set + WAYS];
        self.found = set
            .iter()
            .position(|entry| entry.tag == self.tag && entry.age > 0)
            .map(|way| self.set + way);
        let entry = &self.entries[self.found?];
        entry.is_sure().then(|| entry.prediction())
    }

    /// Learns what the branch did that was looked up, and whether other predictors were wrong.
    pub fn update(&mut self, taken: bool, others_missed: bool) {
        let Some(place) = self.found else {
            if others_missed && self.chance.next() & 3 == 0 {
                self.allocate(taken);
            }
            return;
        };
        let entry = &mut self.entries[place];
        if entry.is_sure() {
            if entry.prediction() != taken {
                entry.forget();
                return;
            }
            if others_missed {
                entry.age = (entry.age + 1).min(15);
            }
        }
        entry.count(taken);
    }

    /// Replaces an entry without use. If there is none, it lowers the age of all entries of the set.
    fn allocate(&mut self, taken: bool) {
        let set = &mut self.entries[self.set..self.set + WAYS];
        match set.iter_mut().find(|entry| entry.age == 0) {
            Some(entry) => {
                *entry = Entry {
                    tag: self.tag,
                    age: 7,
                    // What others miss is mostly the exit.
                    stays: !taken,
                    ..Entry::default()
                };
            }
            None => set.iter_mut().for_each(|entry| entry.age -= 1),
        }
    }
}

impl Default for LoopPredictor {
    /// 32 entries, as in the predictor of 64 KiB.
    fn default() -> Self {
        LoopPredictor::new(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of a loop, and how often it was predicted and how often wrongly in the last tenth.
    fn after(length: usize, rounds: usize) -> (usize, usize) {
        let mut loops = LoopPredictor::default();
        let (mut sure, mut wrong) = (0, 0);
        for round in 0..rounds {
            for place in 0..length {
                let taken = place + 1 < length;
                let prediction = loops.look_up(0x1234);
                if round * 10 >= rounds * 9 {
                    sure += usize::from(prediction.is_some());
                    wrong += usize::from(prediction.is_some_and(|predicted| predicted != taken));
                }
                loops.update(taken, !taken);
            }
        }
        (sure, wrong)
    }

    #[test]
    fn loop_of_constant_length_is_foreseen_with_its_exit() {
        for length in [3, 10, 100, 1000] {
            assert_eq!(after(length, 200), (20 * length, 0), "{length}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_not_predicted() {
        assert_eq!(after(2, 200), (0, 0));
        assert_eq!(after(2000, 50), (0, 0));
    }

    #[test]
    fn loop_that_changes_its_length_is_forgotten() {
        let mut loops = LoopPredictor::default();
        let mut run = |lengths: &[usize]| {
            let mut sure = 0;
            for place in lengths
                .iter()
                .flat_map(|&length| (0..length).map(move |place| length - place))
            {
                sure += usize::from(loops.look_up(0x40).is_some());
                loops.update(place > 1, place == 1);
            }
            sure
        };
        assert!(run(&[20; 100]) > 1000);
        assert!(run(&[20, 13, 17, 11, 31, 12]) <= 40);
    }

    #[test]
    fn storage() {
        assert_eq!(LoopPredictor::default().storage_bits(), 32 * 39);
    }
}
