//! The JSON payloads of the chunks start, process and end.

use serde::{Deserialize, Serialize};

use crate::{Clock, SamplingInfo, StepCosts};

/// What was recorded, where and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StartInfo {
    /// Path of the program as it was started.
    pub program: String,
    /// The program's arguments, without its own name.
    pub arguments: Vec<String>,
    pub working_directory: String,
    pub host: String,
    /// The processor's name as the system gives it.
    pub cpu_model: String,
    /// Data and unified caches that one processor sees, from level 1 on.
    pub caches: Vec<CacheInfo>,
    pub trackway_version: String,
    /// `none`, `lz4` or `zstd`.
    pub codec: String,
    /// Bytes of each buffer of the ring.
    pub buffer_size: u32,
    pub buffer_count: u32,
    /// Start of the recording, nanoseconds since 1970-01-01 UTC.
    pub start_unix_ns: u64,
    /// The same moment, CLOCK_MONOTONIC nanoseconds.
    pub start_monotonic_ns: u64,
    /// Process id of the program.
    pub pid: u32,
    /// The clock of the program's stamps; none if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Names of the hardware events that were counted around regions of interest, in the order of the sums in nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hardware_events: Vec<String>,
    /// How samples were taken; none if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingInfo>,
    /// Recording was off at first: without windows, nothing was recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub begins_unrecorded: bool,
}

/// A cache of the machine on which the program ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheInfo {
    pub level: u32,
    pub size_bytes: u64,
    pub line_bytes: u32,
    /// Associativity; 0: fully associative.
    pub ways: u32,
    /// Number of logical processors that share it.
    pub shared_by: u32,
}

/// A process of the trace that began or ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// The system's id of the process.
    pub pid: u32,
    /// Number, in this trace, of the process from which it was forked; none for the first.
    #[serde(default)]
    pub parent: Option<u32>,
    pub event: ProcessEvent,
    #[serde(default)]
    pub exit_status: Option<i32>,
    /// Number of the signal that ended it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// CLOCK_MONOTONIC nanoseconds.
    #[serde(default)]
    pub monotonic_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessEvent {
    Start,
    Exit,
}

/// How the recording ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndInfo {
    /// The program's exit status, unless a signal ended it.
    pub exit_status: Option<i32>,
    /// Number of the signal that ended the program.
    pub signal: Option<i32>,
    /// End of the recording, CLOCK_MONOTONIC nanoseconds.
    pub end_monotonic_ns: u64,
    /// Chunks before this one.
    pub chunks: u64,
    pub streams: u64,
    pub dropped_buffers: u64,
    /// Bytes of records before compression.
    pub record_bytes: u64,
    /// Why recording ended, for people: `program ended`, `interrupted`, ...
    pub reason: String,
    /// What counting costs on this machine; none if nothing counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_costs: Option<StepCosts>,
}
