//! When accesses took place: each chunk's, evenly spread over the time in which its buffer was filled.

mod bins;
mod chunk_times;
mod clock;
mod cursor;
mod room;

pub use bins::TimeBins;
pub use chunk_times::{ChunkTimes, Span};
pub use clock::{Clock, Position};
pub use cursor::{Moment, MomentBins, MomentCursor};
pub(crate) use room::rows_with_room;
