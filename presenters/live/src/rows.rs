//! Single accesses.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use trackway_trace::{Batch, Piece, SiteId};

use crate::counts::signed;
use crate::naming::Naming;
use crate::{By, LiveError, LiveTrace, PlacedChunk};

/// Schema of the batches that [`LiveTrace::rows`] makes; no value is ever null. Addresses are the bits of a u64.
pub fn rows_schema() -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, false);
    Arc::new(Schema::new(vec![
        field("process", DataType::Int32),
        field("thread", DataType::Int32),
        field("chunk", DataType::Int64),
        field("number", DataType::Int64),
        field("address", DataType::Int64),
        field("size", DataType::Int64),
        field("kind", DataType::Utf8),
        field("variable", DataType::Utf8),
        field("function", DataType::Utf8),
        field("line", DataType::Utf8),
    ]))
}

/// The wanted accesses of a chunk.
struct Rows {
    wanted: Range<u64>,
    /// Number of the next access.
    number: u64,
    sites: Vec<SiteId>,
    addresses: Vec<i64>,
    sizes: Vec<i64>,
}

impl LiveTrace {
    /// The accesses of a chunk of records in program order, `most` of them from number `first` on: a chunk may stand for
    /// more accesses than fit into memory. `chunk` is its sequence number in its stream, `number` counts within it.
    pub fn rows(&self, chunk: PlacedChunk, first: u64, most: u64) -> Result<RecordBatch, LiveError> {
        let header = self.header(chunk)?;
        let mut rows = Rows {
            wanted: first..first.saturating_add(most),
            number: 0,
            sites: Vec::new(),
            addresses: Vec::new(),
            sizes: Vec::new(),
        };
        self.decode(&[chunk], |batch| rows.take_batch(batch))?;
        let count = rows.sites.len();
        let constant = |number: u32| Arc::new(Int32Array::from(vec![number as i32; count]));
        let numbers = (first..).take(count).map(signed);
        let kinds = rows.sites.iter().map(|site| self.site_kind(*site));
        let batch = RecordBatch::try_new(
            rows_schema(),
            vec![
                constant(header.process),
                constant(header.stream),
                Arc::new(Int64Array::from(vec![signed(header.sequence); count])),
                Arc::new(Int64Array::from_iter_values(numbers)),
                Arc::new(Int64Array::from(std::mem::take(&mut rows.addresses))),
                Arc::new(Int64Array::from(std::mem::take(&mut rows.sizes))),
                Arc::new(StringArray::from_iter_values(kinds)),
                self.names(&rows.sites, By::Variable),
                self.names(&rows.sites, By::Function),
                self.names(&rows.sites, By::Line),
            ],
        );
        Ok(batch.expect("columns have the schema's types and one length"))
    }

    fn site_kind(&self, site: SiteId) -> &'static str {
        self.trace().program().sites[site.index()].kind.name()
    }

    fn names(&self, sites: &[SiteId], by: By) -> ArrayRef {
        let naming = Naming::of(self.trace().program(), by);
        // `by` is a kind of name of which each site has exactly one.
        let names = sites.iter().map(|site| {
            let name = naming.of_site[site.index()][0];
            naming.names[name as usize].as_str()
        });
        Arc::new(StringArray::from_iter_values(names))
    }
}

impl Rows {
    fn take_batch(&mut self, batch: &Batch) {
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => {
                    range.for_each(|index| {
                        self.take(batch.site[index], batch.address[index], batch.length(index));
                    });
                }
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    let accesses = run.count.saturating_mul(lanes.len() as u64);
                    if self.number.saturating_add(accesses) <= self.wanted.start
                        || self.number >= self.wanted.end
                    {
                        self.number = self.number.saturating_add(accesses);
                        continue;
                    }
                    for iteration in 0..run.count {
                        for lane in lanes {
                            self.take(lane.site, lane.address_in(iteration), lane.size.into());
                        }
                    }
                }
            }
        }
    }

    fn take(&mut self, site: SiteId, address: u64, length: u64) {
        if self.wanted.contains(&self.number) {
            self.sites.push(site);
            self.addresses.push(address as i64);
            self.sizes.push(signed(length));
        }
        self.number += 1;
    }
}
