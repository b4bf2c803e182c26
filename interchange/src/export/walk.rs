//! Walks over a trace: instructions and accesses, in the order of each thread.

use std::collections::HashMap;
use std::io;

use trackway_trace::machine::{InstructionsInStep, OperandCounts};
use trackway_trace::{
    Batch, ChunkRef, Decoder, InstructionId, MergedStreams, ProcessEvent, Site, SiteId, Stream, Trace,
    TraceError,
};

use super::{Access, Code, Executed, Format};

/// A thread with numbers like those that a system gives. A trace holds numbers of processes only. A process's first
/// thread has its number, and the other threads get the numbers after the largest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadId {
    /// Number of the stream in the trace.
    pub stream: u32,
    pub process: u32,
    pub thread: u32,
}

/// The threads of a trace, in the order of its streams.
pub fn thread_ids(trace: &Trace) -> Vec<ThreadId> {
    let number_of = |process: u32| {
        let started = trace.processes().iter();
        let mut started =
            started.filter(|(number, info)| *number == process && info.event == ProcessEvent::Start);
        started
            .next_back()
            .map(|(_, info)| info.pid)
            .filter(|pid| *pid != 0)
    };
    let processes: Vec<u32> = trace
        .streams()
        .iter()
        .map(|stream| number_of(stream.process).unwrap_or(stream.process + 1))
        .collect();
    let mut next = processes.iter().max().copied().unwrap_or(0).wrapping_add(1);
    let mut known = Vec::new();
    let mut threads = Vec::new();
    for (stream, process) in trace.streams().iter().zip(processes) {
        let is_first = !known.contains(&process);
        known.push(process);
        let thread = if is_first { process } else { next };
        next = next.wrapping_add(u32::from(!is_first));
        threads.push(ThreadId {
            stream: stream.id,
            process,
            thread,
        });
    }
    threads
}

/// How a trace is read.
pub struct Walk<'w> {
    pub trace: &'w Trace,
    /// The one thread to export; else all threads are exported in their merged order.
    pub stream: Option<&'w Stream>,
    /// Is called with the accesses of chunks, and their bytes after decompression.
    pub progress: &'w dyn Fn(u64, u64),
    /// Gets what could not be read; the rest is exported.
    pub damage: &'w mut dyn FnMut(&TraceError),
}

/// How much was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub accesses: u64,
    /// The accesses that functions of libraries made.
    pub by_library: u64,
}

impl Exported {
    /// Which share of the accesses library functions made.
    pub fn share_by_library(&self) -> f64 {
        self.by_library as f64 / self.accesses.max(1) as f64
    }

    pub fn add(&mut self, other: Exported) {
        self.accesses += other.accesses;
        self.by_library += other.by_library;
    }
}

/// Writes what a trace holds as `format`.
pub fn export(walk: Walk, format: &mut dyn Format) -> io::Result<Exported> {
    let counts = OperandCounts::of(walk.trace);
    let mut threads = Threads::new(walk.trace, &counts, walk.progress, walk.damage);
    match walk.stream {
        Some(stream) => threads.stream(stream, format)?,
        None => threads.merged(format)?,
    }
    threads.finish(format)?;
    Ok(threads.exported)
}

struct Threads<'t, 'w> {
    trace: &'t Trace,
    sites: Vec<KnownSite>,
    threads: HashMap<u32, Thread<'t>>,
    progress: &'w dyn Fn(u64, u64),
    damage: &'w mut dyn FnMut(&TraceError),
    /// Whether there is machine code.
    has_code: bool,
    exported: Exported,
}

/// What exports need to know of a site.
#[derive(Clone, Copy, Default)]
struct KnownSite {
    reads: bool,
    writes: bool,
    unknown_size: bool,
    /// It belongs to machine code.
    code: bool,
}

/// How far one thread has been read.
struct Thread<'t> {
    id: ThreadId,
    /// Chunks that are still to come.
    chunks: &'t [ChunkRef],
    /// Sequence number of the chunk that has begun.
    sequence: Option<u64>,
    instructions: InstructionsInStep<'t>,
    present: Option<Code>,
    accesses: Vec<Access>,
    time_ns: u64,
    /// The times at the border between the chunks before and after the present instruction. They follow the next
    /// block's first instruction, since an import ends a block where the next one begins. It would take times before
    /// that instruction for times within the block.
    times: Vec<u64>,
    times_behind_present: Vec<u64>,
    /// When the latest chunk ended.
    last_ns: Option<u64>,
}

