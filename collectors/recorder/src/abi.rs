//! Mirror of `collectors/runtime/abi.h`: what the runtime in the program and the recorder share in memory.
//! The test `abi` compares the two.

use std::sync::atomic::{AtomicU32, AtomicU64};

pub const ABI: u32 = 1;
pub const RING_MAGIC: u64 = 0x474E_4952_594B_5254;

pub const DROP_WHEN_FULL: u32 = 1;
pub const DUMP_ORACLE: u32 = 2;

pub const FREE: u32 = 0;
pub const OWNED: u32 = 1;
pub const FULL: u32 = 2;
pub const CLAIMED: u32 = 3;
pub const TAKEN: u32 = 4;

pub const KIND_MODULE: u32 = 2;
pub const KIND_RECORDS: u32 = 3;
pub const KIND_ORACLE_RECORDS: u32 = 5;

pub const FLAG_LAST: u32 = 2;
pub const FLAG_ABANDONED: u32 = 4;

/// No record is longer, so that many zero bytes end a swept buffer for certain.
pub const SLACK: usize = 4096;

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
    pub recorder_lock: RecorderLockWords,
    pub ids: Ids,
    pub full: FullSide,
    pub free: FreeSide,
    pub stop: Stop,
}

/// Room for a `pthread_mutex_t`.
#[repr(C, align(64))]
pub struct RecorderLockWords(pub [AtomicU32; 16]);

#[repr(C, align(64))]
pub struct Ids {
    pub next_segment_id: AtomicU32,
    pub next_stream: AtomicU32,
}

#[repr(C, align(64))]
pub struct FullSide {
    pub full_events: AtomicU32,
    pub full_waiters: AtomicU32,
    pub full_count: AtomicU32,
    pub buffers_used: AtomicU32,
}

#[repr(C, align(64))]
pub struct FreeSide {
    pub free_events: AtomicU32,
    pub free_waiters: AtomicU32,
}

#[repr(C, align(64))]
pub struct Stop {
    pub stopped: AtomicU32,
    pub reserved: AtomicU32,
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
    pub first_ns: AtomicU64,
    pub last_ns: AtomicU64,
    pub length: AtomicU32,
    pub dropped_before: AtomicU32,
    pub parent_pid: AtomicU32,
    pub image: AtomicU32,
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
