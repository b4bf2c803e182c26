//! Mirror of `collectors/ring/abi.h`: what the runtime in the program and the recorder share in memory.
//! The tests below compare the two.

use std::sync::atomic::{AtomicU32, AtomicU64};

pub const ABI: u32 = 7;
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
pub const KIND_COUNTS: u32 = 10;
pub const KIND_DEFINITIONS: u32 = 11;
pub const KIND_ALLOCATIONS: u32 = 13;
pub const KIND_MAPPINGS: u32 = 15;

pub const FLAG_LAST: u32 = 2;
pub const FLAG_ABANDONED: u32 = 4;
pub const FLAG_MONOTONIC: u32 = 8;

pub const HARDWARE_EVENTS: usize = 4;

/// No record is longer, so that many zero bytes end a swept buffer for certain.
pub const SLACK: usize = 4096;

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
mod tests {
    use std::fmt::Write;
    use std::mem::offset_of;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// What a C program that includes the header prints for `expressions`.
    fn values_in_c(expressions: &[&str]) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("print.c"), folder.path().join("print"));
        let mut text =
            "#include \"abi.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
        for expression in expressions {
            writeln!(text, "printf(\"%llu\\n\", (unsigned long long)({expression}));").unwrap();
        }
        std::fs::write(&source, text + "}\n").unwrap();
        let compiler = std::env::var_os("TRACKWAY_CLANG").unwrap_or("clang-19".into());
        let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ring");
        let mut compile = Command::new(compiler);
        compile.arg("-I").arg(ring).arg(&source).arg("-o").arg(&program);
        assert!(compile.status().unwrap().success());
        let output = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        output.lines().map(|line| line.parse().unwrap()).collect()
    }

    fn compare(pairs: &[(&str, u64)]) {
        let (expressions, expected): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let actual = values_in_c(&expressions);
        for ((expression, expected), actual) in expressions.iter().zip(expected).zip(actual) {
            assert_eq!(actual, expected, "{expression}");
        }
    }

    macro_rules! offsets {
        ($c:literal, $rust:ty, $($field:literal = $($path:ident).+),* $(,)?) => {
            compare(&[
                (concat!("sizeof(struct ", $c, ")"), size_of::<$rust>() as u64),
                $((concat!("offsetof(struct ", $c, ", ", $field, ")"), offset_of!($rust, $($path).+) as u64),)*
            ])
        };
    }

    #[test]
    fn the_ring_is_the_headers() {
        offsets!(
            "trackway_ring",
            RingHeader,
            "magic" = magic,
            "abi" = abi,
            "flags" = flags,
            "total_size" = total_size,
            "buffer_size" = buffer_size,
            "buffer_count" = buffer_count,
            "buffer_table_offset" = buffer_table_offset,
            "stream_table_offset" = stream_table_offset,
            "data_offset" = data_offset,
            "stream_count" = stream_count,
            "full_limit" = full_limit,
            "count_every" = count_every,
            "count_cost" = count_cost,
            "hardware_count" = hardware_count,
            "stack_frames" = stack_frames,
            "hardware" = hardware,
            "recorder_thread" = life.recorder_thread,
            "next_segment_id" = ids.next_segment_id,
            "next_stream" = ids.next_stream,
            "pending_forks" = ids.pending_forks,
            "full_events" = full.full_events,
            "wake_at" = full.wake_at,
            "full_count" = full.full_count,
            "buffers_used" = full.buffers_used,
            "free_events" = free.free_events,
            "free_waiters" = free.free_waiters,
            "stopped" = stop.stopped,
        );
    }

    #[test]
    fn buffers_and_streams_are_the_headers() {
        offsets!(
            "trackway_buffer",
            Buffer,
            "state" = state,
            "kind" = kind,
            "stream" = stream,
            "pid" = pid,
            "tid" = tid,
            "flags" = flags,
            "sequence" = sequence,
            "first_ticks" = first_ticks,
            "last_ticks" = last_ticks,
            "length" = length,
            "dropped_before" = dropped_before,
            "parent_pid" = parent_pid,
            "image" = image,
        );
        offsets!(
            "trackway_counts",
            Counts,
            "node" = node,
            "parent" = parent,
            "thread" = thread,
            "image" = image,
            "entries" = entries,
            "counted_entries" = counted_entries,
            "counted_ticks" = counted_ticks,
            "timed_entries" = timed_entries,
            "timed_ticks" = timed_ticks,
            "entered_ticks" = entered_ticks,
            "flags" = flags,
            "name" = name,
            "measured_entries" = measured_entries,
            "hardware_entries" = hardware_entries,
            "hardware" = hardware,
        );
        offsets!(
            "trackway_hardware_event",
            HardwareEvent,
            "config" = config,
            "type" = kind,
            "in_kernel" = in_kernel,
        );
        offsets!(
            "trackway_stream",
            StreamSlot,
            "oracle_count" = oracle_count,
            "oracle_hash" = oracle_hash,
            "dropped" = dropped,
            "pid" = pid,
            "image" = image,
        );
    }

    #[test]
    fn constants_are_the_headers() {
        compare(&[
            ("TRACKWAY_ABI", ABI.into()),
            ("TRACKWAY_RING_MAGIC", RING_MAGIC),
            ("TRACKWAY_SLACK", SLACK as u64),
            ("TRACKWAY_HARDWARE_EVENTS", HARDWARE_EVENTS as u64),
            ("TRACKWAY_DROP_WHEN_FULL", DROP_WHEN_FULL.into()),
            ("TRACKWAY_DUMP_ORACLE", DUMP_ORACLE.into()),
            ("TRACKWAY_FREE", FREE.into()),
            ("TRACKWAY_OWNED", OWNED.into()),
            ("TRACKWAY_FULL", FULL.into()),
            ("TRACKWAY_CLAIMED", CLAIMED.into()),
            ("TRACKWAY_TAKEN", TAKEN.into()),
            ("TRACKWAY_MODULE", KIND_MODULE.into()),
            ("TRACKWAY_RECORDS", KIND_RECORDS.into()),
            ("TRACKWAY_ORACLE_RECORDS", KIND_ORACLE_RECORDS.into()),
            ("TRACKWAY_COUNTS", KIND_COUNTS.into()),
            ("TRACKWAY_DEFINITIONS", KIND_DEFINITIONS.into()),
            ("TRACKWAY_ALLOCATIONS", KIND_ALLOCATIONS.into()),
            ("TRACKWAY_MAPPINGS", KIND_MAPPINGS.into()),
            ("TRACKWAY_LAST", FLAG_LAST.into()),
            ("TRACKWAY_ABANDONED", FLAG_ABANDONED.into()),
            ("TRACKWAY_MONOTONIC", FLAG_MONOTONIC.into()),
        ]);
    }
}
