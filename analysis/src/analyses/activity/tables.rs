//! Accesses by thread and time, the scale of time, and the gaps.

use std::cmp::Reverse;

use trackway_report::{counted, Table, TableBuilder};
use trackway_trace::{Gap, GapReason, Trace};

use super::bins::Bins;
use super::ActivityShard;

/// Threads of the table: those with the most accesses.
const MAX_THREADS: usize = 64;
/// Rows of the table of gaps.
const MAX_GAPS: usize = 1000;

struct Cell {
    stream: u32,
    bin: usize,
    accesses: u64,
}

pub(super) fn tables(bins: &Bins, shard: &ActivityShard, trace: &Trace) -> Vec<Table> {
    let start_ns = trace.meta().start_monotonic_ns;
    let mut tables = vec![activity(shard), axis(bins, shard, start_ns)];
    tables.extend(gaps(trace, start_ns));
    tables
}

fn activity(shard: &ActivityShard) -> Table {
    let sum = |counts: &[u64]| counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    let mut streams: Vec<(&u32, &Vec<u64>)> = shard.streams.iter().collect();
    streams.sort_by_key(|(_, counts)| Reverse(sum(counts)));
    let cut = match streams.len() > MAX_THREADS {
        true => format!(", {MAX_THREADS} of {}", counted(streams.len() as u64, "thread")),
        false => String::new(),
    };
    streams.truncate(MAX_THREADS);
    streams.sort();
    let cells = |(&stream, counts): (&u32, &Vec<u64>)| {
        let filled = counts
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, accesses)| accesses > 0);
        let cells: Vec<Cell> = filled
            .map(|(bin, accesses)| Cell {
                stream,
                bin,
                accesses,
            })
            .collect();
        cells
    };
    let cells: Vec<Cell> = streams.into_iter().flat_map(cells).collect();
    TableBuilder::new("activity", format!("Accesses over time{cut}"), &cells)
        .number("stream", |cell| cell.stream)
        .number("time_bin", |cell| cell.bin)
        .count("accesses", |cell| cell.accesses)
        .build()
}

fn axis(bins: &Bins, shard: &ActivityShard, start_ns: u64) -> Table {
    TableBuilder::new("activity_axis", "Scale of time", &[()])
        .count(("first_us", "begin of the first bin, µs"), |()| {
            bins.first_ns.saturating_sub(start_ns) / 1000
        })
        .count(("bin_ns", "length of a bin, ns"), |()| bins.bin_ns)
        .count("bins", |()| bins.count())
        .count(("without_time", "accesses without a time"), |()| {
            shard.without_time
        })
        .as_record()
        .build()
}

/// None if there are none.
fn gaps(trace: &Trace, start_ns: u64) -> Option<Table> {
    let gaps = &trace.gaps()[..trace.gaps().len().min(MAX_GAPS)];
    let since_start = |time_ns: u64| (time_ns > 0).then(|| time_ns.saturating_sub(start_ns) / 1000);
    let table = TableBuilder::new("gaps", "Gaps", gaps)
        .number("stream", |gap| gap.stream)
        .count(("first_us", "from, µs"), |gap| since_start(begin_ns(trace, gap)))
        .count(("last_us", "until, µs"), |gap| since_start(gap.last_ns))
        .count("dropped_buffers", |gap| gap.dropped_buffers)
        .text("reason", |gap| reason(gap.reason))
        .build();
    (!gaps.is_empty()).then_some(table)
}

/// Beginning of the gap. If the trace doesn't say it, the end of the stream's last chunk before it; otherwise 0.
fn begin_ns(trace: &Trace, gap: &Gap) -> u64 {
    if gap.first_ns > 0 {
        return gap.first_ns;
    }
    let chunks = trace.stream(gap.stream).map_or(&[][..], |stream| &stream.chunks);
    let behind = chunks.partition_point(|chunk| chunk.header.sequence < gap.before_sequence);
    let before = chunks[..behind].last();
    before.map_or(0, |chunk| chunk.header.last_ns.min(gap.last_ns))
}

fn reason(reason: GapReason) -> &'static str {
    match reason {
        GapReason::RingFull => "the ring was full",
        GapReason::WriteFailed => "the trace could not be written",
        GapReason::RecordingStopped => "recording ended first, or a thread was cancelled within a record",
        GapReason::Damaged => "the program overwrote memory of the recording",
        GapReason::Other(_) => "unknown",
    }
}
