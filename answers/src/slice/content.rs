//! What of a trace a verb reads, which decides what a slice may choose and must hold.

use trackway_trace::allocations::{AllocationEvent, AllocationEvents};
use trackway_trace::{BatchItem, ChunkKind, Decoder, Event, Trace};

/// What a verb reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Content {
    /// Accesses or samples.
    #[default]
    Accesses,
    /// The same and blocks of memory: the allocations among a program's records.
    Blocks,
    /// Calls of allocators in streams of their own.
    Calls,
    /// All of these.
    Tables,
}

impl Content {
    fn has_accesses(self) -> bool {
        self != Content::Calls
    }

    fn has_blocks(self) -> bool {
        matches!(self, Content::Blocks | Content::Tables)
    }

    fn has_calls(self) -> bool {
        matches!(self, Content::Calls | Content::Tables)
    }

    /// Fails if what the trace has of it isn't known to lie in regions or not.
    pub fn check_regions(self, trace: &Trace) -> Result<(), String> {
        let what = match self {
            Content::Calls => "calls of allocators",
            _ if trace.is_sampled() => "samples",
            _ if trace.program().is_machine_code() => "unmodified binaries",
            Content::Tables if trace.holds_only_allocations() => "calls of allocators",
            _ => return Ok(()),
        };
        Err(format!(
            "--region: recordings of {what} don't say which regions threads are in; those of programs that `trackway cc` \
             compiled do"
        ))
    }

    /// Fails if the trace has none of it, or options can't choose from it.
    pub fn check(self, trace: &Trace, chooses_functions: bool) -> Result<(), String> {
        if trace.holds_only_counts() {
            return Err("this trace holds counts of the whole run, of which there are no slices".into());
        }
        if trace.holds_only_allocations() && !trace.is_sampled() && !self.has_calls() {
            return Err("this trace holds calls of allocators, of which there are no slices".into());
        }
        let has_others = trace.is_sampled() || !trace.allocation_streams().is_empty();
        match self {
            Content::Accesses | Content::Blocks if chooses_functions && !has_records(trace) => {
                Err("--function: samples can't be chosen by function".into())
            }
            Content::Tables if chooses_functions && has_others => Err(
                "--function: samples and calls of allocators can't be chosen by function; choose their rows by the column \
                 function"
                    .into(),
            ),
            _ => Ok(()),
        }
    }

    /// Whether blocks can be chosen by the function that allocates them, even if it makes no access.
    pub fn takes_allocating_functions(self) -> bool {
        self.has_blocks()
    }

    /// Numbers of streams, and of sampled threads the system's.
    pub fn threads(self, trace: &Trace) -> Vec<u32> {
        let mut threads = Vec::new();
        if self.has_accesses() {
            let streams = trace.streams().iter().filter(|stream| !stream.chunks.is_empty());
            threads.extend(streams.map(|stream| stream.id));
        }
        if self == Content::Tables || self.has_accesses() && threads.is_empty() {
            let (chunks, _) = trace.samples();
            let samples = chunks.iter().flat_map(|chunk| &chunk.samples);
            threads.extend(samples.map(|sample| sample.tid));
        }
        if self.has_calls() {
            threads.extend(trace.allocation_streams().iter().map(|calls| calls.stream));
        }
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Whether the trace's slice has any of it.
    pub fn is_in(self, trace: &Trace) -> bool {
        self.has_accesses() && (has_access(trace, self.has_blocks()) || has_sample(trace))
            || self.has_calls() && has_call(trace)
    }
}

fn has_records(trace: &Trace) -> bool {
    trace.streams().iter().any(|stream| !stream.chunks.is_empty())
}

/// Whether there is an access or, if they count, an allocation or release.
fn has_access(trace: &Trace, counts_blocks: bool) -> bool {
    let mut decoder = Decoder::new(trace).with_runs();
    let mut chunks = trace.streams().iter().flat_map(|stream| &stream.chunks);
    let is_block = |item: BatchItem| match item {
        BatchItem::Event(
            Event::Allocate { site, .. } | Event::Reallocate { site, .. } | Event::Free { site, .. },
        ) => trace
            .slice()
            .is_none_or(|slice| slice.keeps_allocation_site(site)),
        _ => false,
    };
    chunks.any(|chunk| {
        let Ok(mut batches) = decoder.decode(chunk) else {
            return false;
        };
        while let Ok(Some(batch)) = batches.next_batch() {
            if batch.access_count() > 0 || counts_blocks && batch.items().any(is_block) {
                return true;
            }
        }
        false
    })
}

fn has_sample(trace: &Trace) -> bool {
    let mut samples = trace.chunks_of(ChunkKind::Samples);
    samples.any(|chunk| {
        let read = trace.read_samples(chunk);
        read.is_ok_and(|read| !read.samples.is_empty())
    })
}

fn has_call(trace: &Trace) -> bool {
    let is_inside = |event: &AllocationEvent| trace.slice().is_none_or(|slice| slice.keeps_call(event));
    let mut events = AllocationEvents::new(trace);
    loop {
        match events.next_event() {
            Ok(Some(event)) if is_inside(&event) => return true,
            Ok(None) => return false,
            // What can't be read is no call of the slice.
            Ok(Some(_)) | Err(_) => {}
        }
    }
}
