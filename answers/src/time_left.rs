//! How long a work will go on.

use std::time::{Duration, Instant};

/// What comes first may be unlike the rest: less than this says nothing of it.
const LEAST_TIME: Duration = Duration::from_secs(2);
/// One in so many parts of the work must be done.
const LEAST_PART: u64 = 32;

/// Judges by what was done since the first part was done, since what comes before that is done once.
#[derive(Debug)]
pub(crate) struct TimeLeft {
    total: u64,
    done: u64,
    /// When the first part was done, and how much it was.
    begun: Option<(Instant, u64)>,
    /// Before so much is done, it isn't known what else there will be to do.
    settled: u64,
}

impl TimeLeft {
    pub fn new(total: u64) -> TimeLeft {
        TimeLeft {
            total,
            done: 0,
            begun: None,
            settled: 0,
        }
    }

    /// The same without a judgement before so much is done: what is found there decides how much is left.
    pub fn after(self, settled: u64) -> TimeLeft {
        TimeLeft { settled, ..self }
    }

    /// Notes that there is so much less to do.
    pub fn skip(&mut self, less: u64) {
        self.total = self.total.saturating_sub(less);
    }

    /// Notes that so much more is done. Returns the time for the rest, once there is evidence.
    pub fn advance(&mut self, done: u64, now: Instant) -> Option<Duration> {
        self.done = self.done.saturating_add(done);
        let (since, first) = *self.begun.get_or_insert((now, self.done));
        let (passed, counted) = (now.duration_since(since), self.done - first);
        let is_evidence = passed >= LEAST_TIME && counted >= self.total / LEAST_PART && counted > 0;
        if !is_evidence || self.done < self.settled {
            return None;
        }
        let rest = self.total.saturating_sub(self.done);
        Some(passed.mul_f64(rest as f64 / counted as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimates after each of a hundred parts that take a quarter of a second, after so many seconds of preparation.
    fn estimates(preparation: u64) -> Vec<Option<Duration>> {
        let begin = Instant::now() + Duration::from_secs(preparation);
        let mut left = TimeLeft::new(100);
        let parts = 1..=100;
        parts
            .map(|part| left.advance(1, begin + part * Duration::from_millis(250)))
            .collect()
    }

    #[test]
    fn estimates_are_right_from_the_first_one_on() {
        for preparation in [0, 20] {
            let estimates = estimates(preparation);
            let first = estimates.iter().position(Option::is_some).unwrap();
            assert_eq!(first, 8, "two seconds after the first part");
            for (part, estimate) in estimates.into_iter().enumerate().skip(first) {
                let truth = (99 - part) as f64 * 0.25;
                let estimate = estimate.unwrap().as_secs_f64();
                assert!((estimate - truth).abs() < 0.01, "{part}: {estimate}, {truth}");
            }
        }
    }

    #[test]
    fn what_is_skipped_takes_no_time() {
        let begin = Instant::now();
        let mut left = TimeLeft::new(100);
        left.advance(10, begin);
        left.skip(60);
        let estimate = left.advance(10, begin + Duration::from_secs(5));
        assert_eq!(
            estimate,
            Some(Duration::from_secs(10)),
            "20 of 40 are done, the last 10 in 5 s"
        );
    }

    #[test]
    fn nothing_is_said_before_it_is_known_what_there_is_to_do() {
        let begin = Instant::now();
        let mut left = TimeLeft::new(100).after(40);
        for second in 0..3 {
            assert_eq!(left.advance(10, begin + Duration::from_secs(second * 5)), None);
        }
        // It turns out that half of the rest needn't be done.
        left.skip(30);
        let estimate = left.advance(10, begin + Duration::from_secs(15));
        assert_eq!(estimate, Some(Duration::from_secs(15)));
    }

    #[test]
    fn a_small_part_is_no_evidence() {
        let begin = Instant::now();
        let mut left = TimeLeft::new(1000);
        for second in 0..31 {
            assert_eq!(left.advance(1, begin + Duration::from_secs(second)), None);
        }
        assert!(left.advance(1, begin + Duration::from_secs(31)).is_some());
    }

    #[test]
    fn more_than_was_expected_leaves_nothing() {
        let begin = Instant::now();
        let mut left = TimeLeft::new(10);
        left.advance(1, begin);
        assert_eq!(
            left.advance(50, begin + Duration::from_secs(9)),
            Some(Duration::ZERO)
        );
    }
}
