//! What commands that record have in common: how much of a program is counted or sampled, how large its buffers are,
//! and the report at the end. `trackway record` and `trackway top` share it.

mod conclusion;
mod counters;
mod hardware;
mod next_step;
mod overflow;
mod sampling;
mod work;

pub use conclusion::{conclude, status_of, tell, Telling};
pub use counters::{buffer_size, counts, is_plain, parse_buffer_size};
pub use sampling::{SampleSource, SampledArguments, SamplingArguments};
