//! Reads what is needed of a thread's records.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use trackway_trace::{
    Batch, BatchItem, ChunkRef, Decoder, Event, FunctionId, Piece, Program, SiteId, Stream, Trace, TraceError,
};

use super::open_calls::{OpenCalls, Spot};
use super::{last_chunks, verdict, Circumstances};
use crate::model::blocks::{local_sites, Statics};

/// What a thread had done.
pub struct Followed {
    /// Its first access by way of a local variable.
    pub top: Option<u64>,
    pub calls: OpenCalls,
    /// Whether all of its records were read.
    pub is_all: bool,
}

pub struct Reader<'t> {
    decoder: Decoder<'t>,
    statics: Statics,
    sites: Sites,
}

struct Sites {
    functions: Vec<FunctionId>,
    local: Vec<bool>,
    /// Whether each function's entries are recorded.
    has_entries: Vec<bool>,
}

impl<'t> Reader<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let program = trace.program();
        Reader {
            decoder: Decoder::new(trace).with_runs(),
            statics: Statics::new(program),
            sites: Sites {
                functions: program.sites.iter().map(|site| site.function).collect(),
                local: local_sites(program),
                has_entries: functions_with_entries(program),
            },
        }
    }

    /// None if records are damaged.
    pub fn follow(
        &mut self,
        stream: &Stream,
        budget: u64,
        circumstances: &Circumstances,
    ) -> Option<Followed> {
        let first = stream.chunks.first()?;
        let top = self.first_on_stack(first).ok()?;
        let window = verdict::window(top, circumstances.stack_bytes(top).unwrap_or(0));
        let (chunks, is_all) = last_chunks(&stream.chunks, budget);
        let mut calls = OpenCalls::default();
        for chunk in chunks {
            let mut batches = self.decoder.decode(chunk).ok()?;
            while let Some(batch) = batches.next_batch().ok()? {
                self.sites.take(batch, &window, &mut calls);
            }
        }
        Some(Followed { top, calls, is_all })
    }

    /// The chunk's first access by way of a local variable to memory that is neither a static variable nor a block that
    /// was allocated in the chunk.
    fn first_on_stack(&mut self, chunk: &ChunkRef) -> Result<Option<u64>, TraceError> {
        let mut blocks = BTreeMap::new();
        let mut batches = self.decoder.decode(chunk)?;
        while let Some(batch) = batches.next_batch()? {
            for item in batch.items() {
                let piece = match item {
                    BatchItem::Event(event) => {
                        let allocated = event.allocated();
                        blocks.extend(allocated.map(|(begin, bytes)| (begin, begin.saturating_add(bytes))));
                        continue;
                    }
                    BatchItem::Accesses(piece) => piece,
                };
                let on_stack = accesses(batch, &piece).find(|(site, address)| {
                    let block = blocks.range(..=*address).next_back();
                    self.sites.local[site.index()]
                        && block.is_none_or(|(_, end)| address >= end)
                        && self.statics.find(*address).0.is_none()
                });
                if let Some((_, address)) = on_stack {
                    return Ok(Some(address));
                }
            }
        }
        Ok(None)
    }
}

impl Sites {
    fn take(&self, batch: &Batch, window: &RangeInclusive<u64>, calls: &mut OpenCalls) {
        for item in batch.all_items() {
            match item {
                BatchItem::Accesses(piece) => {
                    for (site, address) in accesses(batch, &piece) {
                        let is_spot = self.local[site.index()] && window.contains(&address);
                        let spot = is_spot.then_some(Spot { site, address });
                        let function = self.functions[site.index()];
                        match self.has_entries[function.index()] {
                            true => calls.access(function, spot),
                            false => calls.access_within(function, spot),
                        }
                    }
                }
                BatchItem::Event(Event::Enter(function)) => calls.enter(function),
                BatchItem::Event(Event::Exit(function)) => calls.exit(function),
                BatchItem::Event(_) => {}
            }
        }
    }
}

/// Site and address of each access; for a run, those of its last iteration.
fn accesses<'b>(batch: &'b Batch, piece: &Piece<'b>) -> impl Iterator<Item = (SiteId, u64)> + 'b {
    let (range, lanes, last) = match piece {
        Piece::Accesses(range) => (range.clone(), &[][..], 0),
        Piece::Run(run) => (0..0, batch.lanes(run), run.count - 1),
    };
    let columns = range.map(|index| (batch.site[index], batch.address[index]));
    columns.chain(lanes.iter().map(move |lane| (lane.site, lane.address_in(last))))
}

fn functions_with_entries(program: &Program) -> Vec<bool> {
    let mut has_entries = vec![false; program.functions.len()];
    for module in program.modules.iter().filter(|module| module.calls) {
        for function in module.functions.clone() {
            has_entries[function as usize] = true;
        }
    }
    has_entries
}
