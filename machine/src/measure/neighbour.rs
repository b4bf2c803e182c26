//! What a load of a line near a miss costs, if it follows the miss each time.

use super::chase::Chase;
use super::rounds::Rounds;

/// Three lines. Some processors fetch pairs of lines whatever was loaded.
pub const BYTES_ON: usize = 192;

const ROUNDS: usize = 60;
const STEPS: usize = 1_000;

/// Times per step of a chase through memory that also loads a line near each miss.
#[derive(Debug, Default)]
pub struct Neighbour(Rounds);

impl Neighbour {
    pub fn pass(&mut self, memory: &mut Chase) {
        let round = |_| memory.ns_per_step_with_neighbour(BYTES_ON, STEPS);
        self.0.add((0..ROUNDS).map(round).collect());
    }

    /// What the second load adds to the latency of memory.
    pub fn ns(&self, latency_ns: f64) -> Option<f64> {
        Some((self.0.value()? - latency_ns).max(0.0))
    }
}
