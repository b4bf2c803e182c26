//! Mirror of `collectors/ring/abi.h`: what the runtime in the program and the recorder share in memory.
//! A test compares the two (`against_header.rs`), and fails if the header has a name that is missing here.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8};

/// The runtime interface. A program that was built for another one runs unrecorded.
pub const ABI: u32 = 11;
pub const RING_MAGIC: u64 = 0x474E_4952_594B_5254;

/// The kernel's name for the object that a program makes which runs without a recorder.
pub const DORMANT_NAME: &str = "trackway-dormant";

pub const DROP_WHEN_FULL: u32 = 1;
pub const DUMP_ORACLE: u32 = 2;
pub const KEEPS_NEWEST: u32 = 4;
pub const HAS_WINDOWS: u32 = 8;

/// The kernel sets it in `recorder_thread` when the recorder ends.
#[cfg(test)]
pub const RECORDER_DIED: u32 = 0x4000_0000;

pub const FREE: u32 = 0;
pub const OWNED: u32 = 1;
pub const FULL: u32 = 2;
pub const CLAIMED: u32 = 3;
pub const TAKEN: u32 = 4;

pub const KIND_MODULE: u32 = 2;
pub const KIND_RECORDS: u32 = 3;
pub const KIND_ORACLE_RECORDS: u32 = 5;
pub const KIND_COUNTS: u32 = 10;
pub const KIND_DEFINITIONS: u32 = 11;
pub const KIND_ALLOCATIONS: u32 = 13;
pub const KIND_MAPPINGS: u32 = 15;

pub const FLAG_LAST: u32 = 2;
pub const FLAG_ABANDONED: u32 = 4;
pub const FLAG_MONOTONIC: u32 = 8;
pub const FLAG_ENDING: u32 = 16;
pub const SESSION_SHIFT: u32 = 16;

pub const HARDWARE_EVENTS: usize = 4;
/// Entries of the table of marks.
pub const MARKS: usize = 256;
/// Windows whose closing times are kept.
pub const CLOSINGS: usize = 32;

pub const MARK_OPENS: u32 = 1;
pub const MARK_CLOSES: u32 = 2;
pub const MARK_TEXT: u32 = 3;
pub const MARK_SNAPSHOT: u32 = 4;

pub const BY_PROGRAM: u32 = 1;
pub const BY_CONTROL: u32 = 2;
pub const BY_TIME: u32 = 3;
pub const BY_BURST: u32 = 4;
pub const BY_SIZE: u32 = 5;
pub const BY_REGION: u32 = 6;
pub const BY_ACCESSES: u32 = 7;
pub const BY_EVEN_BURST: u32 = 8;
/// Bytes of the globs of regions.
pub const REGION_GLOBS: usize = 252;
/// Processes that may be in regions at a time and are known by their ids.
pub const REGION_HOLDERS: usize = 256;
pub const REGIONS_LOCKED: u32 = 0x8000_0000;

/// No record is longer, so that many zero bytes end a swept buffer for certain.
pub const SLACK: usize = 4096;

/// Bytes at the end of a buffer that records don't reach.
pub const CELL_BYTES: usize = 4 * 512 + 8 * 256;

/// `struct trackway_hardware_event`
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HardwareEvent {
    pub config: u64,
    pub kind: u32,
    pub in_kernel: u32,
}

/// `struct trackway_ring`
#[repr(C)]
pub struct RingHeader {
    pub magic: u64,
    pub abi: u32,
    pub flags: u32,
    pub total_size: u64,
    pub buffer_size: u32,
    pub buffer_count: u32,
    pub buffer_table_offset: u64,
    pub stream_table_offset: u64,
    pub data_offset: u64,
    pub stream_count: u32,
    pub full_limit: u32,
    pub count_every: u32,
    pub count_cost: u32,
    pub hardware_count: u32,
    pub stack_frames: u32,
    pub hardware: [HardwareEvent; HARDWARE_EVENTS],
    pub life: Life,
    pub ids: Ids,
    pub full: FullSide,
    pub free: FreeSide,
    pub stop: Stop,
    pub windows: Windows,
    pub closings: Closings,
    pub regions: Regions,
    pub holders: Holders,
}

