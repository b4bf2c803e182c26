//! What Arm's Statistical Profiling Extension writes: operations at random, with what they accessed and how long it took.
//!
//! It was written after the Arm Architecture Reference Manual and the kernel's interface, and has never read what a
//! processor wrote: tests are on contents that were made for them.

mod clock;
mod operation;
mod packet;
mod stretch;

pub use clock::TimerClock;
pub use operation::{DataSources, SpeOperation};
pub use stretch::{SpeReader, Stretch};

/// What a stretch of a buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    pub operations: Vec<SpeOperation>,
    /// Stretches that could not be read; decoding went on behind them.
    pub damaged: u64,
}

/// Reads the records of a stretch of a buffer. What is no packet ends its record, and is passed over.
pub fn decode(bytes: &[u8]) -> Decoded {
    let mut decoded = Decoded::default();
    let mut operation = SpeOperation::default();
    let mut at = 0;
    // Behind damage, whole records come again only from the end of the present one on.
    let mut is_whole = true;
    while at < bytes.len() {
        let Some((packet, length)) = packet::read(bytes, at) else {
            decoded.damaged += u64::from(is_whole);
            is_whole = false;
            at += 1;
            continue;
        };
        at += length;
        if !operation.take(packet) {
            continue;
        }
        let ended = std::mem::take(&mut operation);
        if is_whole && ended.instruction != 0 {
            decoded.operations.push(ended);
        }
        is_whole = true;
    }
    decoded
}

#[cfg(test)]
mod tests;
