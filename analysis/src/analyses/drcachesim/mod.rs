//! Simulates the caches of DynamoRIO's drcachesim, by its rules, from traces of machine code. Each core has a cache for
//! instructions and one for data, and all cores share the last one. `docs/interchange.md` states the differences from
//! the model of [`crate::model::cache`].

mod cache;
mod cores;
mod settings;
mod tables;

use trackway_trace::machine::{CodeStep, CodeSteps, OperandCounts};
use trackway_trace::{ChunkRef, InstructionId, SiteId, Stream, Trace, TraceError};

use crate::{Findings, Observer, RunSummary};
use cores::Cores;
pub use settings::{Settings, SettingsError};

/// Simulates the whole trace. Cores take turns, one step each; a core's threads follow each other.
pub fn run(settings: &Settings, trace: &Trace, observer: &dyn Observer) -> (Findings, RunSummary) {
    let counts = OperandCounts::of(trace);
    let mut cores = Cores::new(settings);
    let mut summary = RunSummary::default();
    let mut queues: Vec<Queue> = (0..settings.cores as usize)
        .map(|core| Queue::of_core(core, settings, trace, &counts))
        .collect();
    let mut is_going = true;
    while is_going && !observer.is_stopped() {
        is_going = false;
        for (core, queue) in queues.iter_mut().enumerate() {
            if let Some(step) = queue.next(&mut summary, observer) {
                take(trace, &mut cores, core, step, &mut summary);
                is_going = true;
            }
        }
    }
    summary.damage.sort_by_key(TraceError::offset);
    let threads = queues.into_iter().map(|queue| queue.threads).collect::<Vec<_>>();
    let findings = Findings {
        answer: tables::answer(&cores),
        tables: vec![tables::caches(settings, &cores, &threads)],
    };
    (findings, summary)
}

fn take(trace: &Trace, cores: &mut Cores, core: usize, step: CodeStep, summary: &mut RunSummary) {
    match step {
        CodeStep::Instruction(id) => {
            if let Some((address, length)) = fetched(trace, id) {
                cores.fetch(core, address, length);
            }
        }
        CodeStep::Access {
            site,
            address,
            length,
        } => {
            summary.accesses += 1;
            cores.access(core, address, size_of(trace, site, length));
        }
    }
}

fn fetched(trace: &Trace, id: InstructionId) -> Option<(u64, u64)> {
    let program = trace.program();
    let instruction = program.instruction(id);
    if !instruction.kind.is_fetched() {
        return None;
    }
    let base = program
        .extent_of_object(instruction.object)
        .map_or(0, |extent| extent.start);
    Some((base.wrapping_add(instruction.offset), instruction.length.into()))
}

/// drmemtrace says 0 where it doesn't know a size, and simulates that.
fn size_of(trace: &Trace, site: SiteId, length: u64) -> u64 {
    match trace.program().is_size_unknown(site) {
        true => 0,
        false => length,
    }
}

/// The threads of one core.
struct Queue<'t> {
    trace: &'t Trace,
    counts: &'t OperandCounts,
    /// Numbers of their streams.
    threads: Vec<u32>,
    waiting: std::vec::IntoIter<&'t Stream>,
    present: Option<CodeSteps<'t>>,
    /// Chunks of the present thread that haven't begun.
    chunks: &'t [ChunkRef],
}

impl<'t> Queue<'t> {
    fn of_core(core: usize, settings: &Settings, trace: &'t Trace, counts: &'t OperandCounts) -> Self {
        let streams = trace.streams().iter().skip(core).step_by(settings.cores as usize);
        let streams: Vec<&Stream> = streams.collect();
        Queue {
            trace,
            counts,
            threads: streams.iter().map(|stream| stream.id).collect(),
            waiting: streams.into_iter(),
            present: None,
            chunks: &[],
        }
    }

    fn next(&mut self, summary: &mut RunSummary, observer: &dyn Observer) -> Option<CodeStep> {
        loop {
            if let Some(steps) = &mut self.present {
                let step = steps.next_step();
                let left = steps.chunks_left();
                let begun = &self.chunks[..self.chunks.len() - left.len()];
                for chunk in begun {
                    summary.chunks += 1;
                    observer.advance(0, chunk.header.raw_length.into());
                }
                self.chunks = left;
                match step {
                    Ok(Some(step)) => return Some(step),
                    Ok(None) => self.present = None,
                    Err(error) => summary.damage.push(error),
                }
            } else {
                let stream = self.waiting.next()?;
                self.chunks = &stream.chunks;
                self.present = Some(CodeSteps::new(self.trace, &stream.chunks, self.counts));
            }
        }
    }
}
