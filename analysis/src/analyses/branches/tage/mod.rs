//! TAGE: tables of counters with tags, chosen by ever longer histories.

mod banks;
mod config;
mod finite;
mod unlimited;

pub use banks::{Banks, Entry};
pub(super) use config::geometric_series;
pub use config::{TageConfig, TaggedTable};
pub use finite::FiniteBanks;
pub use unlimited::UnlimitedBanks;

use super::bimodal::Bimodal;
use super::counter::{confidence, step};
use super::history::{history_bits, GlobalHistory};
use super::predictor::Predictor;
use crate::model::chance::Chance;
use crate::model::control_flow::BranchEvent;

/// Bits of the counter that says whether new entries are worse than what they replace.
const CHOOSER_BITS: u32 = 4;
/// Useful entries age when this many more allocations have failed than succeeded.
const MOST_FAILURES: i32 = 1023;
/// A misprediction allocates in at most this many tables.
const MOST_ALLOCATED: usize = 2;

/// TAGE (Seznec and Michaud, *A case for (partially) tagged geometric history length branch predictors*, JILP 8, 2006).
/// The entry with a matching tag in the table of the longest history predicts. If there is none, a bimodal table
/// predicts.
///
/// Allocation in two tables, ageing by failed allocations and the weak entry that gives way to the alternative one are
/// those of Seznec, *TAGE-SC-L branch predictors again* (CBP-5, 2016). Differences: Each history has a table of its
/// own, where Seznec's share banks, half of which are associative. Useful entries have one bit, which is cleared when
/// they age.
#[derive(Debug, Clone)]
pub struct Tage<B> {
    name: String,
    base: Bimodal,
    banks: B,
    history: GlobalHistory,
    prefer_alternative: i8,
    failures: i32,
    chance: Chance,
    found: Found,
}

/// What a look-up found.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    address: u64,
    /// Table of the longest history that matches, counted from 1; 0: none, the base predicts.
    longest: usize,
    longest_predicts: bool,
    longest_is_weak: bool,
    /// Table of the next shorter history that matches, as in `longest`.
    alternative: usize,
    alternative_predicts: bool,
    prediction: bool,
    sureness: Sureness,
}

/// How sure TAGE is of a prediction, by the predicting counter (Seznec, *Storage free confidence estimation for the
/// TAGE branch predictor*, HPCA 2011).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    #[default]
    Weak,
    Medium,
    Saturated,
}

impl Tage<FiniteBanks> {
    pub fn new(config: &TageConfig) -> Self {
        Tage::with_banks("TAGE".to_owned(), config, FiniteBanks::new(config))
    }
}

impl Default for Tage<FiniteBanks> {
    /// 57 KiB: the tagged part of the predictor of 64 KiB.
    fn default() -> Self {
        Tage::new(&TageConfig::default())
    }
}

impl Tage<UnlimitedBanks> {
    /// Makes a predictor with the same histories, but an entry for everything that ever happens. No size does better.
    /// Nothing is forgotten.
    pub fn unlimited(config: &TageConfig) -> Self {
        Tage::with_banks("TAGE unlimited".to_owned(), config, UnlimitedBanks::new(config))
    }
}

impl<B: Banks> Tage<B> {
    fn with_banks(name: String, config: &TageConfig, banks: B) -> Self {
        Tage {
            name,
            base: Bimodal::new(config.base_log2_entries),
            banks,
            history: GlobalHistory::new(config.longest_history()),
            prefer_alternative: 0,
            failures: 0,
            chance: Chance::new(),
            found: Found::default(),
        }
    }

    /// Looks an address up, for what follows.
    pub(super) fn look_up(&mut self, address: u64) {
        self.banks.look_up(address);
        let mut matches = (1..=self.banks.count())
            .rev()
            .filter(|&table| self.banks.entry(table).is_some());
        let longest = matches.next().unwrap_or(0);
        let alternative = matches.next().unwrap_or(0);
        let counter = self.counter(longest, address);
        let longest_is_weak = longest > 0 && confidence(counter) == 0;
        let takes_alternative = longest_is_weak && self.prefer_alternative >= 0;
        let alternative_predicts = self.counter(alternative, address) >= 0;
        self.found = Found {
            address,
            longest,
            longest_predicts: counter >= 0,
            longest_is_weak,
            alternative,
            alternative_predicts,
            prediction: if takes_alternative {
                alternative_predicts
            } else {
                counter >= 0
            },
            sureness: sureness(longest, counter),
        };
    }

    fn counter(&self, table: usize, address: u64) -> i8 {
        match self.banks.entry(table) {
            Some(entry) => entry.counter,
            None => self.base.counter(address),
        }
    }

