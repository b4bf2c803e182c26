//! Compares the mirror with the header: each constant, and each member of each struct, by place and size.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::mem::{offset_of, MaybeUninit};
use std::path::{Path, PathBuf};
use std::process::Command;

use trackway_trace as trace;

use super::*;
use names::names_of_header;

/// What only the pass and the runtime share, both of which include the header.
const BETWEEN_PASS_AND_RUNTIME: [&str; 11] = [
    "trackway_module",
    "trackway_cells",
    "trackway_thread",
    "trackway_counting",
    "trackway_region",
    "trackway_callee",
    "TRACKWAY_UNRECORDED",
    "TRACKWAY_COUNTS_NOT",
    "TRACKWAY_COUNTS_NOW",
    "TRACKWAY_NOT_BEGUN",
    "TRACKWAY_DORMANT_NAME", // text: the next test
];

/// A constant has its value twice, a struct its size and alignment, a member its offset and size.
type Numbers = (u64, u64);
/// By name: `CONSTANT`, `struct` or `struct.member`.
type Mirror = BTreeMap<&'static str, Numbers>;

fn folder_of_header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ring")
}

fn size_of_pointee<T>(_: *const T) -> u64 {
    size_of::<T>() as u64
}

macro_rules! structure {
    ($mirror:ident, $c:literal, $rust:ty, $($member:literal = $($path:ident).+),* $(,)?) => {
        $mirror.insert($c, (size_of::<$rust>() as u64, align_of::<$rust>() as u64));
        let place = MaybeUninit::<$rust>::uninit();
        $(
            // SAFETY: the pointer is only made, never read through.
            let size = size_of_pointee(unsafe { &raw const (*place.as_ptr()).$($path).+ });
            $mirror.insert(concat!($c, ".", $member), (offset_of!($rust, $($path).+) as u64, size));
        )*
    };
}

fn add_ring(mirror: &mut Mirror) {
    structure!(
        mirror,
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
        "waited_ns" = free.waited_ns,
        "stopped" = stop.stopped,
        "slow_us" = stop.slow_us,
        "window" = windows.window,
        "windows" = windows.windows,
        "marks" = windows.marks,
        "mark_offset" = windows.mark_offset,
        "session" = windows.session,
        "regions_switch" = windows.regions_switch,
        "stack_offset" = windows.stack_offset,
        "closed_ticks" = closings.closed_ticks,
        "regions_open" = regions.regions_open,
        "only_regions" = regions.only_regions,
        "region_holders" = holders.region_holders,
    );
    structure!(
        mirror,
        "trackway_mark",
        Mark,
        "ready" = ready,
        "kind" = kind,
        "window" = window,
        "cause" = cause,
        "pid" = pid,
        "tid" = tid,
        "ticks" = ticks,
        "flags" = flags,
        "text" = text,
    );
    structure!(
        mirror,
        "trackway_hardware_event",
        HardwareEvent,
        "config" = config,
        "type" = kind,
        "in_kernel" = in_kernel,
    );
}

