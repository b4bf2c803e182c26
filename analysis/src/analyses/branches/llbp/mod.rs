//! LLBP: the last-level branch predictor.

mod buffer;
mod context;
mod store;

use buffer::PatternBuffer;
use context::RollingContext;
use store::{ContextPlace, PatternStore, COUNTER_BITS, PATTERNS, PATTERN_SET_BITS, TAG_BITS};

use super::counter::{confidence, spread, step};
use super::history::{Fold, GlobalHistory};
use super::predictor::Predictor;
use super::tage::{geometric_series, FiniteBanks, Sureness, TageConfig};
use super::tage_sc_l::TageScL;
use crate::model::control_flow::BranchEvent;

const TRUST_BITS: u32 = 4;
/// Bits of an entry of the pattern buffer beside its patterns: the rest of the context's number and the order of use.
const BUFFER_TAG_BITS: u64 = 10 + 2;
/// Instructions that are fetched in a cycle, unless a taken branch ends it.
const FETCH_WIDTH: u64 = 8;

/// Sizes of LLBP, beside the TAGE-SC-L before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlbpConfig {
    /// Sizes of the predictor before it.
    pub tage: TageConfig,
    /// Unconditional branches that make a context, at least 1.
    pub window: usize,
    /// Number of newest branches that are left out. While they are executed, the context's patterns are fetched.
    pub distance: usize,
    pub context_bits: u32,
    pub log2_sets: u32,
    pub ways: usize,
    /// Binary logarithm of the sets of the pattern buffer, of 4 entries each.
    pub buffer_log2_sets: u32,
    /// Time from a prefetch to its arrival.
    pub latency_cycles: u64,
    /// Bits of the shortest and the longest of the 16 histories, a geometric series.
    pub histories: (usize, usize),
}

impl Default for LlbpConfig {
    /// The configuration of the paper: 14,336 contexts of 16 patterns, 504 KiB; their directory, 8.75 KiB; a pattern
    /// buffer of 64 sets. 8 branches make a context, 4 newer ones are left out, and a prefetch takes 6 cycles.
    fn default() -> Self {
        LlbpConfig {
            tage: TageConfig::default(),
            window: 8,
            distance: 4,
            context_bits: 14,
            log2_sets: 11,
            ways: 7,
            buffer_log2_sets: 4,
            latency_cycles: 6,
            histories: (12, 3000),
        }
    }
}

/// The last-level branch predictor (Schall, Sandberg and Grot, *The Last-Level Branch Predictor*, MICRO 2024) on top of
/// TAGE-SC-L. A large structure keeps patterns of longer histories by context, which is a chain of unconditional
/// branches. The few patterns of an upcoming context are prefetched from it. A pattern with at least TAGE's history
/// predicts in its place.
///
/// Differences: The 16 histories are a series of their own. A weak pattern gives way to TAGE's prediction where that
/// has been right more often, as a weak entry does within TAGE. Loop predictor and corrector may overrule a pattern, so
/// fewer branches are missed than if patterns had the last word. Cycles are counted as taken branches and fetches of 8
/// instructions. Prefetches of wrong paths are unknown, as a trace has none.
#[derive(Debug, Clone)]
pub struct Llbp {
    before: TageScL<FiniteBanks>,
    context: RollingContext,
    store: PatternStore,
    buffer: PatternBuffer,
    histories: Vec<PatternHistory>,
    latency_cycles: u64,
    cycles: u64,
    /// Weak patterns are followed if this is at least 0.
    weak_trust: i8,
    found: Option<Found>,
    /// What was predicted before loop predictor and corrector.
    main: bool,
}

/// Folds of a history for the tags of its patterns.
#[derive(Debug, Clone)]
struct PatternHistory {
    length: usize,
    folds: [Fold; 2],
    tag: u16,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    context: ContextPlace,
    pattern: usize,
    /// Its place among the histories.
    history: usize,
    predicts: bool,
    is_weak: bool,
    /// Whether its history is no shorter than TAGE's.
    provides: bool,
}

impl Default for Llbp {
    /// 515 KiB, with the TAGE-SC-L before it 578.
    fn default() -> Self {
        Llbp::new(&LlbpConfig::default())
    }
}

impl Llbp {
    pub fn new(config: &LlbpConfig) -> Self {
        let (shortest, longest) = config.histories;
        // The history is TAGE's: none can reach farther.
        let longest = longest.min(config.tage.longest_history());
        let history = |length| PatternHistory {
            length,
            folds: [TAG_BITS, TAG_BITS - 1].map(|width| Fold::new(length, width)),
            tag: 0,
        };
        Llbp {
            before: TageScL::new(&config.tage),
            context: RollingContext::new(config.window, config.distance, config.context_bits),
            store: PatternStore::new(config.log2_sets, config.ways, config.context_bits),
            buffer: PatternBuffer::new(config.buffer_log2_sets),
            histories: geometric_series(PATTERNS, shortest.min(longest), longest)
                .map(history)
                .collect(),
            latency_cycles: config.latency_cycles,
            cycles: 0,
            weak_trust: 0,
            found: None,
            main: false,
        }
    }

