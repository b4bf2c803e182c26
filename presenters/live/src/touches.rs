//! Which threads touch which memory: the two steps of finding what threads share.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use trackway_trace::{Batch, Piece, SiteId};

use crate::columns::batch;
use crate::counts::signed;
use crate::naming::Naming;
use crate::{By, LiveError, LiveTrace, PlacedChunk};

/// Memory is looked at in pieces of so many bytes, at multiples of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granule {
    bytes: u64,
}

impl Granule {
    /// `bytes`: a power of two from 1 to 4096.
    pub fn new(bytes: u64) -> Result<Granule, LiveError> {
        match bytes.is_power_of_two() && bytes <= 4096 {
            true => Ok(Granule { bytes }),
            false => Err(LiveError::Granule { bytes }),
        }
    }

    /// The first addresses of the granules that an access touches; one without a length touches one.
    fn touched(self, address: u64, length: u64) -> impl Iterator<Item = u64> {
        let last = address.saturating_add(length.max(1) - 1);
        (address / self.bytes..=last / self.bytes).map(move |number| number * self.bytes)
    }
}

/// Schema of the batches that [`LiveTrace::touches`] makes; no value is ever null. Addresses are the bits of a u64.
pub fn touches_schema() -> SchemaRef {
    touch_batch(&HashMap::new(), &[]).schema()
}

/// Schema of the batches that [`LiveTrace::details`] makes; no value is ever null.
pub fn details_schema() -> SchemaRef {
    detail_batch(&HashMap::new(), &[], &[]).schema()
}

/// Granules that threads share, of any process.
#[derive(Debug, Default)]
pub struct SharedGranules {
    /// Sorted.
    known: Vec<(u32, u64)>,
}

impl SharedGranules {
    /// Takes pairs of process and first address.
    pub fn new(pairs: impl IntoIterator<Item = (u32, u64)>) -> SharedGranules {
        let mut known: Vec<_> = pairs.into_iter().collect();
        known.sort_unstable();
        known.dedup();
        SharedGranules { known }
    }

    fn contains(&self, process: u32, granule: u64) -> bool {
        self.known.binary_search(&(process, granule)).is_ok()
    }
}

/// What threads did to a granule under one name.
#[derive(Debug, Clone, Copy)]
struct Touch {
    first_thread: u32,
    last_thread: u32,
    accesses: u64,
    writes: u64,
}

impl LiveTrace {
    /// The first step: for each process, granule and name, the least and the greatest thread that touches it, and how
    /// often it is accessed and written. An access of several granules counts for each.
    pub fn touches(
        &self,
        chunks: &[PlacedChunk],
        granule: Granule,
        by: By,
    ) -> Result<RecordBatch, LiveError> {
        let program = self.trace().program();
        let naming = Naming::of(program, by);
        let mut touches: HashMap<(u32, u64, u32), Touch> = HashMap::new();
        self.decode(chunks, |batch| {
            each_access(batch, |site, address, length| {
                let writes = u64::from(program.sites[site.index()].kind.writes());
                for granule in granule.touched(address, length) {
                    for &name in &naming.of_site[site.index()] {
                        let touch = touches.entry((batch.process, granule, name)).or_insert(Touch {
                            first_thread: batch.stream,
                            last_thread: batch.stream,
                            accesses: 0,
                            writes: 0,
                        });
                        touch.first_thread = touch.first_thread.min(batch.stream);
                        touch.last_thread = touch.last_thread.max(batch.stream);
                        touch.accesses += 1;
                        touch.writes += writes;
                    }
                }
            });
        })?;
        Ok(touch_batch(&touches, &naming.names))
    }

