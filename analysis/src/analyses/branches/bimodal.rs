//! A counter for each address.

use super::counter::step;
use super::predictor::Predictor;
use crate::model::control_flow::BranchEvent;

/// A table of two-bit counters, chosen by address (Smith, *A study of branch prediction strategies*, ISCA 1981).
#[derive(Debug, Clone)]
pub struct Bimodal {
    counters: Vec<i8>,
}

impl Bimodal {
    /// Makes 2^`log2_entries` counters; 14 are 4 KiB. At first all are weakly not taken.
    pub fn new(log2_entries: u32) -> Self {
        Bimodal {
            counters: vec![-1; 1 << log2_entries],
        }
    }

    fn place(&self, address: u64) -> usize {
        address as usize & (self.counters.len() - 1)
    }

    pub(super) fn counter(&self, address: u64) -> i8 {
        self.counters[self.place(address)]
    }

    pub(super) fn learn(&mut self, address: u64, taken: bool) {
        let place = self.place(address);
        step(&mut self.counters[place], taken, 2);
    }
}

impl Default for Bimodal {
    /// 4 KiB.
    fn default() -> Self {
        Bimodal::new(14)
    }
}

impl Predictor for Bimodal {
    fn name(&self) -> &str {
        "bimodal"
    }

    fn storage_bits(&self) -> Option<u64> {
        Some(2 * self.counters.len() as u64)
    }

    fn predict(&mut self, address: u64) -> bool {
        self.counter(address) >= 0
    }

    fn update(&mut self, event: &BranchEvent) {
        if event.kind.is_conditional() {
            self.learn(event.address, event.taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::analyses::branches::made_up::{mispredictions, random_branches, Stream};

    #[test]
    fn loop_misses_its_exit_only() {
        // The first two rounds teach; each exit is missed, and leaves the counter on the side of taken.
        let stream = Stream::repeated(0x400, &[true, true, true, true, true, false], 100);
        assert_eq!(mispredictions(&mut Bimodal::default(), &stream), 100 + 1);
    }

    #[test]
    fn alternating_branch_is_missed_always() {
        // The counter starts as weakly not taken. It misses taken, and then not taken.
        let stream = Stream::repeated(0x400, &[true, false], 50);
        assert_eq!(mispredictions(&mut Bimodal::default(), &stream), 100);
    }

    #[test]
    fn agrees_with_counters_in_a_map() {
        let stream = random_branches(20_000, 200, 0x30);
        let mut counters: HashMap<u64, i32> = HashMap::new();
        let mut missed = 0;
        for event in stream.events() {
            let counter = counters.entry(event.address % 64).or_insert(1);
            missed += u64::from((*counter >= 2) != event.taken);
            *counter = if event.taken {
                (*counter + 1).min(3)
            } else {
                (*counter - 1).max(0)
            };
        }
        assert_eq!(mispredictions(&mut Bimodal::new(6), &stream), missed);
    }

    #[test]
    fn storage() {
        assert_eq!(Bimodal::default().storage_bits(), Some(4 * 1024 * 8));
    }
}