    fn look_up(&mut self, address: u64) {
        let code = spread(address) ^ address >> TAG_BITS;
        for history in &mut self.histories {
            let [first, second] = &history.folds;
            let tag = code ^ u64::from(first.value()) ^ u64::from(second.value()) << 1;
            history.tag = (tag & ((1 << TAG_BITS) - 1)) as u16;
        }
        self.found = self.longest_match();
    }

    fn longest_match(&mut self) -> Option<Found> {
        let context = self.store.find(self.context.present)?;
        if !self.buffer.is_ready(self.context.present, self.cycles) {
            return None;
        }
        let (history, pattern) = (0..self.histories.len()).rev().find_map(|history| {
            let pattern = self
                .store
                .match_pattern(context, history, self.histories[history].tag)?;
            Some((history, pattern))
        })?;
        let counter = self.store.pattern(context, pattern).counter;
        Some(Found {
            context,
            pattern,
            history,
            predicts: counter >= 0,
            is_weak: confidence(counter) == 0,
            provides: self.histories[history].length >= self.before.tage.provider_history(),
        })
    }

    fn provider(&self) -> Option<Found> {
        self.found.filter(|found| found.provides)
    }

    fn train(&mut self, taken: bool) {
        let Some(found) = self.provider() else {
            if self.before.tage.wants_entries(taken) && self.found.is_none_or(|found| found.predicts != taken)
            {
                self.allocate(taken, self.before.tage.provider_history());
            }
            self.before.tage.train(taken);
            return;
        };
        let is_right = found.predicts == taken;
        if self.main != taken && !(found.is_weak && is_right) {
            self.allocate(taken, self.histories[found.history].length);
        }
        if found.is_weak {
            if found.predicts != self.before.tage.prediction() {
                step(&mut self.weak_trust, is_right, TRUST_BITS);
            }
            if !is_right {
                self.before.tage.train(taken);
            }
        }
        self.store.train(found.context, found.pattern, taken);
    }

    /// Allocates in TAGE and in LLBP, for histories longer than `bits`.
    fn allocate(&mut self, taken: bool, bits: usize) {
        self.before.tage.allocate(taken, bits);
        let Some(history) = self.histories.iter().position(|history| history.length > bits) else {
            return;
        };
        let number = self.context.present;
        let context = self.store.find(number).unwrap_or_else(|| {
            let (context, gone) = self.store.replace(number);
            self.buffer.forget(gone);
            self.buffer.fetch(number, self.cycles, self.cycles);
            context
        });
        let tag = self.histories[history].tag;
        if self.store.match_pattern(context, history, tag).is_none() {
            self.store.allocate(context, history, tag, taken);
        }
    }

    fn remember(&mut self, event: &BranchEvent) {
        let histories = &mut self.histories;
        let follow = |history: &GlobalHistory| {
            for fold in histories.iter_mut().flat_map(|own| &mut own.folds) {
                fold.follow(history);
            }
        };
        self.before.remember(event, follow);
        self.cycles += u64::from(event.taken) + u64::from(event.instructions) / FETCH_WIDTH;
        if !event.kind.is_conditional() {
            self.context.push(event.address);
            let upcoming = self.context.upcoming;
            if self.store.find(upcoming).is_some() {
                self.buffer
                    .fetch(upcoming, self.cycles, self.cycles + self.latency_cycles);
            }
        }
    }
}

impl Predictor for Llbp {
    fn name(&self) -> &str {
        "LLBP"
    }

    fn storage_bits(&self) -> Option<u64> {
        let buffer = self.buffer.count() * (PATTERN_SET_BITS + BUFFER_TAG_BITS);
        let store = self.store.storage_bits() + self.store.directory_bits();
        let own = buffer + store + self.context.storage_bits() + u64::from(TRUST_BITS);
        Some(self.before.storage_bits()? + own)
    }

    fn predict(&mut self, address: u64) -> bool {
        self.before.tage.look_up(address);
        self.look_up(address);
        let (main, sureness) = match self.provider() {
            Some(found) if !found.is_weak || self.weak_trust >= 0 => (
                found.predicts,
                sureness(self.store.pattern(found.context, found.pattern).counter),
            ),
            _ => (self.before.tage.prediction(), self.before.tage.sureness()),
        };
        self.main = main;
        self.before.decide(address, main, sureness)
    }

    fn update(&mut self, event: &BranchEvent) {
        if event.kind.is_conditional() {
            self.train(event.taken);
            self.before.train_others(event.taken);
        }
        self.remember(event);
    }
}

fn sureness(counter: i8) -> Sureness {
    match confidence(counter) {
        0 => Sureness::Weak,
        some if some == (1 << (COUNTER_BITS - 1)) - 1 => Sureness::Saturated,
        _ => Sureness::Medium,
    }
}

#[cfg(test)]
mod tests;
