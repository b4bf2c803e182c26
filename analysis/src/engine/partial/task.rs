//! Doing tasks.

use trackway_trace::{Batch, ChunkRef, Decoder, MergedStreams, Trace};

use super::sieve::Sieve;
use super::{Partial, PartialError, Partitioned, Portable, Task};
use crate::engine::order_audit::order_table;
use crate::engine::{decoder_for, feed, start_shard, take_merged};
use crate::{Findings, RunSummary};

/// Runs one task of a plan with this many parts. Returns what it found, and passes the accesses that it sifted to
/// `emit`.
pub fn run_task<A: Portable>(
    analysis: &A,
    trace: &Trace,
    parts: u32,
    task: &Task,
    emit: &mut dyn FnMut(Partitioned),
) -> Result<Partial<A::Shard>, PartialError> {
    let work = Work {
        analysis,
        trace,
        parts,
    };
    match *task {
        Task::Range {
            stream,
            first,
            end,
            counts,
            sifts,
        } => {
            let (before, chunks) = chunks(trace, stream, first, end)?;
            let sieve = sifts.then(|| work.sieve(stream, first));
            Ok(work.range(before, chunks, counts, sieve, emit))
        }
        Task::SiftMerged => Ok(work.sift_merged(emit)),
        Task::Stream { stream } => {
            let end = trace
                .stream(stream)
                .map_or(0, |stream| stream.chunks.len() as u64);
            let (_, chunks) = chunks(trace, stream, 0, end)?;
            Ok(work.whole_stream(chunks))
        }
        Task::Merged => Ok(work.merged()),
    }
}

/// The tables of what all tasks found together.
pub fn finish<A: Portable>(analysis: &A, trace: &Trace, all: Partial<A::Shard>) -> (Findings, RunSummary) {
    let shard = all.shard.unwrap_or_else(|| start_shard(analysis, trace));
    let mut findings = analysis.finish(shard, trace);
    let mut summary = all.summary;
    match all.exactness {
        Some(exactness) => findings.tables.push(order_table(&exactness, trace)),
        None => summary.damage.sort_by_key(|error| error.offset()),
    }
    (findings, summary)
}

/// The chunks before the range, and the chunks of the range.
fn chunks(
    trace: &Trace,
    stream: u32,
    first: u64,
    end: u64,
) -> Result<(&[ChunkRef], &[ChunkRef]), PartialError> {
    let all = trace.stream(stream).map_or(&[][..], |stream| &stream.chunks);
    let range = usize::try_from(first).ok().zip(usize::try_from(end).ok());
    range
        .filter(|(first, end)| first <= end && *end <= all.len())
        .map(|(first, end)| (&all[..first], &all[first..end]))
        .ok_or(PartialError::NoSuchChunks { stream, first, end })
}

struct Work<'w, A> {
    analysis: &'w A,
    trace: &'w Trace,
    parts: u32,
}

impl<A: Portable> Work<'_, A> {
    fn sieve(&self, stream: u32, first: u64) -> Sieve {
        let lines = self.analysis.division().lines;
        let (shift, times) = lines.map_or((0, false), |lines| (lines.shift, lines.times));
        let sites = self.trace.program().sites.len();
        Sieve::new(shift, self.parts, times, sites, stream, first)
    }

    fn range(
        &self,
        before: &[ChunkRef],
        chunks: &[ChunkRef],
        counts: bool,
        mut sieve: Option<Sieve>,
        emit: &mut dyn FnMut(Partitioned),
    ) -> Partial<A::Shard> {
        let mut decoder = decoder_for(self.analysis, self.trace);
        let mut shard = counts.then(|| self.range_shard(&mut decoder, before));
        let mut summary = RunSummary::default();
        for chunk in chunks {
            let batches = decoder.decode(chunk);
            let taken = batches.and_then(|mut batches| {
                while let Some(batch) = batches.next_batch()? {
                    summary.add_batch(batch);
                    if let Some(shard) = &mut shard {
                        self.analysis.take_batch(shard, batch);
                    }
                    if let Some(sieve) = &mut sieve {
                        sieve.take(batch, emit);
                    }
                }
                Ok(())
            });
            summary.damage.extend(taken.err());
            summary.chunks += 1;
        }
        if let Some(sieve) = sieve {
            sieve.finish(emit);
        }
        Partial {
            shard,
            summary,
            exactness: None,
        }
    }

    /// A shard that knows what came just before the range.
    fn range_shard(&self, decoder: &mut Decoder, before: &[ChunkRef]) -> A::Shard {
        let lead_in = self.analysis.division().ranges.map_or(0, |ranges| ranges.lead_in);
        let mut known = 0;
        let mut from = before.len();
        while known < lead_in && from > 0 {
            from -= 1;
            known += accesses(decoder, &before[from]);
        }
        let mut shard = self.start_range();
        for chunk in &before[from..] {
            // What is damaged is counted by the task whose range it is.
            let _ = decoder.decode(chunk).and_then(|mut batches| {
                feed(
                    self.analysis,
                    &mut batches,
                    &mut shard,
                    &mut RunSummary::default(),
                )
            });
        }
        self.analysis.end_lead_in(&mut shard);
        self.analysis.take_program(&mut shard, self.trace.program());
        shard
    }

    fn sift_merged(&self, emit: &mut dyn FnMut(Partitioned)) -> Partial<A::Shard> {
        let mut sieve = self.sieve(0, 0);
        let counts = self.analysis.division().ranges.is_some();
        let mut shard = counts.then(|| self.start_range());
        let partial = self.in_order(|batch| {
            if let Some(shard) = &mut shard {
                self.analysis.take_batch(shard, batch);
            }
            sieve.take(batch, emit);
        });
        sieve.finish(emit);
        Partial { shard, ..partial }
    }

    fn start_range(&self) -> A::Shard {
        let mut shard = self.analysis.start_range();
        self.analysis.take_program(&mut shard, self.trace.program());
        shard
    }

    fn merged(&self) -> Partial<A::Shard> {
        let mut shard = start_shard(self.analysis, self.trace);
        let partial = self.in_order(|batch| self.analysis.take_batch(&mut shard, batch));
        Partial {
            shard: Some(shard),
            ..partial
        }
    }

    /// Gives all batches in one order to `take`.
    fn in_order(&self, mut take: impl FnMut(&Batch)) -> Partial<A::Shard> {
        let mut merged = MergedStreams::new(self.trace);
        let summary = take_merged(&mut merged, self.trace, &|_: u64, _: u64| (), |batch| take(batch));
        Partial {
            shard: None,
            summary,
            exactness: Some(merged.exactness().clone()),
        }
    }

    fn whole_stream(&self, chunks: &[ChunkRef]) -> Partial<A::Shard> {
        let mut decoder = decoder_for(self.analysis, self.trace);
        let mut shard = start_shard(self.analysis, self.trace);
        let mut summary = RunSummary::default();
        for chunk in chunks {
            let batches = decoder.decode(chunk);
            let taken =
                batches.and_then(|mut batches| feed(self.analysis, &mut batches, &mut shard, &mut summary));
            summary.damage.extend(taken.err());
            summary.chunks += 1;
        }
        Partial {
            shard: Some(shard),
            summary,
            exactness: None,
        }
    }
}

fn accesses(decoder: &mut Decoder, chunk: &ChunkRef) -> u64 {
    let mut count = 0u64;
    let _ = decoder.decode(chunk).and_then(|mut batches| {
        while let Some(batch) = batches.next_batch()? {
            count = count.saturating_add(batch.access_count());
        }
        Ok(())
    });
    count
}
