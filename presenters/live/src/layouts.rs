//! Which fields of structures are accessed, and which together. Pieces of streams are joined in their order.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{BinaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_schema::SchemaRef;
use trackway_analysis::layout::{Finder, Fragment, Shown};
use trackway_analysis::site_counts::Measure;
use trackway_analysis::Findings;
use trackway_trace::ChunkKind;

use crate::columns::batch;
use crate::counts::signed;
use crate::{LiveError, LiveTrace, PlacedChunk};

/// How many accesses of a thread may lie between two that are together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AffinityWindow {
    accesses: u64,
}

impl AffinityWindow {
    /// `accesses`: from 1 to 10,000.
    pub fn new(accesses: u64) -> Result<AffinityWindow, LiveError> {
        match (1..=10_000).contains(&accesses) {
            true => Ok(AffinityWindow { accesses }),
            false => Err(LiveError::Window { accesses }),
        }
    }
}

/// Schema of the batches that [`LiveTrace::layouts`] makes; no value is ever null.
pub fn layouts_schema() -> SchemaRef {
    layout_batch(Vec::new(), Vec::new(), Vec::new()).schema()
}

fn layout_batch(streams: Vec<i32>, firsts: Vec<i64>, data: Vec<Vec<u8>>) -> RecordBatch {
    batch([
        ("stream", Arc::new(Int32Array::from(streams))),
        ("first", Arc::new(Int64Array::from(firsts))),
        ("data", Arc::new(BinaryArray::from_iter_values(data))),
    ])
}

/// Chunks of one stream that follow each other.
struct Neighbours<'c> {
    stream: u32,
    /// Sequence numbers.
    range: Range<u64>,
    chunks: Vec<PlacedChunk<'c>>,
}

impl LiveTrace {
    /// For each stream, the result of its chunks of records: `data` is a [`Fragment`], `first` the sequence number of
    /// its first chunk. Chunks of a stream that don't follow each other yield several fragments.
    pub fn layouts(&self, chunks: &[PlacedChunk], window: AffinityWindow) -> Result<RecordBatch, LiveError> {
        let finder = Finder::new(self.trace().program(), window.accesses);
        let (mut streams, mut firsts, mut data) = (Vec::new(), Vec::new(), Vec::new());
        for neighbours in self.neighbours(chunks)? {
            let mut open = finder.start();
            self.decode(&neighbours.chunks, |batch| finder.take(&mut open, batch))?;
            streams.push(neighbours.stream as i32);
            firsts.push(signed(neighbours.range.start));
            data.push(finder.finish(open, neighbours.range).to_bytes()?);
        }
        Ok(layout_batch(streams, firsts, data))
    }

    fn neighbours<'c>(&self, chunks: &[PlacedChunk<'c>]) -> Result<Vec<Neighbours<'c>>, LiveError> {
        let mut placed = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let header = self.header(*chunk)?;
            if header.kind == ChunkKind::Records {
                placed.push((header.stream, header.sequence, *chunk));
            }
        }
        placed.sort_by_key(|(stream, sequence, _)| (*stream, *sequence));
        let mut found: Vec<Neighbours> = Vec::new();
        for (stream, sequence, chunk) in placed {
            match found.last_mut() {
                Some(last) if last.stream == stream && last.range.end == sequence => {
                    last.range.end += 1;
                    last.chunks.push(chunk);
                }
                _ => found.push(Neighbours {
                    stream,
                    range: sequence..sequence.saturating_add(1),
                    chunks: vec![chunk],
                }),
            }
        }
        Ok(found)
    }

    /// What `trackway layout --cache none` finds in the results of all streams. Each stream has one fragment, to which
    /// its pieces were joined. `top` limits the structures, and the pairs of fields of each.
    pub fn layout_findings(
        &self,
        fragments: &[Fragment],
        window: AffinityWindow,
        top: usize,
    ) -> Result<Findings, LiveError> {
        let shown = Shown {
            only: None,
            top,
            rank_by: Measure::Accesses,
            command: "trackway whatif".into(),
        };
        let finder = Finder::new(self.trace().program(), window.accesses);
        Ok(finder.findings(self.trace(), shown, fragments)?)
    }
}
