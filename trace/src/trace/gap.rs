//! What a trace says about records that are missing from it.

use crate::table_enum::open_enum;

/// A place where records of a stream are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub stream: u32,
    pub process: u32,
    /// The records are missing before the stream's chunk of this sequence.
    pub before_sequence: u64,
    pub dropped_buffers: u64,
    pub reason: GapReason,
    /// CLOCK_MONOTONIC nanoseconds; 0 if unknown.
    pub first_ns: u64,
    pub last_ns: u64,
}

open_enum! {
    /// Why records are missing.
    GapReason: u64 {
        RingFull = 1,
        WriteFailed = 2,
        /// Recording stopped, a thread was cancelled within a record, or records were lost otherwise without a full ring.
        RecordingStopped = 3,
        /// The program overwrote what it shares with the recorder.
        Damaged = 4,
    }
}
