use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trackway_sampler::SamplerOptions;

use crate::hardware::MOST_HARDWARE_EVENTS;
use crate::{Address, HardwareEvent, RecordError};

/// The client that records a program that wasn't compiled for recording.
#[derive(Debug, Clone)]
pub struct BinaryClient {
    /// Becomes the program under DynamoRIO.
    pub launcher: PathBuf,
    /// DynamoRIO's folder.
    pub dynamorio: PathBuf,
    pub client: PathBuf,
    /// DynamoRIO's own options.
    pub options: String,
}

/// What records calls of allocators.
#[derive(Debug, Clone)]
pub struct AllocationTracer {
    /// The library that the program's dynamic linker loads first.
    pub library: PathBuf,
    /// Frames of the call stack of each call, at most [`MOST_STACK_FRAMES`]; 0: none.
    pub frames: u32,
}

/// Frames of a call of an allocator that can be recorded.
pub const MOST_STACK_FRAMES: u32 = 64;

/// Windows that return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bursts {
    pub measure: BurstMeasure,
    /// They come at even distances. Else each begins at a random time of its period.
    pub are_even: bool,
}

/// How long bursts are, and how long a period with one of them is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstMeasure {
    Time {
        length: Duration,
        every: Duration,
    },
    /// Accesses of all threads. Those between bursts aren't counted: the pause has as much processor time as they would take
    /// at the speed of the burst before.
    Accesses {
        length: u64,
        every: u64,
    },
}

impl Bursts {
    pub fn are_by_accesses(&self) -> bool {
        matches!(self.measure, BurstMeasure::Accesses { .. })
    }
}

/// When a program of `trackway cc` is recorded. By default from its start to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowOptions {
    /// It begins unrecorded, until the program or `trackway control` starts the recording.
    pub paused: bool,
    /// It is recorded from then on, after its start.
    pub start_after: Option<Duration>,
    /// It is recorded from the start, but what it records is kept only after so many accesses.
    pub start_after_accesses: Option<u64>,
    /// How long it is recorded then.
    pub duration: Option<Duration>,
    /// It is recorded until the trace has so many bytes. A flight recorder keeps all until then, and only the newest
    /// afterwards.
    pub most_bytes: Option<u64>,
    pub bursts: Option<Bursts>,
    /// It is recorded while a thread is in a region of interest whose name one of these globs matches: `*` stands for
    /// any characters, `?` for one.
    pub only_regions: Vec<String>,
}

impl WindowOptions {
    /// Whether recording is on from the first instruction.
    pub fn begins_open(&self) -> bool {
        !self.paused && self.start_after.is_none() && self.bursts.is_none() && self.only_regions.is_empty()
    }

    /// Whether regions open windows from the program's start on.
    pub(crate) fn has_regions_at_first(&self) -> bool {
        !self.only_regions.is_empty() && self.start_after.is_none()
    }

    /// Whether what is recorded is counted while it is.
    pub fn counts_accesses(&self) -> bool {
        self.bursts.is_some_and(|bursts| bursts.are_by_accesses())
    }

    /// The globs as the ring has them, each with a line feed.
    pub(crate) fn globs(&self) -> String {
        self.only_regions.iter().map(|glob| format!("{glob}\n")).collect()
    }

    /// Whether it may be on and off.
    pub fn has_any(&self) -> bool {
        *self != WindowOptions::default()
    }
}

/// Bytes of the globs of regions, each with one more.
pub const REGION_GLOBS: usize = 252;

/// Buffers that may wait for a recorder that comes to a program.
pub const MOST_WAITING_IN_SESSIONS: u32 = 64;

/// What a flight recorder holds, and what makes it write that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flight {
    /// Bytes of encoded records.
    pub most_bytes: u64,
    /// Records that are older are let go.
    pub longest: Option<Duration>,
    /// A latency of which the program tells (`trackway_slow`) and that isn't below this is worth a snapshot.
    pub slower_than: Option<Duration>,
}

/// What to run, where the trace goes and how.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// Path of the program, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Records this process, which runs already and was built with `trackway cc`, instead of a new one.
    pub process: Option<u32>,
    /// Records the binary as it is.
    pub client: Option<BinaryClient>,
    /// Records calls of allocators as well.
    pub allocations: Option<AllocationTracer>,
    pub output: Output,
    pub compression: Compression,
    /// What a thread of the program does when every buffer is full.
    pub when_full: WhenFull,
    /// Bytes of one buffer: a multiple of 4096, from 16,384 to 256 MiB.
    pub buffer_size: u32,
    /// Full buffers that may wait for the recorder, 2 to 65,536; then the ring is full. Each thread has one more to
    /// write to.
    pub buffer_count: u32,
    /// Threads that compress, 1 to 64. All but one of them rest unless the recorder is behind.
    pub workers: usize,
    /// Whether the work of these threads is measured.
    pub measures: bool,
    /// A program built with the oracle writes the oracle's records too, not only their hash.
    pub dump_oracle: bool,
    /// In a program that counts, one entry of a region in so many is counted; 0 or 1: all.
    pub count_every: u32,
    /// If not 0, as many entries are counted as take so many millionths of a region's time.
    pub count_cost_millionths: u32,
    /// In a program that counts, hardware events that are also counted around regions, at most
    /// [`MOST_HARDWARE_EVENTS`].
    pub hardware: Vec<HardwareEvent>,
    /// Samples the program as it is, instead of recording what it was compiled to record.
    pub sampling: Option<SamplerOptions>,
    /// When a program of `trackway cc` is recorded.
    pub windows: WindowOptions,
    /// Only the newest records are kept, until a snapshot is asked for: each goes to a file of its own, which is named
    /// after the output.
    pub flight: Option<Flight>,
    /// Where the program's standard output and standard error go in place of a terminal.
    pub instead_of_terminal: Option<Arc<File>>,
    /// Where the program's standard output goes in place of ours.
    pub standard_output: Option<Arc<File>>,
    /// Called, from any thread, with messages for the user while the program runs.
    pub notify: fn(&str),
    /// Called with what the recorder is doing, if that takes long.
    pub progress: fn(&str),
}

