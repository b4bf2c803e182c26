//! How long recording had been on at any time.

use std::ops::Range;

/// The windows of a trace as one clock, which stands still outside of them.
#[derive(Debug, Default)]
pub(crate) struct RecordedTime {
    /// In order, none touches another.
    windows: Vec<Range<u64>>,
    /// What the clock shows at the beginning of each window.
    before: Vec<u64>,
}

impl RecordedTime {
    /// `windows` are in order, and none touches another. Without any the clock never stands still.
    pub fn new(windows: Vec<Range<u64>>) -> RecordedTime {
        let mut passed = 0;
        let before = windows.iter().map(|window| {
            let before = passed;
            passed += window.end - window.start;
            before
        });
        RecordedTime {
            before: before.collect(),
            windows,
        }
    }

    /// What the clock shows at that time.
    pub fn at(&self, time_ns: u64) -> u64 {
        if self.windows.is_empty() {
            return time_ns;
        }
        let next = self.windows.partition_point(|window| window.start <= time_ns);
        let Some(latest) = next.checked_sub(1) else {
            return 0;
        };
        let window = &self.windows[latest];
        self.before[latest] + time_ns.min(window.end) - window.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_in_windows_only() {
        let recorded = RecordedTime::new(vec![10..20, 30..35]);
        let shown: Vec<u64> = [0, 10, 15, 20, 25, 30, 34, 35, 99]
            .map(|time| recorded.at(time))
            .into();
        assert_eq!(shown, [0, 0, 5, 10, 10, 10, 14, 15, 15]);
    }

    #[test]
    fn without_windows_it_shows_the_time() {
        assert_eq!(RecordedTime::default().at(77), 77);
    }
}
