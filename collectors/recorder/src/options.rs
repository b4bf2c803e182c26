use std::ffi::OsString;
use std::path::PathBuf;

/// What to run, where the trace goes and how.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// Path of the program, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    pub output: Output,
    pub compression: Compression,
    /// What a thread of the program does when every buffer is full.
    pub when_full: WhenFull,
    /// Bytes of one buffer: a multiple of 4096, at least 16,384.
    pub buffer_size: u32,
    /// Number of buffers in the ring, 2 to 65,536.
    pub buffer_count: u32,
    /// Threads that compress, 1 to 64.
    pub workers: usize,
    /// A program built with the oracle writes the oracle's records too, not only their hash.
    pub dump_oracle: bool,
}

impl RecordOptions {
    /// Options with the default buffers (64 of 256 KiB), one worker, LZ4, and waiting when the ring is full.
    pub fn new(program: impl Into<OsString>, output: Output) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            output,
            compression: Compression::Lz4,
            when_full: WhenFull::Wait,
            buffer_size: 256 * 1024,
            buffer_count: 64,
            workers: 1,
            dump_oracle: false,
        }
    }
}

/// Where the trace goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A new file, readable by its owner only. An existing one is replaced only with `force`.
    File { path: PathBuf, force: bool },
    /// Nowhere: buffers are drained, not encoded. For measurements.
    Discard,
}

/// How chunks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Lz4,
    Zstd,
}

/// What a thread does that finds no free buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for the recorder: nothing is lost.
    Wait,
    /// It goes on without recording; the trace holds a gap that says how many buffers were lost.
    Drop,
}