impl<'t, 'w> Threads<'t, 'w> {
    fn new(
        trace: &'t Trace,
        counts: &'t OperandCounts,
        progress: &'w dyn Fn(u64, u64),
        damage: &'w mut dyn FnMut(&TraceError),
    ) -> Self {
        let streams = trace.streams().iter().zip(thread_ids(trace));
        let threads = streams.map(|(stream, id)| {
            let thread = Thread {
                id,
                chunks: &stream.chunks,
                sequence: None,
                instructions: InstructionsInStep::new(trace, counts),
                present: None,
                accesses: Vec::new(),
                time_ns: 0,
                times: Vec::new(),
                times_behind_present: Vec::new(),
                last_ns: None,
            };
            (stream.id, thread)
        });
        Threads {
            trace,
            sites: known_sites(trace),
            threads: threads.collect(),
            progress,
            damage,
            has_code: !trace.program().instructions.is_empty(),
            exported: Exported::default(),
        }
    }

    fn stream(&mut self, stream: &'t Stream, format: &mut dyn Format) -> io::Result<()> {
        self.threads.retain(|id, _| *id == stream.id);
        let mut decoder = Decoder::new(self.trace);
        for chunk in &stream.chunks {
            let mut batches = match decoder.decode(chunk) {
                Ok(batches) => batches,
                Err(error) => {
                    (self.damage)(&error);
                    continue;
                }
            };
            loop {
                match batches.next_batch() {
                    Ok(Some(batch)) => self.batch(batch, format)?,
                    Ok(None) => break,
                    Err(error) => {
                        (self.damage)(&error);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn merged(&mut self, format: &mut dyn Format) -> io::Result<()> {
        let mut merged = MergedStreams::new(self.trace);
        loop {
            match merged.next_batch() {
                Ok(Some(batch)) => self.batch(batch, format)?,
                Ok(None) => return Ok(()),
                Err(error) => (self.damage)(&error),
            }
        }
    }

    fn batch(&mut self, batch: &Batch, format: &mut dyn Format) -> io::Result<()> {
        let Some(thread) = self.threads.get_mut(&batch.stream) else {
            return Ok(());
        };
        if thread.sequence != Some(batch.sequence) {
            thread.begin(self.trace, batch, self.has_code, format, self.progress)?;
        }
        (self.progress)(batch.len() as u64, 0);
        self.exported.add(Exported {
            accesses: batch.len() as u64,
            by_library: batch.by_library.len() as u64,
        });
        thread.time_ns = thread.time_ns.max(batch.first_ns);
        for index in 0..batch.len() {
            let site = batch.site[index];
            let known = self.sites.get(site.index()).copied().unwrap_or_default();
            let access = Access {
                site,
                address: batch.address[index],
                size: batch.length(index).max(1),
                reads: known.reads,
                writes: known.writes,
                unknown_size: known.unknown_size,
            };
            match known.code {
                true => thread.access_of_code(self.trace, access, format)?,
                false => thread.access_alone(access, format)?,
            }
        }
        Ok(())
    }

    /// Writes what follows the last accesses.
    fn finish(&mut self, format: &mut dyn Format) -> io::Result<()> {
        let mut rest: Vec<u32> = self.threads.keys().copied().collect();
        rest.sort_unstable();
        for stream in rest {
            if let Some(thread) = self.threads.get_mut(&stream) {
                thread.end(self.trace, self.has_code, format, self.progress)?;
            }
        }
        Ok(())
    }
}

fn known_sites(trace: &Trace) -> Vec<KnownSite> {
    let program = trace.program();
    let known = |site: &Site| KnownSite {
        reads: site.kind.reads(),
        writes: site.kind.writes(),
        ..KnownSite::default()
    };
    let mut sites: Vec<KnownSite> = program.sites.iter().map(known).collect();
    let modules = program
        .modules
        .iter()
        .filter(|module| !module.instructions.is_empty());
    for site in modules.flat_map(|module| module.sites.clone()) {
        let known = &mut sites[site as usize];
        known.code = true;
        known.unknown_size = program.is_size_unknown(SiteId(site));
    }
    sites
}

impl<'t> Thread<'t> {
    /// Ends the present chunk and those without accesses, and begins the batch's.
    fn begin(
        &mut self,
        trace: &'t Trace,
        batch: &Batch,
        has_code: bool,
        format: &mut dyn Format,
        progress: &dyn Fn(u64, u64),
    ) -> io::Result<()> {
        self.rest_of_chunk(trace, format)?;
        while let Some((chunk, rest)) = self.chunks.split_first() {
            self.chunks = rest;
            self.begin_chunk(chunk, has_code, format, progress)?;
            if chunk.header.sequence >= batch.sequence {
                break;
            }
            self.rest_of_chunk(trace, format)?;
        }
        self.sequence = Some(batch.sequence);
        Ok(())
    }

    fn begin_chunk(
        &mut self,
        chunk: &'t ChunkRef,
        has_code: bool,
        format: &mut dyn Format,
        progress: &dyn Fn(u64, u64),
    ) -> io::Result<()> {
        progress(0, u64::from(chunk.header.raw_length));
        self.time_ns = self.time_ns.max(chunk.header.first_ns);
        let (first_ns, last_ns) = (chunk.header.first_ns, chunk.header.last_ns);
        self.times
            .extend(self.last_ns.filter(|before| *before != first_ns));
        self.times.push(first_ns);
        self.last_ns = Some(last_ns);
        if self.present.is_none() {
            self.tell_times(format)?;
        }
        if has_code {
            // What can't be read has no accesses either, and the decoder reports why.
            let _ = self.instructions.begin_chunk(chunk);
        }
        Ok(())
    }

    fn end(
        &mut self,
        trace: &'t Trace,
        has_code: bool,
        format: &mut dyn Format,
        progress: &dyn Fn(u64, u64),
    ) -> io::Result<()> {
        self.rest_of_chunk(trace, format)?;
        while let Some((chunk, rest)) = self.chunks.split_first() {
            self.chunks = rest;
            self.begin_chunk(chunk, has_code, format, progress)?;
            self.rest_of_chunk(trace, format)?;
        }
        self.emit(None, format)?;
        self.tell_times(format)
    }

    fn rest_of_chunk(&mut self, trace: &Trace, format: &mut dyn Format) -> io::Result<()> {
        while let Ok(Some(instruction)) = self.instructions.next_instruction() {
            self.instruction(trace, instruction, format)?;
        }
        Ok(())
    }

    fn access_of_code(&mut self, trace: &Trace, access: Access, format: &mut dyn Format) -> io::Result<()> {
        let accessing = trace.program().instruction_of_site(access.site);
        while let Ok(Some(instruction)) = self.instructions.next_before_access(accessing) {
            self.instruction(trace, instruction, format)?;
        }
        match self.present {
            Some(_) => {
                self.accesses.push(access);
                Ok(())
            }
            None => self.access_alone(access, format),
        }
    }

    fn access_alone(&mut self, access: Access, format: &mut dyn Format) -> io::Result<()> {
        let code = Code::of_site(access.site);
        self.emit(Some(code.address), format)?;
        self.tell_times(format)?;
        format.executed(&Executed {
            thread: self.id,
            code,
            next: None,
            accesses: &[access],
            time_ns: self.time_ns,
        })
    }

    fn instruction(&mut self, trace: &Trace, id: InstructionId, format: &mut dyn Format) -> io::Result<()> {
        let program = trace.program();
        let instruction = program.instruction(id);
        let base = program
            .extent_of_object(instruction.object)
            .map_or(0, |extent| extent.start);
        let code = Code {
            address: base.wrapping_add(instruction.offset),
            length: instruction.length,
            kind: instruction.kind,
            made_up: false,
        };
        self.emit(Some(code.address), format)?;
        self.present = Some(code);
        std::mem::swap(&mut self.times, &mut self.times_behind_present);
        Ok(())
    }

    /// Ends the present instruction.
    fn emit(&mut self, next: Option<u64>, format: &mut dyn Format) -> io::Result<()> {
        let Some(code) = self.present.take() else {
            return Ok(());
        };
        format.executed(&Executed {
            thread: self.id,
            code,
            next,
            accesses: &self.accesses,
            time_ns: self.time_ns,
        })?;
        self.accesses.clear();
        self.times_behind_present
            .drain(..)
            .try_for_each(|ns| format.time(ns))
    }

    fn tell_times(&mut self, format: &mut dyn Format) -> io::Result<()> {
        self.times.drain(..).try_for_each(|ns| format.time(ns))
    }
}
