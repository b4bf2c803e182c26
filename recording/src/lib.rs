//! What verbs that record are told, and what they tell: how much of a program is counted or sampled, how large its buffers
//! are, and what came of it. `trackway record` and `trackway top` share it.

mod conclusion;
mod counters;
mod hardware;
mod overflow;
mod sampling;

pub use conclusion::conclude;
pub use counters::{buffer_size, parse_buffer_size};
pub use sampling::{SampledArguments, SamplingArguments};
