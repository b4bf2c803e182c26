//! The first access to a page, and its return to the system.

use rustix::param::page_size;
use rustix::time::{clock_gettime, ClockId};
use std::io;

use super::arena::{Arena, Pages};

const ROUNDS: usize = 3;
/// More than caches have: else the system would fill pages with zeros that never leave them.
const ROUND_BYTES: usize = 64 << 20;

/// Bytes of memory that a round touches.
pub fn needed_bytes() -> u64 {
    ROUND_BYTES as u64
}

/// Nanoseconds for each page of memory that the system has not provided yet, and takes back in the end: a value for each
/// round.
///
/// # Errors
/// If the system doesn't give so much memory.
pub fn ns_per_fault() -> io::Result<Vec<f64>> {
    (0..ROUNDS).map(|_| round()).collect()
}

fn round() -> io::Result<f64> {
    let mut arena = Arena::new(ROUND_BYTES, Pages::Small)?;
    let words_per_page = page_size() / size_of::<u64>();
    let pages = arena.words().len() / words_per_page;
    let begin_ns = thread_cpu_ns();
    for word in arena.words_mut().iter_mut().step_by(words_per_page) {
        *std::hint::black_box(word) = 1;
    }
    drop(arena);
    Ok((thread_cpu_ns() - begin_ns) / pages as f64)
}

/// What the thread has used of a processor. A round is longer than the time that a thread has before another one's turn.
fn thread_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
