//! Tables as hardware has them.

use super::banks::{weakly, Banks, Entry};
use super::config::{TageConfig, TaggedTable};
use crate::analyses::branches::counter::spread;
use crate::analyses::branches::history::{Fold, GlobalHistory};

/// Tables of fixed sizes, where what has the same index takes each other's place.
#[derive(Debug, Clone)]
pub struct FiniteBanks {
    tables: Vec<Bank>,
    counter_bits: u32,
}

#[derive(Debug, Clone)]
struct Bank {
    shape: TaggedTable,
    entries: Vec<Entry>,
    index_fold: Fold,
    /// Two folds of different widths, so that what one cancels out the other doesn't.
    tag_folds: [Fold; 2],
    index: usize,
    tag: u16,
}

impl Bank {
    fn new(shape: TaggedTable) -> Self {
        let weak = Entry {
            counter: -1,
            ..Entry::default()
        };
        Bank {
            shape,
            entries: vec![weak; 1 << shape.log2_entries],
            index_fold: Fold::new(shape.history, shape.log2_entries.max(1)),
            tag_folds: [shape.tag_bits, shape.tag_bits.saturating_sub(1).max(1)]
                .map(|width| Fold::new(shape.history, width)),
            index: 0,
            tag: 0,
        }
    }

    fn look_up(&mut self, address: u64) {
        let code = spread(address);
        let index = code ^ code >> self.shape.log2_entries ^ u64::from(self.index_fold.value());
        self.index = index as usize & (self.entries.len() - 1);
        let [first, second] = &self.tag_folds;
        let tag = address ^ address >> 7 ^ u64::from(first.value()) ^ u64::from(second.value()) << 1;
        self.tag = (tag & ((1 << self.shape.tag_bits) - 1)) as u16;
    }

    fn follow(&mut self, history: &GlobalHistory) {
        self.index_fold.follow(history);
        self.tag_folds.iter_mut().for_each(|fold| fold.follow(history));
    }
}

impl FiniteBanks {
    pub fn new(config: &TageConfig) -> Self {
        FiniteBanks {
            tables: config.tables.iter().map(|&shape| Bank::new(shape)).collect(),
            counter_bits: config.counter_bits,
        }
    }
}

impl Banks for FiniteBanks {
    fn count(&self) -> usize {
        self.tables.len()
    }

    fn history_length(&self, table: usize) -> usize {
        table
            .checked_sub(1)
            .map_or(0, |place| self.tables[place].shape.history)
    }

    fn counter_bits(&self) -> u32 {
        self.counter_bits
    }

    fn is_limited(&self) -> bool {
        true
    }

    fn look_up(&mut self, address: u64) {
        self.tables.iter_mut().for_each(|bank| bank.look_up(address));
    }

    fn entry(&self, table: usize) -> Option<&Entry> {
        let bank = &self.tables[table.checked_sub(1)?];
        let entry = &bank.entries[bank.index];
        (entry.tag == bank.tag).then_some(entry)
    }

    fn entry_mut(&mut self, table: usize) -> Option<&mut Entry> {
        let bank = &mut self.tables[table.checked_sub(1)?];
        let entry = &mut bank.entries[bank.index];
        (entry.tag == bank.tag).then_some(entry)
    }

    fn allocate(&mut self, table: usize, taken: bool) -> bool {
        let bank = &mut self.tables[table - 1];
        let entry = &mut bank.entries[bank.index];
        if entry.is_useful {
            return false;
        }
        *entry = Entry {
            tag: bank.tag,
            counter: weakly(taken),
            is_useful: false,
        };
        true
    }

    fn age(&mut self) {
        let entries = self.tables.iter_mut().flat_map(|bank| &mut bank.entries);
        entries.for_each(|entry| entry.is_useful = false);
    }

    fn follow(&mut self, history: &GlobalHistory) {
        self.tables.iter_mut().for_each(|bank| bank.follow(history));
    }

    fn storage_bits(&self) -> Option<u64> {
        let bits =
            |bank: &Bank| bank.entries.len() as u64 * u64::from(bank.shape.tag_bits + self.counter_bits + 1);
        Some(self.tables.iter().map(bits).sum())
    }
}