fn add_buffers_and_streams(mirror: &mut Mirror) {
    structure!(
        mirror,
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
    structure!(
        mirror,
        "trackway_stream",
        StreamSlot,
        "oracle_count" = oracle_count,
        "oracle_hash" = oracle_hash,
        "dropped" = dropped,
        "pid" = pid,
        "image" = image,
    );
}

fn add_counts(mirror: &mut Mirror) {
    structure!(
        mirror,
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
}

fn constants() -> impl Iterator<Item = (&'static str, u64)> {
    let narrow = [
        ("TRACKWAY_ABI", ABI),
        ("TRACKWAY_RECORDER_DIED", RECORDER_DIED),
        ("TRACKWAY_DROP_WHEN_FULL", DROP_WHEN_FULL),
        ("TRACKWAY_DUMP_ORACLE", DUMP_ORACLE),
        ("TRACKWAY_KEEPS_NEWEST", KEEPS_NEWEST),
        ("TRACKWAY_HAS_WINDOWS", HAS_WINDOWS),
        ("TRACKWAY_FREE", FREE),
        ("TRACKWAY_OWNED", OWNED),
        ("TRACKWAY_FULL", FULL),
        ("TRACKWAY_CLAIMED", CLAIMED),
        ("TRACKWAY_TAKEN", TAKEN),
        ("TRACKWAY_MODULE", KIND_MODULE),
        ("TRACKWAY_RECORDS", KIND_RECORDS),
        ("TRACKWAY_ORACLE_RECORDS", KIND_ORACLE_RECORDS),
        ("TRACKWAY_COUNTS", KIND_COUNTS),
        ("TRACKWAY_DEFINITIONS", KIND_DEFINITIONS),
        ("TRACKWAY_ALLOCATIONS", KIND_ALLOCATIONS),
        ("TRACKWAY_MAPPINGS", KIND_MAPPINGS),
        ("TRACKWAY_LAST", FLAG_LAST),
        ("TRACKWAY_ABANDONED", FLAG_ABANDONED),
        ("TRACKWAY_MONOTONIC", FLAG_MONOTONIC),
        ("TRACKWAY_ENDING", FLAG_ENDING),
        ("TRACKWAY_SESSION_SHIFT", SESSION_SHIFT),
        ("TRACKWAY_OPENS", MARK_OPENS),
        ("TRACKWAY_CLOSES", MARK_CLOSES),
        ("TRACKWAY_TEXT", MARK_TEXT),
        ("TRACKWAY_SNAPSHOT", MARK_SNAPSHOT),
        ("TRACKWAY_BY_PROGRAM", BY_PROGRAM),
        ("TRACKWAY_BY_CONTROL", BY_CONTROL),
        ("TRACKWAY_BY_TIME", BY_TIME),
        ("TRACKWAY_BY_BURST", BY_BURST),
        ("TRACKWAY_BY_SIZE", BY_SIZE),
        ("TRACKWAY_BY_REGION", BY_REGION),
        ("TRACKWAY_BY_ACCESSES", BY_ACCESSES),
        ("TRACKWAY_BY_EVEN_BURST", BY_EVEN_BURST),
        ("TRACKWAY_REGION_GLOBS", REGION_GLOBS as u32),
        ("TRACKWAY_REGION_HOLDERS", REGION_HOLDERS as u32),
        ("TRACKWAY_REGIONS_LOCKED", REGIONS_LOCKED),
    ];
    let wide = [
        ("TRACKWAY_RING_MAGIC", RING_MAGIC),
        ("TRACKWAY_SLACK", SLACK as u64),
        ("TRACKWAY_CELL_BYTES", CELL_BYTES as u64),
        ("TRACKWAY_HARDWARE_EVENTS", HARDWARE_EVENTS as u64),
        ("TRACKWAY_MARKS", MARKS as u64),
        ("TRACKWAY_CLOSINGS", CLOSINGS as u64),
        ("TRACKWAY_ENTRY_IS_COUNTED", trace::COUNTED_ENTRY),
        ("TRACKWAY_WHOLE_PROGRAM", trace::WHOLE_PROGRAM),
        ("TRACKWAY_TICKS_ARE_NANOSECONDS", trace::NANOSECONDS),
        ("TRACKWAY_INHERITED", trace::INHERITED),
    ];
    let widened = narrow.map(|(name, value)| (name, u64::from(value)));
    widened.into_iter().chain(wide)
}

fn mirror() -> Mirror {
    let mut mirror: Mirror = constants().map(|(name, value)| (name, (value, value))).collect();
    add_ring(&mut mirror);
    add_buffers_and_streams(&mut mirror);
    add_counts(&mut mirror);
    mirror
}

/// The expressions in C for the numbers that belong to a name.
fn expressions(name: &str) -> [String; 2] {
    match name.split_once('.') {
        Some((structure, member)) => [
            format!("offsetof(struct {structure}, {member})"),
            format!("sizeof(((struct {structure} *)0)->{member})"),
        ],
        None if name.starts_with("TRACKWAY_") => [name.into(), name.into()],
        None => [
            format!("sizeof(struct {name})"),
            format!("_Alignof(struct {name})"),
        ],
    }
}

/// What a C program that includes the header prints for each name.
fn numbers_in_c<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Numbers> {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("print.c"), folder.path().join("print"));
    let mut text =
        "#include \"abi.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for name in names {
        let [first, second] = expressions(name);
        writeln!(
            text,
            "printf(\"%llu %llu\\n\", (unsigned long long)({first}), (unsigned long long)({second}));"
        )
        .unwrap();
    }
    std::fs::write(&source, text + "}\n").unwrap();
    let compiler = std::env::var_os("TRACKWAY_CLANG").unwrap_or("clang-22".into());
    let mut compile = Command::new(compiler);
    compile
        .arg("-I")
        .arg(folder_of_header())
        .arg(&source)
        .arg("-o")
        .arg(&program);
    assert!(compile.status().unwrap().success());
    let output = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
    let numbers = |line: &str| {
        let (first, second) = line.split_once(' ').unwrap();
        (first.parse().unwrap(), second.parse().unwrap())
    };
    output.lines().map(numbers).collect()
}

fn only_between_pass_and_runtime(name: &str) -> bool {
    let of = name.split('.').next().unwrap();
    BETWEEN_PASS_AND_RUNTIME.contains(&of)
}

#[test]
fn each_name_of_the_header_is_mirrored() {
    let text = std::fs::read_to_string(folder_of_header().join("abi.h")).unwrap();
    let header = names_of_header(&text);
    for name in BETWEEN_PASS_AND_RUNTIME {
        assert!(header.contains(name), "abi.h no longer has {name}");
    }
    let shared: BTreeSet<&str> = header
        .iter()
        .map(String::as_str)
        .filter(|name| !only_between_pass_and_runtime(name))
        .collect();
    let mirrored: BTreeSet<&str> = mirror().into_keys().collect();
    let missing: Vec<_> = shared.difference(&mirrored).collect();
    assert!(missing.is_empty(), "abi.h has {missing:?}, which abi.rs lacks");
    let surplus: Vec<_> = mirrored.difference(&shared).collect();
    assert!(surplus.is_empty(), "abi.rs has {surplus:?}, which abi.h lacks");
}

#[test]
fn the_dormant_page_has_the_headers_name() {
    let text = std::fs::read_to_string(folder_of_header().join("abi.h")).unwrap();
    assert!(text.contains(&format!("#define TRACKWAY_DORMANT_NAME \"{DORMANT_NAME}\"\n")));
}

#[test]
fn all_numbers_are_the_headers() {
    let mirror = mirror();
    let in_c = numbers_in_c(mirror.keys().copied());
    assert_eq!(in_c.len(), mirror.len());
    for ((name, ours), in_c) in mirror.iter().zip(in_c) {
        assert_eq!(*ours, in_c, "{name}");
    }
}

#[test]
fn as_many_hardware_events_fit_a_node_as_the_format_says() {
    assert_eq!(HARDWARE_EVENTS, trace::HARDWARE_EVENTS);
    assert_eq!(size_of::<Counts>(), trace::NODE_HEAD_LENGTH);
}
