//! Whether a thread of a program that SIGSEGV ended had overflowed its stack. No trace records that. It follows from
//! how far below its first local variable the thread's last ones lay, or from how many calls were open.
//! docs/collectors.md, "The stack", states the rules.

mod open_calls;
mod records;
mod verdict;

use std::cmp::Reverse;

use trackway_trace::{ChunkRef, ProcessEvent, Program, SiteId, Stream, Trace};

use crate::Names;
use open_calls::OpenCalls;
use records::{Followed, Reader};
use verdict::Verdict;

/// Bytes of records to read, before compression and for all threads together. Reading them takes a quarter of a second.
/// Since a call leaves 4 bytes at least, it takes up to 200 MB. A stack of 32 MiB holds two million calls.
const MOST_RECORDS: u64 = 32 << 20;

/// What the system knew of the program when it had ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// The soft limit of its stack; threads without a size of their own have stacks of that size, too.
    pub stack_limit_bytes: u64,
    /// The most memory that the program had at a time.
    pub peak_memory_bytes: u64,
}

/// An overflow of a thread's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overflow {
    pub evidence: Evidence,
    /// The function that was called most often.
    pub function: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// It accessed its stack that far below its first frame.
    Reached {
        depth_bytes: u64,
        /// Where the function accessed it last: `prog.c:12`; none if unknown.
        place: Option<String>,
    },
    /// An overflow is likely, as this many calls were open.
    Deep {
        calls: u64,
        /// Whether these are all; if not, only the last records were read.
        is_all: bool,
        /// Bytes that a call takes, if it was an overflow.
        bytes_per_call: u64,
    },
}

/// The overflow that ended the trace's program, if one did.
pub fn find(trace: &Trace, circumstances: &Circumstances) -> Option<Overflow> {
    let streams = interrupted_streams(trace);
    let budget = MOST_RECORDS / (streams.len() as u64).max(1);
    let mut reader = Reader::new(trace);
    let mut verdicts: Vec<(Verdict, OpenCalls)> = streams
        .into_iter()
        .filter_map(|stream| {
            let Followed { top, calls, is_all } = reader.follow(stream, budget, circumstances)?;
            let verdict = verdict::of(top, &calls, is_all, circumstances)?;
            Some((verdict, calls))
        })
        .collect();
    verdicts.sort_by_key(|(verdict, _)| Reverse(verdict.certainty()));
    let (verdict, calls) = verdicts.into_iter().next()?;
    Some(describe(&verdict, &calls, trace.program()))
}

/// The program's streams that something interrupted before their threads could hand over their last records.
fn interrupted_streams(trace: &Trace) -> Vec<&Stream> {
    let starts = trace
        .processes()
        .iter()
        .filter(|(_, info)| info.event == ProcessEvent::Start && info.pid == trace.meta().pid);
    // Each exec starts another one.
    let Some(process) = starts.map(|(number, _)| *number).max() else {
        return Vec::new();
    };
    let has_gaps = |stream: &Stream| trace.gaps().iter().any(|gap| gap.stream == stream.id);
    let was_interrupted = |stream: &Stream| stream.chunks.last().is_some_and(|chunk| chunk.header.is_tail());
    let streams = trace.streams().iter();
    streams
        .filter(|stream| stream.process == process && was_interrupted(stream) && !has_gaps(stream))
        .collect()
}

/// The last chunks that hold at most this many bytes of records, but at least one chunk, and whether these are all.
fn last_chunks(chunks: &[ChunkRef], budget: u64) -> (&[ChunkRef], bool) {
    let mut bytes = 0u64;
    let is_left_out = |chunk: &ChunkRef| {
        let is_last = bytes == 0;
        bytes = bytes.saturating_add(u64::from(chunk.header.raw_length).max(1));
        !is_last && bytes > budget
    };
    let first = chunks
        .iter()
        .rposition(is_left_out)
        .map_or(0, |left_out| left_out + 1);
    let is_whole = first == 0 && chunks.first().is_some_and(|chunk| chunk.header.sequence == 0);
    (&chunks[first..], is_whole)
}

fn describe(verdict: &Verdict, calls: &OpenCalls, program: &Program) -> Overflow {
    let names = Names::new(program);
    match *verdict {
        Verdict::Reached { depth_bytes, site } => {
            // Rather than a small function that the recursive one calls.
            let site = calls.latest_site_of_most_open().unwrap_or(site);
            Overflow {
                evidence: Evidence::Reached {
                    depth_bytes,
                    place: place(program, site),
                },
                function: names.function_of(program.site(site)),
            }
        }
        Verdict::Deep {
            calls: count,
            is_all,
            bytes_per_call,
        } => Overflow {
            evidence: Evidence::Deep {
                calls: count,
                is_all,
                bytes_per_call,
            },
            function: match calls.most_open() {
                Some(function) => names.function(program.function(function).linkage_name),
                None => crate::UNKNOWN.to_owned(),
            },
        },
    }
}

fn place(program: &Program, site: SiteId) -> Option<String> {
    let location = program.location(program.site(site).location);
    let file = program.string(location.file);
    let file_name = file.rsplit('/').next().unwrap_or(file);
    (!file.is_empty() && location.line > 0).then(|| format!("{file_name}:{}", location.line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{ChunkFields, ChunkHeader, ChunkKind, Codec};

    fn chunk(sequence: u64, raw_length: u32) -> ChunkRef {
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Records)
        };
        ChunkRef {
            header: ChunkHeader::new(&fields, Codec::None, raw_length, &[]),
            offset: 0,
        }
    }

    #[test]
    fn the_last_chunks_within_the_budget_are_read() {
        let chunks: Vec<ChunkRef> = (0..4).map(|sequence| chunk(sequence, 100)).collect();
        let read = |budget| {
            let (read, is_all) = last_chunks(&chunks, budget);
            (read.len(), is_all)
        };
        assert_eq!(read(400), (4, true));
        assert_eq!(read(399), (3, false));
        assert_eq!(read(99), (1, false));
        let (read, is_all) = last_chunks(&chunks[1..], 400);
        assert_eq!((read.len(), is_all), (3, false));
        assert_eq!(last_chunks(&[], 400), (&[][..], false));
    }
}
