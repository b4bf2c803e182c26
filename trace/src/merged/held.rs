//! The batches of the chunk in which a cursor stands.

use std::collections::VecDeque;
use std::sync::Arc;

use super::allocations::Allocations;
use super::points::{add_points, points, Point};
use crate::decoder::Suspended;
use crate::slice::{event_bytes, keep, ChunkCut, ChunkPosition, Kept, Sliced};
use crate::{Batch, ChunkRef, Decoder, Trace, TraceError};

/// Batches that all cursors together may hold, of about 150 KiB each. A chunk that doesn't fit is decoded twice.
const MOST_BATCHES: usize = 512;

/// Decodes chunks for all cursors, as they were before they are cut to the trace's slice: between two points accesses are
/// evenly spread, whether the slice has them or not.
pub(super) struct Supply<'t> {
    trace: &'t Trace,
    sliced: Option<&'t Sliced>,
    /// Whether allocations before the slice's end are kept though they lie outside.
    from_start: bool,
    /// To be filled with what the slice has of a batch.
    kept: Batch,
    decoder: Decoder<'t>,
    /// Finds the points of chunks whose batches aren't held.
    scanner: Decoder<'t>,
    /// Empty ones, to be filled again.
    spare: Vec<Batch>,
    /// Batches that may still be held.
    room: usize,
}

