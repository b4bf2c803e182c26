//! How long lines stay in a last level that others use, too: other virtual machines, or other programs. They replace lines by
//! chance, so that what remains of those that aren't used declines exponentially.

use std::collections::HashMap;

use super::line_hash::LineHash;
use crate::model::chance::Chance;

/// State of the generator at the beginning.
const SEED: u64 = 88_172_645_463_325_252;

/// When the lines of a level were used last.
#[derive(Debug, Clone)]
pub(super) struct Stays {
    /// The mean time until others replace a line.
    mean_ns: f64,
    now_ns: f64,
    used: HashMap<u64, f64, LineHash>,
    chance: Chance,
}

impl Stays {
    pub fn new(mean_ns: u64) -> Stays {
        Stays {
            mean_ns: mean_ns as f64,
            now_ns: 0.0,
            used: HashMap::default(),
            chance: Chance::with_seed(SEED),
        }
    }

    pub fn set_time(&mut self, now_ns: f64) {
        self.now_ns = now_ns;
    }

    /// Notes that a line is used, and says whether others have replaced it since its last use.
    pub fn use_line(&mut self, line: u64) -> bool {
        let used = self.used.insert(line, self.now_ns);
        used.is_some_and(|used| self.chance.part() > (-(self.now_ns - used) / self.mean_ns).exp())
    }

    pub fn forget(&mut self, line: u64) {
        self.used.remove(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_lines_remain_as_an_exponential_decline_leaves() {
        let mut stays = Stays::new(1000);
        (0..10_000).for_each(|line| assert!(!stays.use_line(line)));
        stays.set_time(500.0);
        // 1 - exp(-1/2) is 39 %.
        let lost = (0..10_000).filter(|&line| stays.use_line(line)).count();
        assert!((3800..4100).contains(&lost), "{lost}");
        assert!((0..10_000).all(|line| !stays.use_line(line)));
    }

    #[test]
    fn what_left_is_forgotten() {
        let mut stays = Stays::new(1);
        stays.use_line(7);
        stays.forget(7);
        stays.set_time(1e9);
        assert!(!stays.use_line(7));
    }
}
