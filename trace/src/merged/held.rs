//! The batches of the chunk in which a cursor stands.

use std::collections::VecDeque;

use super::points::{add_points, points, Point};
use crate::decoder::Suspended;
use crate::{Batch, ChunkRef, Decoder, Trace, TraceError};

/// Batches that all cursors together may hold, of about 150 KiB each. A chunk that doesn't fit is decoded twice.
const MOST_BATCHES: usize = 512;

/// Decodes chunks for all cursors.
pub(super) struct Supply<'t> {
    trace: &'t Trace,
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
    pub fn new(trace: &'t Trace) -> Self {
        Supply {
            trace,
            decoder: Decoder::new(trace),
            scanner: Decoder::new(trace).with_runs(),
            spare: Vec::new(),
            room: MOST_BATCHES,
        }
    }

    /// The batches of a chunk, and its order points with its end as the last one.
    pub fn open(&mut self, chunk: &ChunkRef) -> Result<(Held<'t>, VecDeque<Point>), TraceError> {
        match self.decode(chunk)? {
            Some(all) => Ok(all),
            None => {
                let mut decoder = Decoder::new(self.trace).joining_first();
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
        self.room -= batches.len();
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
