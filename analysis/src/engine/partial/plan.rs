//! Into which tasks the work on a trace is divided.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use trackway_trace::{ChunkRef, Trace};

use super::{Division, Portable};
use crate::Order;

/// A unit of work for one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Takes a range of the chunks of a stream, by their positions.
    Range {
        stream: u32,
        first: u64,
        end: u64,
        /// Counts what any range finds by itself.
        counts: bool,
        /// Deals the accesses out to parts.
        sifts: bool,
    },
    /// Takes all streams in one order, counts what any range finds by itself, and deals the accesses out to parts.
    SiftMerged,
    /// Takes all chunks of a stream.
    Stream { stream: u32 },
    /// Takes all streams in one order.
    Merged,
}

/// Everything that has to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub tasks: Vec<Task>,
    /// How many parts of the lines there are; 1 if nothing is sifted.
    pub parts: u32,
}

/// Divides the work into about this many tasks, and lines into at most as many parts.
pub fn plan<A: Portable>(analysis: &A, trace: &Trace, count: NonZeroUsize) -> Plan {
    let division = analysis.division();
    let merges = analysis.order() == Order::AcrossThreads;
    let (counts, sifts) = (division.ranges.is_some(), division.lines.is_some());
    let tasks = match (merges, counts || sifts) {
        (true, _) if sifts => vec![Task::SiftMerged],
        (false, true) => ranges(trace, count)
            .map(|(stream, range)| Task::Range {
                stream,
                first: range.start,
                end: range.end,
                counts,
                sifts,
            })
            .collect(),
        (true, _) => vec![Task::Merged],
        (false, false) => streams(trace),
    };
    Plan {
        tasks,
        parts: parts(&division, count),
    }
}

/// A power of two; more parts than tasks would be of no use.
fn parts(division: &Division, count: NonZeroUsize) -> u32 {
    let Some(lines) = division.lines else {
        return 1;
    };
    let wanted = u32::try_from(count.get()).unwrap_or(u32::MAX);
    1 << lines.most_parts.min(wanted).max(2).ilog2()
}

/// The longest first.
fn streams(trace: &Trace) -> Vec<Task> {
    let streams = trace.streams().iter().filter(|stream| !stream.chunks.is_empty());
    let mut streams: Vec<_> = streams.collect();
    streams.sort_by_cached_key(|stream| Reverse(ChunkRef::raw_bytes(&stream.chunks)));
    streams
        .into_iter()
        .map(|stream| Task::Stream { stream: stream.id })
        .collect()
}

/// Ranges of about equally many bytes of records, of one stream each.
fn ranges(trace: &Trace, count: NonZeroUsize) -> impl Iterator<Item = (u32, Range<u64>)> {
    let total: u64 = trace
        .streams()
        .iter()
        .map(|stream| ChunkRef::raw_bytes(&stream.chunks))
        .sum();
    let share = total.div_ceil(count.get() as u64).max(1);
    let mut ranges = Vec::new();
    for stream in trace.streams() {
        let mut first = 0;
        let mut bytes = 0;
        for (position, chunk) in (0u64..).zip(&stream.chunks) {
            bytes += u64::from(chunk.header.raw_length);
            if bytes >= share {
                ranges.push((stream.id, first..position + 1));
                (first, bytes) = (position + 1, 0);
            }
        }
        let end = stream.chunks.len() as u64;
        if first < end {
            ranges.push((stream.id, first..end));
        }
    }
    ranges.into_iter()
}
