//! What the recording of a compiled program has.

use trackway_trace::{AccessKind, AllocationSiteId, Batch, BatchItem, Piece, Trace};

use super::site_bytes::SiteBytes;
use super::{caller, Recorded};

/// Bytes of the longest vector that the C library's functions on strings use.
const VECTOR: u64 = 64;
/// Its copies of up to that many vectors move a power of two of them, which overlap. Longer ones move the first vector and the
/// last four on their own, and those between in rounds.
const MOST_AT_ONCE: u64 = 8;
const OVERLAPPING: u64 = 5;
use crate::model::blocks::{local_sites, Block, End, Inherit, MemoryPlace, Processes, Witness};
use crate::model::written_in;
use crate::{Analysis, Findings, Order};

/// Adds up the bytes of each site outside of stacks; [`RecordedShard::recorded`] says what they are.
pub struct RecordedBytes<'t> {
    trace: &'t Trace,
    local: Vec<bool>,
    ranges: Vec<bool>,
}

pub struct RecordedShard {
    processes: Processes<()>,
    bytes: SiteBytes,
    in_vectors: SiteBytes,
}

impl<'t> RecordedBytes<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        RecordedBytes {
            trace,
            local: local_sites(trace.program()),
            ranges: trace
                .program()
                .sites
                .iter()
                .map(|site| is_range(site.kind))
                .collect(),
        }
    }
}

impl Analysis for RecordedBytes<'_> {
    type Shard = RecordedShard;

    /// What one thread allocates, another may use: it is no stack.
    fn order(&self) -> Order {
        Order::AcrossThreads
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> RecordedShard {
        RecordedShard {
            processes: Processes::new(self.trace),
            bytes: SiteBytes::default(),
            in_vectors: SiteBytes::default(),
        }
    }

    fn take_batch(&self, shard: &mut RecordedShard, batch: &Batch) {
        for item in batch.all_items() {
            match item {
                BatchItem::Accesses(piece) => self.take_accesses(shard, batch, &piece),
                BatchItem::Event(event) => {
                    let (places, _) = shard.processes.of(batch);
                    places.heap.apply(&event, batch.stream, &mut Nobody);
                }
            }
        }
    }

    fn merge(&self, into: &mut RecordedShard, from: RecordedShard) {
        into.bytes.merge(&from.bytes);
        into.in_vectors.merge(&from.in_vectors);
    }

    fn finish(&self, _: RecordedShard, _: &Trace) -> Findings {
        Findings::default()
    }
}

impl RecordedBytes<'_> {
    fn take_accesses(&self, shard: &mut RecordedShard, batch: &Batch, piece: &Piece) {
        let (places, thread) = shard.processes.of(batch);
        if let Some((_, address)) = thread.first_on_stack(places, &self.local, batch, piece) {
            thread.take_stack(places, address, batch.stream);
        }
        let Piece::Accesses(range) = piece else { return }; // runs come to those that ask for them
        for index in range.clone() {
            let (site, address) = (batch.site[index].index(), batch.address[index]);
            // A thread reaches the stack of another one only as its source says.
            let is_on_own_stack =
                matches!(places.find(address).place, MemoryPlace::Stack(owner) if owner == batch.stream);
            if !is_on_own_stack {
                let length = batch.length(index);
                shard.bytes.add(site, length);
                if self.ranges[site] {
                    shard.in_vectors.add(site, in_vectors(address, length));
                }
            }
        }
    }
}

/// The most bytes that functions move which work on a range in vectors, each of its bytes once as far as possible.
fn in_vectors(address: u64, length: u64) -> u64 {
    let end = address.saturating_add(length).div_ceil(VECTOR);
    let vectors = match end.saturating_sub(address / VECTOR) {
        touched @ 0..=MOST_AT_ONCE => touched.next_power_of_two(),
        touched => touched.saturating_add(OVERLAPPING),
    };
    vectors.saturating_mul(VECTOR)
}

impl RecordedShard {
    pub fn recorded(&self, trace: &Trace) -> Recorded {
        let program = trace.program();
        let mut recorded = Recorded::default();
        for (site, bytes) in self.bytes.iter() {
            let site = &program.sites[site];
            match is_range(site.kind) {
                true => recorded.ranges.entry(caller(program, site)).or_default().bytes += bytes,
                false if !program.function(site.function).has_plain_copy => (),
                false => {
                    let function = program.string(written_in(program, site));
                    *recorded.own.entry(function.to_owned()).or_default() += bytes;
                }
            }
        }
        for (site, bytes) in self.in_vectors.iter() {
            let caller = caller(program, &program.sites[site]);
            recorded.ranges.entry(caller).or_default().in_vectors += bytes;
        }
        recorded
    }
}

fn is_range(kind: AccessKind) -> bool {
    kind.is_by_library()
        || matches!(
            kind,
            AccessKind::CopyRead | AccessKind::CopyWrite | AccessKind::Fill
        )
}

impl Inherit for () {
    fn inherited(&self) {}
}

/// Wants to know nothing of blocks but where they are.
struct Nobody;

impl Witness<()> for Nobody {
    fn begins(&mut self, _: &Block) {}
    fn ends(&mut self, _: &Block, (): &(), _: End) {}
    fn fails(&mut self, _: AllocationSiteId) {}
    fn frees_nothing(&mut self, _: AllocationSiteId) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_in_the_vectors_that_copies_move() {
        let found = [(64, 1), (64, 64), (63, 2), (64, 129), (64, 512), (64, 513)];
        let vectors = found.map(|(address, length)| in_vectors(address, length) / VECTOR);
        assert_eq!(vectors, [1, 1, 2, 4, 8, 14]);
        assert_eq!(in_vectors(u64::MAX - 1, 9) % VECTOR, 0);
    }
}
