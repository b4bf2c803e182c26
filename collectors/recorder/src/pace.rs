//! Whether the recorder keeps pace with the program.

use std::time::{Duration, Instant};

use crate::ring::Ring;

/// Weight of the latest chunk in a mean.
const LATEST: f64 = 1.0 / 8.0;
/// Decay of the plain-chunk cost per compressed chunk, so that plain storage is tried again.
const DOUBT: f64 = 1.0 / 64.0;
/// The time to write fewer bytes is mostly that of the call itself, and says nothing of larger writes. Plain chunks of
/// the smallest buffers have as many.
const MANY_BYTES: usize = 8 << 10;
/// Chunks before whose times and sizes count.
const FIRST_CHUNKS: u32 = 4;

/// Recent times of compressing and writing. When the recorder falls behind, it may store records uncompressed, if
/// writing the additional bytes takes less time than compressing them. On a slow disk it doesn't.
#[derive(Debug, Default)]
pub struct Pace {
    chunks: u32,
    /// Nanoseconds to compress a byte of records.
    compressing: f64,
    /// Bytes that compression leaves of a byte of records.
    left: f64,
    /// Nanoseconds to make a chunk of a byte without compressing it.
    keeping: f64,
    /// Nanoseconds to write a byte, if many are written at once; 0 before any were.
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
        if stored_length < MANY_BYTES {
            self.writing -= self.writing * DOUBT;
        }
    }

    pub fn note_kept(&mut self, length: usize, took: Duration) {
        if length > 0 {
            advance(&mut self.keeping, took.as_nanos() as f64 / length as f64);
        }
    }

    pub fn note_written(&mut self, length: usize, took: Duration) {
        if length >= MANY_BYTES {
            advance(&mut self.writing, took.as_nanos() as f64 / length as f64);
        }
    }

    /// Whether storing records uncompressed takes less time than compressing them.
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

/// Whether three quarters of the buffers are free again.
pub fn has_caught_up(ring: &Ring) -> bool {
    let (full, limit) = ring.full_buffers();
    full <= limit / 4
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

    const LENGTH: usize = 256 << 10;
    /// What a buffer of the least size holds for certain.
    const LEAST_LENGTH: usize = 12 << 10;

    fn nanoseconds(per_byte: f64, bytes: usize) -> Duration {
        Duration::from_nanos((per_byte * bytes as f64) as u64)
    }

    /// After chunks of which compression leaves one byte of `smaller`. Times are nanoseconds per byte.
    fn pace(compressing: f64, smaller: usize, writing: f64) -> Pace {
        let mut pace = Pace::default();
        for _ in 0..FIRST_CHUNKS {
            let stored_length = LENGTH / smaller;
            pace.note_compressed(LENGTH, stored_length, nanoseconds(compressing, LENGTH));
            pace.note_written(stored_length, nanoseconds(writing, stored_length));
        }
        pace
    }

    #[test]
    fn stores_where_memory_is_faster_than_compression() {
        assert!(pace(1.5, 5, 0.5).gains_by_storing(1));
    }

    #[test]
    fn compresses_for_a_slow_disk() {
        assert!(!pace(1.5, 5, 10.0).gains_by_storing(1));
    }

    #[test]
    fn small_chunks_say_nothing_of_the_disk() {
        assert!(pace(1.5, 1000, 10.0).gains_by_storing(1));
    }

    #[test]
    fn counts_what_plain_chunks_cost() {
        let mut pace = pace(1.5, 5, 0.5);
        pace.note_kept(LENGTH, nanoseconds(1.2, LENGTH));
        assert!(!pace.gains_by_storing(1));
    }

    #[test]
    fn learns_from_plain_chunks_of_small_buffers() {
        let mut pace = pace(1.5, 1000, 0.5);
        pace.note_kept(LEAST_LENGTH, nanoseconds(0.1, LEAST_LENGTH));
        pace.note_written(LEAST_LENGTH, nanoseconds(10.0, LEAST_LENGTH));
        assert!(!pace.gains_by_storing(1));
    }

    #[test]
    fn tries_plain_chunks_again() {
        for (keeping, writing) in [(5.0, 0.5), (0.1, 5.0)] {
            let mut pace = pace(1.5, 1000, 0.0);
            pace.note_kept(LENGTH, nanoseconds(keeping, LENGTH));
            pace.note_written(LENGTH, nanoseconds(writing, LENGTH));
            assert!(!pace.gains_by_storing(1));
            for _ in 0..100 {
                pace.note_compressed(LENGTH, LENGTH / 1000, nanoseconds(1.5, LENGTH));
                pace.note_written(LENGTH / 1000, nanoseconds(writing, LENGTH / 1000));
            }
            assert!(pace.gains_by_storing(1));
        }
    }

    #[test]
    fn workers_share_the_time_of_compression() {
        assert!(!pace(1.5, 5, 0.5).gains_by_storing(4));
    }

    #[test]
    fn knows_nothing_at_the_beginning() {
        assert!(!Pace::default().gains_by_storing(1));
    }

    #[test]
    fn follows_what_changes() {
        let mut pace = pace(1.5, 5, 0.5);
        for _ in 0..100 {
            pace.note_written(LENGTH, nanoseconds(10.0, LENGTH));
        }
        assert!(!pace.gains_by_storing(1));
    }
}
