//! How many threads to use.

use std::num::NonZeroUsize;
use std::thread;

/// Processors that this process may use.
pub fn available() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