    pub(super) fn prediction(&self) -> bool {
        self.found.prediction
    }

    pub(super) fn sureness(&self) -> Sureness {
        self.found.sureness
    }

    /// The bits of history after the longest match; 0: the base predicts.
    pub(super) fn provider_history(&self) -> usize {
        self.banks.history_length(self.found.longest)
    }

    /// Whether an outcome calls for an entry of a longer history.
    pub(super) fn wants_entries(&self, taken: bool) -> bool {
        let young_one_is_right = self.found.longest_is_weak && self.found.longest_predicts == taken;
        self.found.prediction != taken && !young_one_is_right
    }

    /// Learns the outcome of the conditional branch that was looked up, but allocates nothing.
    pub(super) fn train(&mut self, taken: bool) {
        let found = self.found;
        if found.longest == 0 {
            self.train_base(taken);
            return;
        }
        if found.longest_is_weak {
            self.train_alternative(taken);
        }
        let differ = found.longest_predicts != found.alternative_predicts;
        let bits = self.banks.counter_bits();
        if let Some(entry) = self.banks.entry_mut(found.longest) {
            step(&mut entry.counter, taken, bits);
            if differ && found.longest_predicts == taken {
                entry.is_useful = true;
            } else if confidence(entry.counter) == 0 && found.longest_predicts != taken {
                entry.is_useful = false;
            }
        }
    }

    /// Learns an outcome in the base only.
    pub(super) fn train_base(&mut self, taken: bool) {
        self.base.learn(self.found.address, taken);
    }

    /// Trains the choice between a young entry and the alternative. While the young entry is wrong, the alternative
    /// also learns.
    fn train_alternative(&mut self, taken: bool) {
        let found = self.found;
        if found.longest_predicts != found.alternative_predicts {
            step(
                &mut self.prefer_alternative,
                found.alternative_predicts == taken,
                CHOOSER_BITS,
            );
        }
        if found.longest_predicts == taken {
            return;
        }
        let bits = self.banks.counter_bits();
        match self.banks.entry_mut(found.alternative) {
            Some(entry) => step(&mut entry.counter, taken, bits),
            None => self.base.learn(found.address, taken),
        }
    }

    /// Allocates entries of histories longer than `bits`. Returns whether there was room for one.
    pub(super) fn allocate(&mut self, taken: bool, bits: usize) -> bool {
        let first = (1..=self.banks.count())
            .find(|&table| self.banks.history_length(table) > bits)
            .unwrap_or(self.banks.count() + 1);
        // Sometimes this skips a table, lest branches of one history fight for the same entries.
        let mut table = first + usize::from(self.banks.is_limited() && self.chance.next() & 3 == 0);
        let mut made = 0;
        while table <= self.banks.count() && made < self.most_allocated() {
            if self.banks.allocate(table, taken) {
                made += 1;
                self.failures -= 1;
                table += 1;
            } else {
                self.failures += 1;
            }
            table += 1;
        }
        self.failures = self.failures.max(0);
        if self.failures > MOST_FAILURES {
            self.banks.age();
            self.failures = 0;
        }
        made > 0
    }

    fn most_allocated(&self) -> usize {
        if self.banks.is_limited() {
            MOST_ALLOCATED
        } else {
            1
        }
    }

    /// Adds a branch of any kind to the history, and calls `tell` after each added bit.
    pub(super) fn remember(&mut self, event: &BranchEvent, mut tell: impl FnMut(&GlobalHistory)) {
        for bit in history_bits(event) {
            self.history.push(bit);
            self.banks.follow(&self.history);
            tell(&self.history);
        }
    }
}

fn sureness(table: usize, counter: i8) -> Sureness {
    let most = if table == 0 { 1 } else { 3 };
    match confidence(counter) {
        0 => Sureness::Weak,
        some if some >= most => Sureness::Saturated,
        _ => Sureness::Medium,
    }
}

impl<B: Banks> Predictor for Tage<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn storage_bits(&self) -> Option<u64> {
        let own = u64::from(CHOOSER_BITS) + 10;
        Some(self.banks.storage_bits()? + self.base.storage_bits()? + self.history.storage_bits() + own)
    }

    fn predict(&mut self, address: u64) -> bool {
        self.look_up(address);
        self.prediction()
    }

    fn update(&mut self, event: &BranchEvent) {
        if event.kind.is_conditional() {
            if self.wants_entries(event.taken) {
                self.allocate(event.taken, self.provider_history());
            }
            self.train(event.taken);
        }
        self.remember(event, |_| ());
    }
}

#[cfg(test)]
mod tests;
