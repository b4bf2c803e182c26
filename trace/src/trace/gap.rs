//! What a trace says about records that are missing from it.

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

/// Why records are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapReason {
    RingFull,
    WriteFailed,
    /// Recording stopped, a thread was cancelled within a record, or records were lost otherwise without a full ring.
    RecordingStopped,
    /// The program overwrote what it shares with the recorder.
    Damaged,
    Other(u64),
}

impl From<u64> for GapReason {
    fn from(value: u64) -> Self {
        match value {
            1 => GapReason::RingFull,
            2 => GapReason::WriteFailed,
            3 => GapReason::RecordingStopped,
            4 => GapReason::Damaged,
            other => GapReason::Other(other),
        }
    }
}

impl From<GapReason> for u64 {
    fn from(value: GapReason) -> Self {
        match value {
            GapReason::RingFull => 1,
            GapReason::WriteFailed => 2,
            GapReason::RecordingStopped => 3,
            GapReason::Damaged => 4,
            GapReason::Other(other) => other,
        }
    }
}