impl RecordOptions {
    /// Options with the default buffers (16 of 256 KiB), a worker for each processor up to four, automatic
    /// compression, and waiting when the ring is full.
    pub fn new(program: impl Into<OsString>, output: Output) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            process: None,
            client: None,
            allocations: None,
            output,
            compression: Compression::Auto,
            when_full: WhenFull::Wait,
            buffer_size: 256 * 1024,
            buffer_count: 16,
            workers: usual_workers(),
            measures: false,
            dump_oracle: false,
            count_every: 0,
            count_cost_millionths: 0,
            hardware: Vec::new(),
            sampling: None,
            windows: WindowOptions::default(),
            flight: None,
            instead_of_terminal: None,
            standard_output: None,
            notify: |_| (),
            progress: |_| (),
        }
    }

    /// The windows that open and close by themselves.
    pub(crate) fn scheduled_windows(&self) -> WindowOptions {
        match self.flight {
            Some(_) => WindowOptions::default(),
            None => self.windows.clone(),
        }
    }

    fn frames(&self) -> u32 {
        self.allocations.as_ref().map_or(0, |tracer| tracer.frames)
    }

    pub(crate) fn check(&self) -> Result<(), RecordError> {
        let size_is_valid =
            self.buffer_size.is_multiple_of(4096) && (16_384..=1 << 28).contains(&self.buffer_size);
        let checks = [
            (
                "the buffer size",
                u64::from(self.buffer_size),
                size_is_valid,
                "a multiple of 4096 from 16,384 to 268,435,456",
            ),
            (
                "the number of buffers",
                self.buffer_count.into(),
                (2..=1 << 16).contains(&self.buffer_count),
                "from 2 to 65,536",
            ),
            (
                "the number of buffers",
                self.buffer_count.into(),
                self.process.is_none() || self.buffer_count <= MOST_WAITING_IN_SESSIONS,
                "at most 64 for a process that runs already",
            ),
            (
                "the length of all globs of regions",
                self.windows.globs().len() as u64,
                self.windows.globs().len() < REGION_GLOBS,
                "less than 252 bytes, with one more for each",
            ),
            (
                "the number of workers",
                self.workers as u64,
                (1..=64).contains(&self.workers),
                "from 1 to 64",
            ),
            (
                "the number of hardware events",
                self.hardware.len() as u64,
                self.hardware.len() <= MOST_HARDWARE_EVENTS,
                "at most 4",
            ),
            (
                "the number of stack frames",
                self.frames().into(),
                self.frames() <= MOST_STACK_FRAMES,
                "at most 64",
            ),
        ];
        match checks.into_iter().find(|&(_, _, is_valid, _)| !is_valid) {
            Some((option, value, _, expected)) => Err(RecordError::Option {
                option,
                value,
                expected,
            }),
            None => Ok(()),
        }
    }
}

/// Programs wait without keeping their processors busy, so workers may take all of them.
fn usual_workers() -> usize {
    const MOST: usize = 4;
    std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST))
}

/// Where the trace goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A new file, readable by its owner only. An existing one is replaced only with `force`.
    File { path: PathBuf, force: bool },
    /// To a collector, see [`crate::collect`].
    Collector(Route),
    /// Nowhere: buffers are drained, not encoded. For measurements.
    Discard,
}

/// The way to a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub address: Address,
    /// How long a lost connection is tried again before the recording ends.
    pub reconnect_timeout: Duration,
    /// Bytes of chunks that may wait for their acknowledgement; then the recorder stops draining.
    pub window_bytes: u64,
}

/// How chunks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// The same as [`Compression::Columns`]. But while the program would have to wait, records go to a file
    /// uncompressed if that takes less time.
    Auto,
    None,
    Lz4,
    Zstd,
    /// Records are split into columns; other chunks, and records that are easy to compress, by LZ4.
    Columns,
}

/// What a thread does that finds no free buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for the recorder: nothing is lost.
    Wait,
    /// It goes on without recording; the trace holds a gap that says how many buffers were lost.
    Drop,
}
