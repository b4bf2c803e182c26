//! The recorder: starts a program, stays beside it, drains the buffers that its threads fill in shared memory, and
//! writes them as the chunks of a trace.

mod error;
mod options;
mod summary;

pub use error::RecordError;
pub use options::{Compression, Output, RecordOptions, WhenFull};
pub use summary::{Loss, ProgramEnd, RecordSummary};
