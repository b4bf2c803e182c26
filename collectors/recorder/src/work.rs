//! What the recorder's threads spend their time on, for `--stats`.

use std::ops::AddAssign;
use std::time::Duration;

use trackway_trace::{Chunk, ChunkEncoder, ChunkKind, Codec, EncodingTimes};

/// What became of the recorder's time, and of the chunks of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecorderWork {
    /// Processor time of copying records out of the ring and clearing it.
    pub moving: Duration,
    /// Processor time of encoding.
    pub encoding: EncodingTimes,
    /// Processor time of writing.
    pub writing: Duration,
    /// Time of writing, in which threads may have waited for the target.
    pub writing_wall: Duration,
    /// Sum over the program's threads of the time for which they waited for a free buffer.
    pub waiting: Duration,
    pub chunks: ChunkCounts,
}

/// Chunks of records by the way of storing them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChunkCounts {
    pub plain: u64,
    /// Compressed as a whole.
    pub compressed: u64,
    /// Split into columns, none of which is compressed.
    pub split: u64,
    pub split_and_compressed: u64,
}

impl ChunkCounts {
    pub fn note(&mut self, chunk: &Chunk) {
        if chunk.header.kind != ChunkKind::Records {
            return;
        }
        *match chunk.header.codec {
            Codec::None => &mut self.plain,
            Codec::Columns if chunk.has_compressed_columns() => &mut self.split_and_compressed,
            Codec::Columns => &mut self.split,
            _ => &mut self.compressed,
        } += 1;
    }
}

impl AddAssign for RecorderWork {
    fn add_assign(&mut self, other: Self) {
        self.moving += other.moving;
        self.encoding.splitting += other.encoding.splitting;
        self.encoding.compressing += other.encoding.compressing;
        self.encoding.checksums += other.encoding.checksums;
        self.writing += other.writing;
        self.writing_wall += other.writing_wall;
        self.waiting += other.waiting;
        self.chunks.plain += other.chunks.plain;
        self.chunks.compressed += other.chunks.compressed;
        self.chunks.split += other.chunks.split;
        self.chunks.split_and_compressed += other.chunks.split_and_compressed;
    }
}

/// Measures the work of one thread.
pub struct Meter {
    /// None: nothing is measured.
    clock: Option<fn() -> Duration>,
    pub work: RecorderWork,
}

impl Meter {
    /// `measures`: reading the clock takes half a microsecond.
    pub fn new(measures: bool, encoder: &mut ChunkEncoder) -> Self {
        let clock = measures.then_some(thread_time as fn() -> Duration);
        if let Some(clock) = clock {
            encoder.measure(clock);
        }
        Meter {
            clock,
            work: RecorderWork::default(),
        }
    }

    /// Runs a step and adds its processor time to its own.
    pub fn step<T>(&mut self, time: fn(&mut RecorderWork) -> &mut Duration, action: impl FnOnce() -> T) -> T {
        let Some(clock) = self.clock else {
            return action();
        };
        let begun = clock();
        let result = action();
        *time(&mut self.work) += clock().saturating_sub(begun);
        result
    }
}

/// Processor time of this thread.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
