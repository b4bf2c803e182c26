//! The program's threads: stopping them for a moment, and what stopped ones show.

mod pointers;
mod stopped;

pub use pointers::ThreadPointers;
pub use stopped::{Stopped, Stopper};
