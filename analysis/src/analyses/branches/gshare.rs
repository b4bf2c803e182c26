//! A counter for each address and recent history.

use super::counter::step;
use super::predictor::Predictor;
use crate::model::control_flow::BranchEvent;

/// A table of two-bit counters, chosen by the exclusive or of the address and the directions of the last conditional
/// branches (McFarling, *Combining branch predictors*, DEC WRL TN-36, 1993).
#[derive(Debug, Clone)]
pub struct Gshare {
    counters: Vec<i8>,
    /// The newest direction is the lowest bit.
    history: u64,
    history_bits: u32,
}

impl Gshare {
    /// Makes 2^`log2_entries` counters that use the last `history_bits` (up to 63) directions. Counters are weakly not
    /// taken at first.
    pub fn new(log2_entries: u32, history_bits: u32) -> Self {
        Gshare {
            counters: vec![-1; 1 << log2_entries],
            history: 0,
            history_bits: history_bits.min(63),
        }
    }

    fn place(&self, address: u64) -> usize {
        (address ^ self.history) as usize & (self.counters.len() - 1)
    }
}

impl Default for Gshare {
    /// 2^17 counters, 17 directions: 32 KiB.
    fn default() -> Self {
        Gshare::new(17, 17)
    }
}

impl Predictor for Gshare {
    fn name(&self) -> &str {
        "gshare"
    }

    fn storage_bits(&self) -> Option<u64> {
        Some(2 * self.counters.len() as u64 + u64::from(self.history_bits))
    }

    fn predict(&mut self, address: u64) -> bool {
        self.counters[self.place(address)] >= 0
    }

    fn update(&mut self, event: &BranchEvent) {
        if event.kind.is_conditional() {
            let place = self.place(event.address);
            step(&mut self.counters[place], event.taken, 2);
            self.history = (self.history << 1 | u64::from(event.taken)) & ((1 << self.history_bits) - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::analyses::branches::made_up::{mispredictions, random_branches, xor_of_two, Stream};

    #[test]
    fn alternating_branch_is_learned() {
        let stream = Stream::repeated(0x400, &[true, false], 500);
        assert!(mispredictions(&mut Gshare::default(), &stream) <= 20);
    }

    #[test]
    fn branches_that_share_a_counter_spoil_it() {
        // Without history, the lower four bits of the address choose: 0x10 and 0x20 share a counter, and disagree. Each
        // step takes the counter across its middle.
        let apart = Stream::interleaved(&[(0x10, true), (0x21, false)], 500);
        assert_eq!(mispredictions(&mut Gshare::new(4, 0), &apart), 1);
        let shared = Stream::interleaved(&[(0x10, true), (0x20, false)], 500);
        assert_eq!(mispredictions(&mut Gshare::new(4, 0), &shared), 1000);
    }

    #[test]
    fn exclusive_or_of_two_outcomes_is_learned() {
        let stream = xor_of_two(20_000);
        // Four outcomes, and addresses that these don't touch: each of 16 counters must be taught once.
        let missed = stream.missed_at(&mut Gshare::new(12, 4), 0x300);
        assert!(missed <= 16, "{missed}");
    }

    #[test]
    fn agrees_with_counters_in_a_map() {
        let stream = random_branches(20_000, 50, 0x18);
        let mut counters: HashMap<u64, i32> = HashMap::new();
        let mut outcomes: Vec<bool> = vec![false; 5];
        let mut missed = 0;
        for event in stream.events() {
            let last = outcomes.iter().rev().take(5).enumerate();
            let history: u64 = last.map(|(distance, &taken)| u64::from(taken) << distance).sum();
            let counter = counters.entry((event.address ^ history) % 256).or_insert(1);
            missed += u64::from((*counter >= 2) != event.taken);
            *counter = if event.taken {
                (*counter + 1).min(3)
            } else {
                (*counter - 1).max(0)
            };
            outcomes.push(event.taken);
        }
        assert_eq!(mispredictions(&mut Gshare::new(8, 5), &stream), missed);
    }

    #[test]
    fn storage() {
        assert_eq!(Gshare::default().storage_bits(), Some(32 * 1024 * 8 + 17));
    }
}
