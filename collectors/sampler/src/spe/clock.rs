//! When operations were sampled.

/// How ticks of the generic timer become nanoseconds: `multiplier` ÷ 2^`shift` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerClock {
    /// Nanoseconds at tick 0 of perf's own clock.
    pub zero_ns: u64,
    pub multiplier: u32,
    pub shift: u16,
}

impl TimerClock {
    /// How long so many ticks take.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.multiplier);
        u64::try_from(product >> self.shift.min(127)).unwrap_or(u64::MAX)
    }

    /// By perf's own clock.
    pub fn time_ns(&self, ticks: u64) -> u64 {
        self.zero_ns.wrapping_add(self.duration_ns(ticks))
    }

    /// Times by another clock of operations whose stretch was handed over at `end_ns` of it, `end_ns` for those that have
    /// no ticks: the last operation is taken to be as late as that.
    pub fn times_before(&self, end_ns: u64, ticks: &[Option<u64>]) -> Vec<u64> {
        let last = ticks.iter().flatten().max().copied().unwrap_or(0);
        let before = |ticks: u64| end_ns.saturating_sub(self.duration_ns(last - ticks));
        ticks.iter().map(|ticks| ticks.map_or(end_ns, before)).collect()
    }
}
