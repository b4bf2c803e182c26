/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnd {
    Exited(i32),
    Signalled(i32),
    /// It wasn't the recorder's child: only its end is known.
    Unknown,
    /// It goes on without the recorder.
    RunsOn,
    /// Its process executes another program, which the recorder doesn't reach.
    Replaced,
}

use std::ops::Range;

use crate::{RecorderWork, Snapshot};

impl ProgramEnd {
    /// The status that a shell would report: the program's own, or 128 + the signal's number.
    pub fn shell_status(self) -> i32 {
        match self {
            Self::Exited(status) => status,
            Self::Signalled(signal) => 128 + signal,
            Self::Unknown | Self::RunsOn | Self::Replaced => 0,
        }
    }

    /// Exit status and signal, of which at most one is known.
    pub(crate) fn parts(self) -> (Option<i32>, Option<i32>) {
        match self {
            Self::Exited(status) => (Some(status), None),
            Self::Signalled(signal) => (None, Some(signal)),
            Self::Unknown | Self::RunsOn | Self::Replaced => (None, None),
        }
    }
}

/// Why a trace is incomplete, and what it lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Buffers whose records are in no chunk.
    pub buffers: u64,
    /// For the user: what happened, to which file, and what to do.
    pub message: String,
}

/// What programs that count came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountsSummary {
    /// Regions by their names.
    pub regions: u64,
    /// Threads that counted.
    pub threads: u64,
    /// Regions of each thread, apart by the region within which they were entered, and what is outside of them.
    pub nodes: u64,
}

/// What sampling came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SamplesSummary {
    pub samples: u64,
    /// Samples that the kernel took and the recorder didn't receive.
    pub lost: u64,
    /// Samples whose next instructions were executed.
    pub windows: u64,
    /// Windows that weren't made, because a thread couldn't be stopped.
    pub refused_stops: u64,
}

/// What a flight recorder wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotsSummary {
    pub written: Vec<Snapshot>,
    /// That the program asked for while another one was written, or too often.
    pub refused: u64,
    /// If everything was stored at first: for how long, nanoseconds; none: till the end.
    pub first_part: Option<Option<u64>>,
}

/// What the system still knows of the program when it has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remains {
    /// The soft limit of its stack; none if it had none, or that is unknown.
    pub stack_limit_bytes: Option<u64>,
    /// The most memory that it had at a time (`ru_maxrss`); 0 if unknown.
    pub peak_memory_bytes: u64,
}

/// What a recording came to.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    pub program_end: ProgramEnd,
    pub remains: Remains,
    /// Memory of the program right above a guard page: its threads' stacks, and perhaps other memory. Of a program that
    /// began more threads than it was looked at, only some.
    pub thread_stacks: Vec<Range<u64>>,
    /// Whether any module of the program registered; if not, the trace is empty.
    pub instrumented: bool,
    pub modules: u64,
    pub processes: u64,
    pub streams: u64,
    /// Streams that a thread left without handing over its last records, in processes that didn't end in order: as those of
    /// a process that a signal ended.
    pub interrupted_streams: u64,
    /// Those of them that belong to processes that the program started.
    pub interrupted_in_children: u64,
    /// Chunks written, of all kinds but the index.
    pub chunks: u64,
    /// Bytes of records as the program wrote them.
    pub raw_bytes: u64,
    /// Bytes that calls of allocators take, before compression.
    pub allocation_bytes: u64,
    /// What was counted instead.
    pub counts: CountsSummary,
    /// What was sampled; none if sampling wasn't asked for.
    pub samples: Option<SamplesSummary>,
    /// Bytes of the trace file; 0 when discarded.
    pub stored_bytes: u64,
    /// Marks and switches that came faster than the recorder takes them: the trace doesn't have them.
    pub lost_marks: u64,
    /// What was written of the newest records; none if all were written.
    pub snapshots: Option<SnapshotsSummary>,
    /// Windows in which it recorded, if it did so in windows.
    pub windows: Option<u32>,
    /// Buffers that the program dropped because the ring was full.
    pub dropped_buffers: u64,
    /// Set when the program overwrote memory that it shares with the recorder: so many buffers are lost.
    pub damage: Option<u64>,
    /// Set when the trace could not be written to its end; the trace is valid up to there.
    pub write_failure: Option<Loss>,
    /// The user ended the recording (SIGINT or SIGTERM) while other recorded processes still lived.
    pub interrupted: bool,
    /// What its threads did, if that was measured.
    pub work: Option<RecorderWork>,
    /// Processor time of all of the recorder's threads, seconds.
    pub recorder_cpu_seconds: f64,
    /// Seconds from the program's start to the end of the trace.
    pub wall_seconds: f64,
}