/// What comes next of a chunk.
pub(super) enum Held<'t> {
    /// All that is left of it, and the error that ends it.
    Batches {
        batches: VecDeque<Batch>,
        error: Option<TraceError>,
    },
    /// A decoder of the cursor's own, which needs less memory.
    Decoder(Box<(Decoder<'t>, Suspended)>),
}

impl<'t> Supply<'t> {
    pub fn new(trace: &'t Trace, from_start: bool) -> Self {
        Supply {
            trace,
            sliced: trace.cuts(),
            from_start,
            kept: Batch::default(),
            decoder: Decoder::uncut(trace),
            scanner: Decoder::uncut(trace).with_runs(),
            spare: Vec::new(),
            room: MOST_BATCHES,
        }
    }

    /// What the trace's slice leaves of the chunk; none if there is no slice.
    pub fn cut(&self, chunk: &ChunkRef) -> Option<Arc<ChunkCut>> {
        Some(self.sliced?.cut(self.trace, chunk))
    }

    /// Cuts a batch, which begins there in its chunk.
    pub fn keep(&mut self, cut: &ChunkCut, first: ChunkPosition, batch: &mut Batch) {
        let sites = self.sliced.and_then(Sliced::sites);
        if !cut.is_whole() || sites.is_some() {
            let from_start = self.from_start;
            keep(
                Kept {
                    cut,
                    sites,
                    from_start,
                },
                batch,
                first,
                &mut self.kept,
            );
            std::mem::swap(batch, &mut self.kept);
        }
    }

    /// The allocations of a chunk of which the slice has nothing else. Each is a point of its own, since there are no
    /// accesses that would tell its time.
    pub fn open_allocations(
        &mut self,
        chunk: &ChunkRef,
        begin_ns: u64,
        cut: &ChunkCut,
    ) -> Result<(Held<'t>, VecDeque<Point>), TraceError> {
        let sliced = self.sliced.filter(|_| self.from_start);
        let known = sliced.and_then(|sliced| sliced.outside_in_order().of_chunk(chunk.offset));
        let (batch, ends, error) = match known {
            Some(known) => {
                let (batch, ends) = known.as_ref().clone();
                (batch, ends, None)
            }
            None => self.find_allocations(chunk, begin_ns, cut)?,
        };
        self.room = self.room.saturating_sub(1);
        let batches = VecDeque::from([batch]);
        Ok((Held::Batches { batches, error }, ends))
    }

    /// The same, found by decoding the chunk, and kept for later passes unless it is damaged.
    fn find_allocations(
        &mut self,
        chunk: &ChunkRef,
        begin_ns: u64,
        cut: &ChunkCut,
    ) -> Result<(Batch, VecDeque<Point>, Option<TraceError>), TraceError> {
        let mut all = Allocations::new(chunk, begin_ns);
        let real_points = points(&mut self.scanner, chunk);
        let mut batches = self.scanner.decode(chunk)?;
        let error = loop {
            match batches.next_batch() {
                Ok(Some(batch)) if self.from_start => all.add(batch, cut, &real_points),
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let (mut batch, ends) = all.end(error.is_some());
        if let (Some(sliced), true, None) = (self.sliced, self.from_start, &error) {
            let bytes = event_bytes(&mut batch) + ends.len() * size_of::<Point>();
            let found = (batch.clone(), ends.clone());
            sliced.outside_in_order().remember(chunk.offset, found, bytes);
        }
        Ok((batch, ends, error))
    }

    /// The batches of a chunk, and its order points with its end as the last one.
    pub fn open(&mut self, chunk: &ChunkRef) -> Result<(Held<'t>, VecDeque<Point>), TraceError> {
        match self.decode(chunk)? {
            Some(all) => Ok(all),
            None => {
                let mut decoder = Decoder::uncut(self.trace).joining_first();
                let suspended = decoder.decode(chunk)?.suspend();
                let points = points(&mut self.scanner, chunk);
                Ok((Held::Decoder(Box::new((decoder, suspended))), points))
            }
        }
    }

    /// None if there is no room for all batches.
    fn decode(&mut self, chunk: &ChunkRef) -> Result<Option<(Held<'t>, VecDeque<Point>)>, TraceError> {
        let mut decoding = self.decoder.decode(chunk)?;
        let mut batches = VecDeque::new();
        let mut points = VecDeque::new();
        let mut end = Point::begin_of(chunk);
        let mut spare = self.spare.pop().unwrap_or_default();
        let error = loop {
            match decoding.exchange_batch(&mut spare) {
                Ok(Some(batch)) => {
                    add_points(&batch, &mut end, &mut points);
                    batches.push_back(batch);
                    if batches.len() > self.room {
                        self.spare.extend(batches.into_iter().take(self.room));
                        return Ok(None);
                    }
                    spare = self.spare.pop().unwrap_or_default();
                }
                Ok(None) => break None,
                Err(error) => {
                    end.mark += 1; // so that the cursor gets to the error, and reports it
                    break Some(error);
                }
            }
        };
        self.spare.push(spare);
        self.room = self.room.saturating_sub(batches.len());
        points.push_back(end);
        Ok(Some((Held::Batches { batches, error }, points)))
    }

    /// Replaces the content of `batch` by the next one of the chunk, and says whether there is one.
    pub fn next_batch(&mut self, held: &mut Held<'t>, batch: &mut Batch) -> Result<bool, TraceError> {
        match held {
            Held::Batches { batches, error } => match (batches.pop_front(), error.take()) {
                (Some(mut next), later) => {
                    *error = later;
                    std::mem::swap(batch, &mut next);
                    self.take_back(next);
                    Ok(true)
                }
                (None, Some(error)) => Err(error),
                (None, None) => Ok(false),
            },
            Held::Decoder(own) => {
                let (decoder, suspended) = &mut **own;
                let mut batches = decoder.resume(suspended.clone());
                let found = batches.exchange_batch(batch);
                *suspended = batches.suspend();
                let next = found?;
                let is_one = next.is_some();
                *batch = next.unwrap_or_default();
                Ok(is_one)
            }
        }
    }

    /// Takes back what is left of a chunk.
    pub fn close(&mut self, held: Held<'t>) {
        if let Held::Batches { batches, .. } = held {
            batches.into_iter().for_each(|batch| self.take_back(batch));
        }
    }

    fn take_back(&mut self, batch: Batch) {
        self.room += 1;
        self.spare.push(batch);
    }
}
