//! What encoders spend their time on.

use std::time::Duration;

/// Time by step, if it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodingTimes {
    /// Splitting records into columns.
    pub splitting: Duration,
    /// Compressing by LZ4 or Zstandard.
    pub compressing: Duration,
    /// Checksums of stored payloads.
    pub checksums: Duration,
}

/// Measures the steps by a clock, if it was given one.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    pub(crate) clock: Option<fn() -> Duration>,
    pub(crate) times: EncodingTimes,
}

impl Stopwatch {
    /// Runs a step and adds the time that it takes to its own.
    pub(crate) fn step<T>(
        &mut self,
        time: fn(&mut EncodingTimes) -> &mut Duration,
        action: impl FnOnce() -> T,
    ) -> T {
        let Some(clock) = self.clock else {
            return action();
        };
        let begun = clock();
        let result = action();
        *time(&mut self.times) += clock().saturating_sub(begun);
        result
    }
}
