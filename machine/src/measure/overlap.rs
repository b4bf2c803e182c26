//! How many independent misses overlap.

use super::chase::{Chase, MOST_CHAINS};
use super::rounds::Rounds;

const ROUNDS: usize = 10;
const LOADS: usize = 1_000;

/// Times per load by the number of chases that run at once.
#[derive(Debug)]
pub struct Overlap {
    by_chains: Vec<Rounds>,
}

impl Overlap {
    pub fn new() -> Overlap {
        Overlap {
            by_chains: vec![Rounds::default(); MOST_CHAINS],
        }
    }

    pub fn pass(&mut self, chase: &mut Chase) {
        let mut pass = vec![Vec::new(); MOST_CHAINS];
        // All numbers in each turn, so that a disturbance spoils a round of many and not many rounds of one.
        for _ in 0..ROUNDS {
            for (chains, rounds) in pass.iter_mut().enumerate() {
                rounds.push(chase.ns_per_load_at_once(chains + 1, LOADS));
            }
        }
        self.by_chains
            .iter_mut()
            .zip(pass)
            .for_each(|(all, pass)| all.add(pass));
    }

    /// The latency over the time per load, where more chases no longer help.
    pub fn most_misses(&self, latency_ns: f64) -> Option<u32> {
        let least = self
            .by_chains
            .iter()
            .filter_map(Rounds::value)
            .min_by(f64::total_cmp)?;
        Some((latency_ns / least).round().clamp(1.0, MOST_CHAINS as f64) as u32)
    }
}
