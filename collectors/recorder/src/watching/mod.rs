//! Looking at what a program counts while it does: the ring, mapped to be read only.

mod attach;
mod view;

pub use attach::{attach, AttachError, Attachment};
pub use view::{measure_clock, now_ns, RingView, RunningNode, ViewError};
