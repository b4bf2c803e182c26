//! One cache.

use std::collections::HashMap;

use trackway_analysis::cache::{CacheGeometry, Policy};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub line: u64,
    pub dirty: bool,
    pub prefetched: bool,
    used: u64,
    prediction: u32,
}

impl Slot {
    pub fn new(line: u64, dirty: bool, prefetched: bool) -> Slot {
        Slot {
            line,
            dirty,
            prefetched,
            used: 0,
            prediction: 0,
        }
    }
}

pub struct NaiveCache {
    policy: Policy,
    sets: Vec<Vec<Option<Slot>>>,
    /// Whether the upper half was used last, by set and range of ways.
    trees: HashMap<(usize, usize, usize), bool>,
    time: u64,
    random: u64,
    /// Selector of DRRIP.
    selector: i32,
    fills: u32,
}

impl NaiveCache {
    pub fn new(geometry: CacheGeometry, policy: Policy) -> NaiveCache {
        NaiveCache {
            policy,
            sets: vec![vec![None; geometry.ways as usize]; geometry.sets() as usize],
            trees: HashMap::new(),
            time: 0,
            random: 0x9E37_79B9_7F4A_7C15,
            selector: 511,
            fills: 0,
        }
    }

    fn place(&self, line: u64) -> Option<(usize, usize)> {
        let set = (line % self.sets.len() as u64) as usize;
        let is_line = |slot: &Option<Slot>| slot.is_some_and(|slot| slot.line == line);
        Some((set, self.sets[set].iter().position(is_line)?))
    }

    pub fn find(&mut self, line: u64) -> Option<&mut Slot> {
        let (set, way) = self.place(line)?;
        self.sets[set][way].as_mut()
    }

    pub fn remove(&mut self, line: u64) -> Option<Slot> {
        let (set, way) = self.place(line)?;
        self.sets[set][way].take()
    }

    pub fn use_line(&mut self, line: u64) -> Option<&mut Slot> {
        let (set, way) = self.place(line)?;
        self.touch(set, way);
        let slot = self.sets[set][way].as_mut()?;
        slot.prediction = 0;
        Some(slot)
    }

    fn touch(&mut self, set: usize, way: usize) {
        self.time += 1;
        if let Some(slot) = &mut self.sets[set][way] {
            slot.used = self.time;
        }
        let (mut low, mut high) = (0, self.sets[set].len());
        while high - low > 1 {
            let middle = (low + high) / 2;
            self.trees.insert((set, low, high), way >= middle);
            (low, high) = if way >= middle {
                (middle, high)
            } else {
                (low, middle)
            };
        }
    }

    pub fn insert(&mut self, mut slot: Slot) -> Option<Slot> {
        let set = (slot.line % self.sets.len() as u64) as usize;
        slot.prediction = self.prediction(set);
        let empty = self.sets[set].iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| self.victim(set));
        let evicted = self.sets[set][way].replace(slot);
        self.touch(set, way);
        evicted
    }

    fn prediction(&mut self, set: usize) -> u32 {
        if self.policy == Policy::Srrip {
            return 2;
        }
        let bimodal = match set % 64 {
            0 => {
                self.selector = (self.selector + 1).min(1023);
                false
            }
            32 => {
                self.selector = (self.selector - 1).max(0);
                true
            }
            _ => self.selector >= 512,
        };
        self.fills += u32::from(bimodal);
        match bimodal && !self.fills.is_multiple_of(32) {
            true => 3,
            false => 2,
        }
    }

    fn victim(&mut self, set: usize) -> usize {
        let ways = self.sets[set].len();
        match self.policy {
            Policy::Lru => (0..ways)
                .min_by_key(|&way| self.sets[set][way].unwrap().used)
                .unwrap(),
            Policy::Plru => self.least_in_tree(set, 0, ways),
            Policy::Random => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let upper = u128::from(self.random >> 32);
                (upper * ways as u128 / (1 << 32)) as usize
            }
            Policy::Srrip | Policy::Drrip => self.distant(set),
        }
    }

    fn least_in_tree(&self, set: usize, low: usize, high: usize) -> usize {
        if high - low == 1 {
            return low;
        }
        let middle = (low + high) / 2;
        // At first the lower half is replaced, as if the upper one had been used.
        match self.trees.get(&(set, low, high)).copied().unwrap_or(true) {
            true => self.least_in_tree(set, low, middle),
            false => self.least_in_tree(set, middle, high),
        }
    }

    fn distant(&mut self, set: usize) -> usize {
        loop {
            let slots = self.sets[set].iter();
            if let Some(way) = slots.clone().position(|slot| slot.unwrap().prediction == 3) {
                return way;
            }
            for slot in self.sets[set].iter_mut().flatten() {
                slot.prediction += 1;
            }
        }
    }
}
