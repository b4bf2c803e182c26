//! What a buffer says of itself, and whether that can be.

use trackway_trace::chunk::{FLAG_LAST, FLAG_TAIL};
use trackway_trace::ChunkKind;

use super::modules::ModuleKey;
use crate::abi;
use crate::clock::RecordingClock;
use crate::processes::Image;
use crate::ring::BufferWords;

/// Segment ids, which stand in 24 bits; streams are taken to be no more.
const MOST_IDS: u32 = 1 << 24;

/// All that the recorder goes by, each word read once.
#[derive(Clone, Copy)]
pub struct Description {
    pub kind: u32,
    pub stream: u32,
    pub image: Image,
    pub parent_pid: u32,
    pub flags: u32,
    pub sequence: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub length: usize,
    pub dropped_before: u32,
}

impl BufferWords {
    /// The owner; its pid is 0 before it has described the buffer.
    pub fn owner(&self) -> Image {
        Image {
            pid: self.pid,
            image: self.image,
        }
    }
}

impl Description {
    /// Times are held within the recording.
    pub fn new(words: &BufferWords, clock: &RecordingClock) -> Self {
        let (begin_ns, now_ns) = (clock.description().base_ns, clock.now_ns());
        let within = |stamp: u64| {
            let ns = match words.flags & abi::FLAG_MONOTONIC {
                _ if stamp == 0 => return 0, // unknown
                0 => clock.ns(stamp),
                _ => stamp,
            };
            ns.clamp(begin_ns.min(now_ns), now_ns)
        };
        let first_ns = within(words.first_ticks);
        Self {
            kind: words.kind,
            stream: words.stream,
            image: words.owner(),
            parent_pid: words.parent_pid,
            flags: words.flags,
            sequence: words.sequence,
            first_ns,
            last_ns: match within(words.last_ticks) {
                0 => 0,
                last_ns => last_ns.max(first_ns),
            },
            length: words.length as usize,
            dropped_before: words.dropped_before,
        }
    }

    /// False: something else than the runtime has written to it.
    pub fn is_possible(&self, buffer_size: usize) -> bool {
        let is_known = matches!(
            self.kind,
            abi::KIND_MODULE
                | abi::KIND_RECORDS
                | abi::KIND_ORACLE_RECORDS
                | abi::KIND_COUNTS
                | abi::KIND_DEFINITIONS
                | abi::KIND_ALLOCATIONS
                | abi::KIND_MAPPINGS
        );
        is_known && self.stream < MOST_IDS && self.length <= buffer_size && self.image.pid != 0
    }

    /// Which module the buffer has a part of.
    pub fn module_key(&self) -> ModuleKey {
        (self.image.pid, self.stream)
    }

    pub fn tells_of_code(&self) -> bool {
        matches!(self.kind, abi::KIND_MODULE | abi::KIND_DEFINITIONS)
    }

    pub fn is_abandoned(&self) -> bool {
        self.flags & abi::FLAG_ABANDONED != 0
    }

    /// Whether its thread had begun to end the process in order.
    pub fn is_ending(&self) -> bool {
        self.flags & abi::FLAG_ENDING != 0
    }

    /// The kind of chunk that a buffer of a stream becomes.
    pub fn stream_kind(&self) -> ChunkKind {
        match self.kind {
            abi::KIND_RECORDS => ChunkKind::Records,
            abi::KIND_ALLOCATIONS => ChunkKind::Allocations,
            _ => ChunkKind::OracleRecords,
        }
    }

    pub fn is_last(&self) -> bool {
        self.flags & abi::FLAG_LAST != 0
    }

    pub fn chunk_flags(&self) -> u16 {
        let last = if self.is_last() { FLAG_LAST } else { 0 };
        let tail = if self.is_abandoned() { FLAG_TAIL } else { 0 };
        last | tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Calibration;

    fn words() -> BufferWords {
        BufferWords {
            kind: abi::KIND_RECORDS,
            pid: 1,
            ..BufferWords::default()
        }
    }

    #[test]
    fn what_no_runtime_writes_is_impossible() {
        let clock = Calibration::begin().finish();
        let is_possible = |words: BufferWords| Description::new(&words, &clock).is_possible(4096);
        assert!(is_possible(words()));
        for kind in [0, 1, 4, 16, u32::MAX] {
            assert!(!is_possible(BufferWords { kind, ..words() }), "{kind}");
        }
        for stream in [1 << 24, u32::MAX] {
            assert!(!is_possible(BufferWords { stream, ..words() }), "{stream}");
        }
        for length in [4097, u32::MAX] {
            assert!(!is_possible(BufferWords { length, ..words() }), "{length}");
        }
        assert!(!is_possible(BufferWords { pid: 0, ..words() }));
    }

    #[test]
    fn times_stay_within_the_recording() {
        let clock = Calibration::begin().finish();
        let begin_ns = clock.description().base_ns;
        for ticks in [1, 1 << 32, u64::MAX - 1, u64::MAX] {
            for flags in [0, abi::FLAG_MONOTONIC] {
                let words = BufferWords {
                    flags,
                    first_ticks: ticks,
                    last_ticks: ticks - ticks / 2,
                    ..words()
                };
                let buffer = Description::new(&words, &clock);
                assert!(begin_ns <= buffer.first_ns && buffer.first_ns <= clock.now_ns());
                assert!(buffer.first_ns <= buffer.last_ns && buffer.last_ns <= clock.now_ns());
            }
        }
        assert_eq!(Description::new(&words(), &clock).first_ns, 0); // unknown
    }
}
