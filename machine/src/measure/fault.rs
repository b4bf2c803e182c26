//! The first access to a page.

use std::io;
use std::time::Instant;

use rustix::param::page_size;

use super::arena::{Arena, Pages};

const ROUNDS: usize = 8;
const ROUND_BYTES: usize = 4 << 20;

/// Nanoseconds for each page of memory that the system has not provided yet: a value for each round.
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
    let begin = Instant::now();
    for word in arena.words_mut().iter_mut().step_by(words_per_page) {
        *std::hint::black_box(word) = 1;
    }
    Ok(begin.elapsed().as_nanos() as f64 / pages as f64)
}
