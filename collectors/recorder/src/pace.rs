//! Whether the recorder keeps pace with the program.

use std::time::{Duration, Instant};

use trackway_trace::Effort;

use crate::ring::Ring;

/// Weight of the latest chunk in a mean.
const LATEST: f64 = 1.0 / 8.0;
/// The latest chunk may cost so many times the mean: a thread that lost its processor meanwhile seems to take long.
const MOST_GROWTH: f64 = 4.0;
/// Decay of the plain-chunk cost per compressed chunk, so that plain storage is tried again.
const DOUBT: f64 = 1.0 / 64.0;
/// Decay of the cost of encoding per plain chunk. Encoding is dearer where plain chunks are chosen.
const DOUBT_OF_ENCODING: f64 = 1.0 / 256.0;
/// Plain chunks are several times as large, so they must save this part of the time.
const LEAST_GAIN: f64 = 1.0 / 8.0;
/// The time to write fewer bytes is mostly that of the call itself, and says nothing of larger writes. Plain chunks of
/// the smallest buffers have as many.
const MANY_BYTES: usize = 8 << 10;
/// Chunks before whose times and sizes count.
const FIRST_CHUNKS: u32 = 4;

/// Recent times of encoding and writing. When the recorder falls behind, it may spare the time to compress columns, or to
/// encode records at all, if writing the additional bytes takes less. On a slow disk it doesn't.
#[derive(Debug, Default)]
pub struct Pace {
    chunks: u32,
    full: Cost,
    hasty: Cost,
    /// Nanoseconds to make a chunk of a byte without encoding it.
    keeping: f64,
    /// Nanoseconds to write a byte, if many are written at once; 0 before any were.
    writing: f64,
}

/// What encoding costs for a byte of records.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Nanoseconds.
    encoding: f64,
    /// Bytes that are left.
    left: f64,
}

impl Pace {
    /// Takes what a chunk of records came to. Nothing is known of payloads without bytes.
    pub fn note_encoded(&mut self, effort: Effort, length: usize, stored_length: usize, took: Duration) {
        let took = took.as_nanos() as f64 / length as f64;
        let cost = match effort {
            _ if length == 0 => return,
            Effort::None => {
                advance(&mut self.keeping, took);
                self.full.encoding -= self.full.encoding * DOUBT_OF_ENCODING;
                self.hasty.encoding -= self.hasty.encoding * DOUBT_OF_ENCODING;
                return;
            }
            Effort::Full => &mut self.full,
            Effort::Hasty { .. } => &mut self.hasty,
        };
        advance(&mut cost.encoding, took);
        advance(&mut cost.left, stored_length as f64 / length as f64);
        self.chunks = self.chunks.saturating_add(1);
        self.keeping -= self.keeping * DOUBT;
        if stored_length < MANY_BYTES {
            self.writing -= self.writing * DOUBT;
        }
    }

    pub fn note_written(&mut self, length: usize, took: Duration) {
        if length >= MANY_BYTES {
            advance(&mut self.writing, took.as_nanos() as f64 / length as f64);
        }
    }

    /// What takes the least time of a recorder that is behind, if so many threads encode at a time. One thread writes.
    pub fn effort(&self, threads: usize) -> Effort {
        if self.chunks < FIRST_CHUNKS {
            return Effort::Full;
        }
        let threads = threads as f64;
        let Cost { encoding, left } = match self.hasty.encoding > 0.0 {
            true => self.hasty,
            false => self.full,
        };
        let encoded = encoding / threads + self.writing * left;
        let plain = self.keeping / threads + self.writing;
        match plain < encoded * (1.0 - LEAST_GAIN) {
            true => Effort::None,
            false => Effort::Hasty {
                writing_ns: self.writing * threads,
            },
        }
    }
}