    /// The second step: for each process, thread, name and line, how many of its accesses touch a granule that is shared.
    pub fn details(
        &self,
        chunks: &[PlacedChunk],
        granule: Granule,
        by: By,
        shared: &SharedGranules,
    ) -> Result<RecordBatch, LiveError> {
        let program = self.trace().program();
        let (naming, lines) = (Naming::of(program, by), Naming::of(program, By::Line));
        let mut counts: HashMap<(u32, u32, u32, u32), [u64; 2]> = HashMap::new();
        self.decode(chunks, |batch| {
            each_access(batch, |site, address, length| {
                let mut touched = granule.touched(address, length);
                if !touched.any(|granule| shared.contains(batch.process, granule)) {
                    return;
                }
                let writes = u64::from(program.sites[site.index()].kind.writes());
                for &name in &naming.of_site[site.index()] {
                    for &line in &lines.of_site[site.index()] {
                        let count = counts.entry((batch.process, batch.stream, name, line));
                        let [accesses, written] = count.or_default();
                        *accesses += 1;
                        *written += writes;
                    }
                }
            });
        })?;
        Ok(detail_batch(&counts, &naming.names, &lines.names))
    }
}

/// All accesses of a batch: site, address, bytes. Those of a loop come lane by lane.
fn each_access(batch: &Batch, mut take: impl FnMut(SiteId, u64, u64)) {
    for piece in batch.pieces() {
        match piece {
            Piece::Accesses(range) => {
                range.for_each(|index| take(batch.site[index], batch.address[index], batch.length(index)));
            }
            Piece::Run(run) => {
                for lane in batch.lanes(run) {
                    let each = (0..run.count).map(|iteration| lane.address_in(iteration));
                    each.for_each(|address| take(lane.site, address, lane.size.into()));
                }
            }
        }
    }
}

fn touch_batch(touches: &HashMap<(u32, u64, u32), Touch>, names: &[String]) -> RecordBatch {
    let mut touches: Vec<_> = touches.iter().collect();
    touches.sort_unstable_by_key(|(key, _)| **key);
    let (keys, touches): (Vec<&(u32, u64, u32)>, Vec<&Touch>) = touches.into_iter().unzip();
    let integers = |of: fn(&Touch) -> u64| {
        let column = touches.iter().map(|touch| signed(of(touch)));
        Arc::new(Int64Array::from_iter_values(column))
    };
    let threads = |of: fn(&Touch) -> u32| {
        let column = touches.iter().map(|touch| of(touch) as i32);
        Arc::new(Int32Array::from_iter_values(column))
    };
    let processes = keys.iter().map(|key| key.0 as i32);
    let granules = keys.iter().map(|key| key.1 as i64);
    let names = keys.iter().map(|key| names[key.2 as usize].as_str());
    batch([
        ("process", Arc::new(Int32Array::from_iter_values(processes))),
        ("granule", Arc::new(Int64Array::from_iter_values(granules))),
        ("name", Arc::new(StringArray::from_iter_values(names))),
        ("first_thread", threads(|touch| touch.first_thread)),
        ("last_thread", threads(|touch| touch.last_thread)),
        ("accesses", integers(|touch| touch.accesses)),
        ("writes", integers(|touch| touch.writes)),
    ])
}

fn detail_batch(
    counts: &HashMap<(u32, u32, u32, u32), [u64; 2]>,
    names: &[String],
    lines: &[String],
) -> RecordBatch {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_unstable();
    let integers = |of: usize| {
        let column = counts.iter().map(|(_, count)| signed(count[of]));
        Arc::new(Int64Array::from_iter_values(column))
    };
    let processes = counts.iter().map(|(key, _)| key.0 as i32);
    let threads = counts.iter().map(|(key, _)| key.1 as i32);
    let names = counts.iter().map(|(key, _)| names[key.2 as usize].as_str());
    let lines = counts.iter().map(|(key, _)| lines[key.3 as usize].as_str());
    batch([
        ("process", Arc::new(Int32Array::from_iter_values(processes))),
        ("thread", Arc::new(Int32Array::from_iter_values(threads))),
        ("name", Arc::new(StringArray::from_iter_values(names))),
        ("line", Arc::new(StringArray::from_iter_values(lines))),
        ("accesses", integers(0)),
        ("writes", integers(1)),
    ])
}
