//! Whether a thread of a program that SIGSEGV ended had overflowed its stack. No trace records that. It follows from
//! how far below its first local variable the thread's last ones lay, or from how many calls were open.
//! docs/collectors/stack-and-signals.md states the rules.

mod open_calls;
mod records;
mod verdict;

use std::cmp::Reverse;
use std::ops::Range;

use trackway_trace::{ChunkRef, ProcessEvent, Program, SiteId, Stream, Trace};

use crate::Names;
use open_calls::OpenCalls;
use records::{Followed, Reader};
use verdict::Verdict;

/// Bytes of records to read, before compression and for all threads together. Reading them takes a quarter of a second.
/// Since a call leaves 4 bytes at least, it takes up to 200 MB. A stack of 32 MiB holds two million calls.
const MOST_RECORDS: u64 = 32 << 20;
/// The same of processes that the program started. The trace doesn't say how they ended, and most ended well: so only
/// the last records are read, which show whether the end of a stack was reached.
const MOST_RECORDS_OF_CHILDREN: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// What is known of the program besides its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstances {
    /// The soft limit of its stack; threads without a size of their own have stacks of that size, too. None if there was
    /// none.
    pub stack_limit_bytes: Option<u64>,
    /// Memory right above a guard page: stacks of threads, of whatever size, and perhaps other memory.
    pub thread_stacks: Vec<Range<u64>>,
    /// The most memory that the program had at a time; 0 if unknown.
    pub peak_memory_bytes: u64,
    /// Whether SIGSEGV ended a process that the program started, as a shell does, instead of the program itself.
    pub in_child: bool,
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
        /// How large the stack is.
        size_bytes: u64,
        depth_bytes: u64,
        /// Where the function accessed it last: `prog.c:12`; none if unknown.
        place: Option<String>,
    },
    /// An overflow is likely, as this many calls were open.
    Deep {
        /// How large the stack is.
        size_bytes: u64,
        calls: u64,
        /// Whether these are all; if not, only the last records were read.
        is_all: bool,
        /// Bytes that a call takes, if it was an overflow.
        bytes_per_call: u64,
    },
    /// Whether it was one is unknown, as the size of the thread's stack is.
    UnknownStack {
        calls: u64,
        /// As above.
        is_all: bool,
    },
}

impl Overflow {
    /// Whether the thread accessed the end of its stack.
    pub fn is_sure(&self) -> bool {
        matches!(self.evidence, Evidence::Reached { .. })
    }
}

/// The overflow that ended the trace's program, or a process that it started, if one did.
pub fn find(trace: &Trace, circumstances: &Circumstances) -> Option<Overflow> {
    let streams = interrupted_streams(trace, circumstances.in_child);
    let most = match circumstances.in_child {
        true => MOST_RECORDS_OF_CHILDREN,
        false => MOST_RECORDS,
    };
    let budget = most / (streams.len() as u64).max(1);
    let mut reader = Reader::new(trace);
    let mut verdicts: Vec<(Verdict, OpenCalls)> = streams
        .into_iter()
        .filter_map(|stream| {
            let Followed { top, calls, is_all } = reader.follow(stream, budget, circumstances)?;
            let verdict = circumstances
                .stack_bytes(top)
                .and_then(|size| verdict::of(top, &calls, is_all, size, circumstances.peak_memory_bytes));
            let may_have_another_stack =
                !is_first(trace, stream) && circumstances.thread_stack(top).is_none();
            let verdict = match verdict {
                None if may_have_another_stack => verdict::of_unknown_stack(&calls, is_all),
                verdict => verdict,
            }?;
            Some((verdict, calls))
        })
        .collect();
    verdicts.sort_by_key(|(verdict, _)| Reverse(verdict.certainty()));
    let (verdict, calls) = verdicts.into_iter().next()?;
    Some(describe(&verdict, &calls, trace.program()))
}