fn advance(mean: &mut f64, latest: f64) {
    *mean = if *mean == 0.0 {
        latest
    } else {
        *mean + (latest.min(*mean * MOST_GROWTH) - *mean) * LATEST
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
            pace.note_encoded(
                Effort::Full,
                LENGTH,
                stored_length,
                nanoseconds(compressing, LENGTH),
            );
            pace.note_written(stored_length, nanoseconds(writing, stored_length));
        }
        pace
    }

    #[test]
    fn stores_where_memory_is_faster_than_compression() {
        assert_eq!(pace(1.5, 5, 0.5).effort(1), Effort::None);
    }

    #[test]
    fn compresses_for_a_slow_disk() {
        assert_ne!(pace(1.5, 5, 10.0).effort(1), Effort::None);
    }

    #[test]
    fn hurries_where_plain_chunks_gain_little() {
        let mut pace = pace(1.5, 5, 1.7);
        assert!(matches!(pace.effort(1), Effort::Hasty { .. }));
        let writing_ns = 1.7;
        let hasty = Effort::Hasty { writing_ns };
        pace.note_encoded(hasty, LENGTH, LENGTH / 4, nanoseconds(1.0, LENGTH));
        assert!(matches!(pace.effort(1), Effort::Hasty { .. }));
        pace.note_encoded(hasty, LENGTH, LENGTH / 4, nanoseconds(0.1, LENGTH));
        assert!(matches!(pace.effort(1), Effort::Hasty { .. }));
    }

    #[test]
    fn a_chunk_that_took_long_counts_little() {
        let mut pace = pace(1.5, 5, 10.0);
        pace.note_encoded(Effort::Full, LENGTH, LENGTH / 5, nanoseconds(1000.0, LENGTH));
        assert_ne!(pace.effort(1), Effort::None);
    }

    #[test]
    fn small_chunks_say_nothing_of_the_disk() {
        assert_eq!(pace(1.5, 1000, 10.0).effort(1), Effort::None);
    }

    #[test]
    fn counts_what_plain_chunks_cost() {
        let mut pace = pace(1.5, 5, 0.5);
        pace.note_encoded(Effort::None, LENGTH, LENGTH, nanoseconds(1.2, LENGTH));
        assert_ne!(pace.effort(1), Effort::None);
    }

    #[test]
    fn learns_from_plain_chunks_of_small_buffers() {
        let mut pace = pace(1.5, 1000, 0.5);
        pace.note_encoded(
            Effort::None,
            LEAST_LENGTH,
            LEAST_LENGTH,
            nanoseconds(0.1, LEAST_LENGTH),
        );
        pace.note_written(LEAST_LENGTH, nanoseconds(10.0, LEAST_LENGTH));
        assert_ne!(pace.effort(1), Effort::None);
    }

    #[test]
    fn tries_plain_chunks_again() {
        for (keeping, writing) in [(5.0, 0.5), (0.1, 5.0)] {
            let mut pace = pace(1.5, 1000, 0.0);
            pace.note_encoded(Effort::None, LENGTH, LENGTH, nanoseconds(keeping, LENGTH));
            pace.note_written(LENGTH, nanoseconds(writing, LENGTH));
            assert_ne!(pace.effort(1), Effort::None);
            for _ in 0..100 {
                pace.note_encoded(Effort::Full, LENGTH, LENGTH / 1000, nanoseconds(1.5, LENGTH));
                pace.note_written(LENGTH / 1000, nanoseconds(writing, LENGTH / 1000));
            }
            assert_eq!(pace.effort(1), Effort::None);
        }
    }

    #[test]
    fn workers_share_the_time_of_compression() {
        assert_ne!(pace(1.5, 5, 0.5).effort(4), Effort::None);
    }

    #[test]
    fn knows_nothing_at_the_beginning() {
        assert_ne!(Pace::default().effort(1), Effort::None);
    }

    #[test]
    fn follows_what_changes() {
        let mut pace = pace(1.5, 5, 0.5);
        for _ in 0..100 {
            pace.note_written(LENGTH, nanoseconds(10.0, LENGTH));
        }
        assert_ne!(pace.effort(1), Effort::None);
    }
}
