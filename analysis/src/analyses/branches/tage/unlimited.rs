//! Tables that grow with the program.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::banks::{weakly, Banks, Entry};
use super::config::TageConfig;
use crate::analyses::branches::counter::mix;
use crate::analyses::branches::history::{Fold, GlobalHistory};

/// Tables with an entry for each address and history that was ever allocated. Histories are told apart by 61 bits of
/// folds, addresses exactly. Both are mixed to 64 bits, so collisions are as unlikely as among random numbers of 64
/// bits.
#[derive(Debug, Clone)]
pub struct UnlimitedBanks {
    tables: Vec<Bank>,
    counter_bits: u32,
}

#[derive(Debug, Clone)]
struct Bank {
    history: usize,
    entries: HashMap<u64, Entry, BuildHasherDefault<MixedAlready>>,
    folds: [Fold; 2],
    key: u64,
}

/// A hasher for keys that are already mixed.
#[derive(Debug, Clone, Default)]
struct MixedAlready(u64);

impl Hasher for MixedAlready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl UnlimitedBanks {
    pub fn new(config: &TageConfig) -> Self {
        let bank = |history| Bank {
            history,
            entries: HashMap::default(),
            folds: [31, 30].map(|width| Fold::new(history, width)),
            key: 0,
        };
        UnlimitedBanks {
            tables: config.tables.iter().map(|table| bank(table.history)).collect(),
            counter_bits: config.counter_bits,
        }
    }
}

impl Banks for UnlimitedBanks {
    fn count(&self) -> usize {
        self.tables.len()
    }

    fn history_length(&self, table: usize) -> usize {
        table.checked_sub(1).map_or(0, |place| self.tables[place].history)
    }

    fn counter_bits(&self) -> u32 {
        self.counter_bits
    }

    fn is_limited(&self) -> bool {
        false
    }

    fn look_up(&mut self, address: u64) {
        let code = mix(address);
        for bank in &mut self.tables {
            let [first, second] = &bank.folds;
            bank.key = mix(code ^ (u64::from(first.value()) << 31 | u64::from(second.value())));
        }
    }

    fn entry(&self, table: usize) -> Option<&Entry> {
        let bank = &self.tables[table.checked_sub(1)?];
        bank.entries.get(&bank.key)
    }

    fn entry_mut(&mut self, table: usize) -> Option<&mut Entry> {
        let bank = &mut self.tables[table.checked_sub(1)?];
        bank.entries.get_mut(&bank.key)
    }

    fn allocate(&mut self, table: usize, taken: bool) -> bool {
        let bank = &mut self.tables[table - 1];
        bank.entries.entry(bank.key).or_insert(Entry {
            tag: 0,
            counter: weakly(taken),
            is_useful: false,
        });
        true
    }

    fn age(&mut self) {}

    fn follow(&mut self, history: &GlobalHistory) {
        for fold in self.tables.iter_mut().flat_map(|bank| &mut bank.folds) {
            fold.follow(history);
        }
    }

    fn storage_bits(&self) -> Option<u64> {
        None
    }
}