impl Circumstances {
    /// The size of the stack on which a thread first accessed a local variable; none if it is unknown.
    fn stack_bytes(&self, top: Option<u64>) -> Option<u64> {
        self.thread_stack(top).or(self.stack_limit_bytes)
    }

    /// The same if it was seen.
    fn thread_stack(&self, top: Option<u64>) -> Option<u64> {
        let top = top?;
        let stack = self.thread_stacks.iter().find(|stack| stack.contains(&top))?;
        // The kernel may have joined the mapping with one above it.
        Some(top.checked_next_multiple_of(PAGE)? - stack.start)
    }
}

/// The streams of the program, or of its children, that something interrupted before their threads could hand over their
/// last records.
fn interrupted_streams(trace: &Trace, in_child: bool) -> Vec<&Stream> {
    let processes = dead_processes(trace, in_child);
    let has_gaps = |stream: &Stream| trace.gaps().iter().any(|gap| gap.stream == stream.id);
    let was_interrupted = |stream: &Stream| stream.chunks.last().is_some_and(|chunk| chunk.header.is_tail());
    let streams = trace.streams().iter();
    streams
        .filter(|stream| processes.contains(&stream.process) && was_interrupted(stream) && !has_gaps(stream))
        .collect()
}

/// The numbers of the processes one of which died.
fn dead_processes(trace: &Trace, in_child: bool) -> Vec<u32> {
    let starts = trace.processes().iter();
    let starts = starts.filter(|(_, info)| info.event == ProcessEvent::Start);
    let is_program = |pid| pid == trace.meta().pid;
    let found = starts.filter(|(_, info)| is_program(info.pid) != in_child);
    let numbers = found.map(|(number, _)| *number);
    match in_child {
        true => numbers.collect(),
        // Each exec starts another one.
        false => numbers.max().into_iter().collect(),
    }
}

/// Whether it is its process' first one: mostly the main thread's.
fn is_first(trace: &Trace, stream: &Stream) -> bool {
    let streams = trace.streams().iter();
    let earlier = streams.filter(|other| other.process == stream.process && other.id < stream.id);
    earlier.count() == 0
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
    let most_open = || match calls.most_open() {
        Some(function) => names.function(program.function(function).linkage_name),
        None => crate::UNKNOWN.to_owned(),
    };
    let (evidence, function) = match *verdict {
        Verdict::Reached {
            size_bytes,
            depth_bytes,
            site,
        } => {
            // Rather than a small function that the recursive one calls.
            let site = calls.latest_site_of_most_open().unwrap_or(site);
            let place = place(program, site);
            let evidence = Evidence::Reached {
                size_bytes,
                depth_bytes,
                place,
            };
            (evidence, names.function_of(program.site(site)))
        }
        Verdict::Deep {
            size_bytes,
            calls,
            is_all,
            bytes_per_call,
        } => {
            let evidence = Evidence::Deep {
                size_bytes,
                calls,
                is_all,
                bytes_per_call,
            };
            (evidence, most_open())
        }
        Verdict::UnknownStack { calls, is_all } => (Evidence::UnknownStack { calls, is_all }, most_open()),
    };
    Overflow { evidence, function }
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
    fn a_threads_stack_is_known_by_its_guard_page() {
        let mut circumstances = Circumstances {
            stack_limit_bytes: Some(8 << 20),
            thread_stacks: vec![0x7000_0000..0x7010_0000, 0x7020_1000..0x7030_0000],
            peak_memory_bytes: 0,
            in_child: false,
        };
        assert_eq!(circumstances.stack_bytes(Some(0x702f_f123)), Some(0xf_f000));
        assert_eq!(circumstances.stack_bytes(Some(0x702f_0000)), Some(0xe_f000));
        assert_eq!(circumstances.stack_bytes(Some(0x7018_0000)), Some(8 << 20));
        assert_eq!(circumstances.stack_bytes(None), Some(8 << 20));
        circumstances.stack_limit_bytes = None;
        assert_eq!(circumstances.stack_bytes(Some(0x7018_0000)), None);
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
