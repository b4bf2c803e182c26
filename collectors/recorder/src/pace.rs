//! Whether the recorder keeps pace with the program.

use std::time::{Duration, Instant};

use crate::ring::Ring;

/// Weight of the latest chunk in a mean.
const LATEST: f64 = 1.0 / 8.0;
/// What plain chunks cost is doubted by so much for each chunk that is compressed instead, so that they are tried again.
const DOUBT: f64 = 1.0 / 32.0;
/// Times and sizes of so few chunks say nothing yet.
const FIRST_CHUNKS: u32 = 4;

/// What compressing and writing took of late. Whoever falls behind may store records as they are, where writing the
/// more bytes takes less time than compressing them: on a slow disk it doesn't.
#[derive(Debug, Default)]
pub struct Pace {
    chunks: u32,
    /// Nanoseconds to compress a byte of records.
    compressing: f64,
    /// Bytes that are left of it.
    left: f64,
    /// Nanoseconds to make a chunk of a byte without compressing it.
    keeping: f64,
    /// Nanoseconds to write a byte.
    writing: f64,
}

impl Pace {
    pub fn note_compressed(&mut self, length: usize, stored_length: usize, took: Duration) {
        if length == 0 {
            return;
        }
        self.chunks = self.chunks.saturating_add(1);
        let per_byte = |amount: f64| amount / length as f64;
        advance(&mut self.compressing, per_byte(took.as_nanos() as f64));
        advance(&mut self.left, per_byte(stored_length as f64));
        self.keeping -= self.keeping * DOUBT;
    }

    pub fn note_kept(&mut self, length: usize, took: Duration) {
        if length > 0 {
            advance(&mut self.keeping, took.as_nanos() as f64 / length as f64);
        }
    }

    pub fn note_written(&mut self, length: usize, took: Duration) {
        if length > 0 {
            advance(&mut self.writing, took.as_nanos() as f64 / length as f64);
        }
    }

    /// Whether storing records plainly takes less time than compressing them.
    pub fn gains_by_storing(&self, workers: usize) -> bool {
        let threads = workers as f64;
        let compressed = self.compressing / threads + self.writing * self.left;
        let plain = self.keeping / threads + self.writing;
        self.chunks >= FIRST_CHUNKS && plain < compressed
    }
}

fn advance(mean: &mut f64, latest: f64) {
    *mean = if *mean == 0.0 {
        latest
    } else {
        *mean + (latest - *mean) * LATEST
    };
}

/// Whether the program will soon have to wait: three quarters of the buffers are full.
pub fn is_behind(ring: &Ring) -> bool {
    let (full, limit) = ring.full_buffers();
    full >= limit - limit / 4
}

/// Runs the action and says how long it took.
pub fn timed<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = action();
    (result, begun.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(compressing_ns: u64, stored_length: usize, writing_ns: u64) -> Pace {
        let mut pace = Pace::default();
        for _ in 0..FIRST_CHUNKS {
            pace.note_compressed(1000, stored_length, Duration::from_nanos(compressing_ns));
            pace.note_written(stored_length, Duration::from_nanos(writing_ns));
        }
        pace
    }

    #[test]
    fn stores_where_memory_is_faster_than_compression() {
        // 1.5 ns to compress a byte, 0.5 ns to write one
        assert!(pace(1500, 200, 100).gains_by_storing(1));
    }

    #[test]
    fn compresses_for_a_slow_disk() {
        // 1.5 ns to compress a byte, 10 ns to write one
        assert!(!pace(1500, 200, 2000).gains_by_storing(1));
    }

    #[test]
    fn counts_what_plain_chunks_cost() {
        let mut pace = pace(1500, 200, 100);
        pace.note_kept(1000, Duration::from_nanos(1200));
        assert!(!pace.gains_by_storing(1));
    }

    #[test]
    fn tries_plain_chunks_again() {
        let mut pace = pace(1500, 200, 100);
        pace.note_kept(1000, Duration::from_nanos(5000));
        for _ in 0..100 {
            pace.note_compressed(1000, 200, Duration::from_nanos(1500));
        }
        assert!(pace.gains_by_storing(1));
    }

    #[test]
    fn workers_share_the_time_of_compression() {
        assert!(!pace(1500, 200, 100).gains_by_storing(4));
    }

    #[test]
    fn knows_nothing_at_the_beginning() {
        assert!(!Pace::default().gains_by_storing(1));
    }

    #[test]
    fn follows_what_changes() {
        let mut pace = pace(1500, 200, 100);
        for _ in 0..100 {
            pace.note_written(1000, Duration::from_nanos(10_000));
        }
        assert!(!pace.gains_by_storing(1));
    }
}