#[repr(C, align(64))]
pub struct Life {
    pub recorder_thread: AtomicU32,
}

#[repr(C, align(64))]
pub struct Ids {
    pub next_segment_id: AtomicU32,
    pub next_stream: AtomicU32,
    pub pending_forks: AtomicU32,
}

#[repr(C, align(64))]
pub struct FullSide {
    pub full_events: AtomicU32,
    pub wake_at: AtomicU32,
    pub full_count: AtomicU32,
    pub buffers_used: AtomicU32,
}

#[repr(C, align(64))]
pub struct FreeSide {
    pub free_events: AtomicU32,
    pub free_waiters: AtomicU32,
    pub waited_ns: AtomicU64,
}

#[repr(C, align(64))]
pub struct Stop {
    pub stopped: AtomicU32,
    pub slow_us: AtomicU32,
}

#[repr(C, align(64))]
pub struct Windows {
    pub window: AtomicU32,
    pub windows: AtomicU32,
    pub marks: AtomicU32,
    pub mark_offset: AtomicU32,
    pub session: AtomicU32,
    pub regions_switch: AtomicU32,
    pub stack_offset: AtomicU32,
}

#[repr(C, align(64))]
pub struct Closings {
    pub closed_ticks: [AtomicU64; CLOSINGS],
}

#[repr(C, align(64))]
pub struct Regions {
    pub regions_open: AtomicU32,
    pub only_regions: [AtomicU8; REGION_GLOBS],
}

#[repr(C, align(64))]
pub struct Holders {
    pub region_holders: [AtomicU64; REGION_HOLDERS],
}

/// `struct trackway_mark`
#[repr(C)]
pub struct Mark {
    pub ready: AtomicU32,
    pub kind: AtomicU32,
    pub window: AtomicU32,
    pub cause: AtomicU32,
    pub pid: AtomicU32,
    pub tid: AtomicU32,
    pub ticks: AtomicU64,
    pub flags: AtomicU32,
    pub text: [AtomicU8; 92],
}

/// `struct trackway_buffer`
#[repr(C)]
pub struct Buffer {
    pub state: AtomicU32,
    pub kind: AtomicU32,
    pub stream: AtomicU32,
    pub pid: AtomicU32,
    pub tid: AtomicU32,
    pub flags: AtomicU32,
    pub sequence: AtomicU64,
    pub first_ticks: AtomicU64,
    pub last_ticks: AtomicU64,
    pub length: AtomicU32,
    pub dropped_before: AtomicU32,
    pub parent_pid: AtomicU32,
    pub image: AtomicU32,
}

/// `struct trackway_counts`: with what a buffer of counts begins.
#[repr(C)]
pub struct Counts {
    pub node: AtomicU32,
    pub parent: AtomicU32,
    pub thread: AtomicU32,
    pub image: AtomicU32,
    pub entries: AtomicU64,
    pub counted_entries: AtomicU64,
    pub counted_ticks: AtomicU64,
    pub timed_entries: AtomicU64,
    pub timed_ticks: AtomicU64,
    pub entered_ticks: AtomicU64,
    pub flags: AtomicU64,
    pub name: [u8; 136],
    pub measured_entries: AtomicU64,
    pub hardware_entries: AtomicU64,
    pub hardware: [AtomicU64; HARDWARE_EVENTS],
}

/// `struct trackway_stream`
#[repr(C)]
pub struct StreamSlot {
    pub oracle_count: AtomicU64,
    pub oracle_hash: AtomicU64,
    pub dropped: AtomicU64,
    pub pid: AtomicU32,
    pub image: AtomicU32,
}

#[cfg(test)]
mod against_header;
