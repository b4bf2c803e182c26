//! How much time may go into windows.

use std::time::Duration;

/// The time for windows: it grows by a share of the time that samples represent.
#[derive(Debug)]
pub struct Budget {
    millionths: u64,
    earned_ns: u64,
    spent_ns: u64,
    /// The recent average cost of one piece of frequent work.
    usual_ns: u64,
}

/// Time that the first windows may take, before any is earned.
const CREDIT_NS: u64 = 2_000_000;
/// Time that frequent work leaves for rare work.
const RESERVE_NS: u64 = 250_000;
/// Unused time is kept only up to this limit: else a long quiet time would end in a burst.
const MOST_KEPT_NS: u64 = 20_000_000;

impl Budget {
    /// A budget of so many millionths of the program's time.
    pub fn new(millionths: u64) -> Self {
        Budget {
            millionths,
            earned_ns: CREDIT_NS,
            spent_ns: 0,
            usual_ns: 0,
        }
    }

    /// The program ran for so long.
    pub fn earn(&mut self, ran_ns: u64) {
        let earned = u128::from(ran_ns) * u128::from(self.millionths) / 1_000_000;
        let kept = self.spent_ns.saturating_add(MOST_KEPT_NS);
        self.earned_ns = self.earned_ns.saturating_add(earned as u64).min(kept);
    }

    pub fn spend(&mut self, time: Duration) {
        self.spent_ns = self.spent_ns.saturating_add(time.as_nanos() as u64);
    }

    /// Whether there is time left. The last window may take more.
    pub fn allows(&self) -> bool {
        self.spent_ns < self.earned_ns
    }

    /// The same for frequent work.
    pub fn spend_usual(&mut self, time: Duration) {
        let most = MOST_KEPT_NS / 2;
        self.usual_ns = self.usual_ns / 8 * 7 + (time.as_nanos() as u64).min(most) / 8;
        self.spend(time);
    }

    /// Whether there is time for frequent work, and for rare work after it.
    pub fn allows_usual(&self) -> bool {
        self.spent_ns.saturating_add(RESERVE_NS + self.usual_ns) < self.earned_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_a_share_of_what_ran() {
        let mut budget = Budget::new(5000);
        budget.spend(Duration::from_nanos(CREDIT_NS));
        assert!(!budget.allows());
        budget.earn(1_000_000_000);
        assert!(budget.allows());
        budget.spend(Duration::from_micros(4999));
        assert!(budget.allows());
        budget.spend(Duration::from_micros(1));
        assert!(!budget.allows());
    }

    #[test]
    fn what_comes_often_leaves_a_rest() {
        let mut budget = Budget::new(0);
        assert!(budget.allows_usual());
        budget.spend(Duration::from_nanos(CREDIT_NS - RESERVE_NS));
        assert!(budget.allows() && !budget.allows_usual());
        let mut budget = Budget::new(0);
        // Each takes a fifth of what there is: after four, the next one and the reserve are more than the rest.
        let each = CREDIT_NS / 5;
        for expected in [true, true, true, true, false] {
            assert_eq!(budget.allows_usual(), expected);
            budget.spend_usual(Duration::from_nanos(each));
        }
    }

    #[test]
    fn unused_time_is_not_kept_for_ever() {
        let mut budget = Budget::new(1_000_000);
        budget.earn(u64::MAX);
        budget.spend(Duration::from_nanos(MOST_KEPT_NS));
        assert!(!budget.allows());
    }
}
