//! Looking at what a program counts while it does: the ring, mapped to be read only.

mod attach;
mod dormant;
mod recorder;
mod view;

pub use attach::{attach, AttachError, Attachment};
pub use dormant::dormant_page;
pub use recorder::recorder_of;
pub use view::{measure_clock, now_ns, RingView, RunningNode, ViewError};

/// Tests that make rings take turns: `attach` looks for the ring of a whole process.
#[cfg(test)]
pub(crate) fn take_turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
