//! Follows blocks through the accesses.

use std::ops::Range;

use trackway_trace::{AllocationSiteId, Batch, BatchItem, Event, Piece, SiteId, Slice, Trace};

use super::curve::{Amount, Curve};
use super::moments::AllocationMoments;
use super::site_totals::{Life, SiteTotals};
use crate::model::blocks::{
    parts_of_lanes, Block, End, Heap, Inherit, Known, LaneRest, MemoryPlace, Nested, Nesting, OriginCursor,
    Origins, Places, Processes, Thread, Witness,
};
use crate::model::moments::{ChunkTimes, Clock, Moment, TimeBins};

/// Numbers of what is no block's slot.
const STATIC: u32 = u32::MAX;
const STACK: u32 = u32::MAX - 1;
const OTHER: u32 = u32::MAX - 2;

/// What was found until now.
pub struct MemoryShard {
    pub(super) ledger: Ledger,
    pub(super) outside: Outside,
    processes: Processes<Life>,
    clock: Clock,
    cursor: OriginCursor,
    nesting: Nesting,
}

/// Accesses to no block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outside {
    pub statics: u64,
    pub stacks: u64,
    pub other: u64,
}

/// The most memory that was live at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Peak {
    pub live: Amount,
    /// What was live then of blocks that weren't allocated within the trace's slice.
    pub outside: Amount,
    pub time_ns: u64,
    /// Peaks before it.
    number: u64,
}

/// Released blocks by how long they lived.
pub(super) const LIFETIMES: usize = 65;

/// The account of all allocations; of a slice, of those within it, which any thread may release before its end.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    pub sites: Vec<SiteTotals>,
    pub live: Amount,
    /// The same of blocks that weren't allocated within the trace's slice.
    outside: Amount,
    pub peak: Peak,
    pub curve: Curve,
    /// Lifetimes by the number of binary digits of the accesses in between.
    pub lifetimes: [Amount; LIFETIMES],
    pub unknown_releases: u64,
    /// Allocations by thread and time, if asked for.
    pub moments: Option<AllocationMoments>,
    /// Accesses of the trace until now.
    pub accesses: u64,
    /// When the present event takes place, and whether it is within the trace's slice.
    time_ns: u64,
    is_inside: bool,
    /// The thread of the present event.
    stream: u32,
    short_life: u64,
}

impl MemoryShard {
    /// `bins` are those of the curve and, if allocations are counted by thread and time, those of that.
    pub fn new(
        trace: &Trace,
        (bins, moments): (TimeBins, Option<TimeBins>),
        short_life: u64,
        sites: usize,
    ) -> Self {
        MemoryShard {
            ledger: Ledger {
                sites: vec![SiteTotals::default(); sites],
                live: Amount::default(),
                outside: Amount::default(),
                peak: Peak::default(),
                curve: Curve::new(bins),
                lifetimes: [Amount::default(); LIFETIMES],
                unknown_releases: 0,
                moments: moments.map(AllocationMoments::new),
                accesses: 0,
                time_ns: 0,
                is_inside: true,
                stream: 0,
                short_life,
            },
            outside: Outside::default(),
            processes: Processes::new(trace),
            clock: Clock::default(),
            cursor: OriginCursor::default(),
            nesting: Nesting::new(trace.program()),
        }
    }

    /// `slice` is that of the trace.
    pub fn take(
        &mut self,
        times: &ChunkTimes,
        local: &[bool],
        origins: &Origins,
        slice: Option<&Slice>,
        batch: &Batch,
    ) {
        let mut position = self.clock.advance(times, batch);
        let (places, thread) = self.processes.of(batch);
        self.ledger.stream = batch.stream;
        let mut counting = Counting {
            local,
            batch,
            places,
            thread,
            outside: &mut self.outside,
        };
        for (item, is_inside) in batch.items_of_slice() {
            let passed = match item {
                BatchItem::Accesses(piece) => {
                    counting.take(&piece);
                    piece.access_count()
                }
                BatchItem::Event(event) => {
                    self.ledger.time_ns = position.time_of(0);
                    self.ledger.is_inside = is_inside && slice.is_none_or(|slice| keeps_site(slice, &event));
                    let nested = self.nesting.of(&event, batch.stream);
                    let event = self.cursor.divide(origins, batch, event);
                    let heap = &mut counting.places.heap;
                    match nested {
                        Nested::Alone => heap.apply(&event, batch.stream, &mut self.ledger),
                        Nested::Around => heap.take_over(&event, batch.stream, &mut self.ledger),
                        Nested::Within => {}
                        Nested::WithinWithHeader => {
                            if is_of_a_block(&event, heap) {
                                heap.apply(&event, batch.stream, &mut self.ledger);
                            }
                        }
                    }
                    0
                }
            };
            position.pass(passed);
            self.ledger.accesses = self.ledger.accesses.saturating_add(passed);
        }
    }

    /// Settles what is still live.
    pub fn finish(&mut self) {
        for (block, life) in self.processes.heaps().flat_map(|heap| heap.live()) {
            self.ledger.settle(block, life);
            if life.is_inside && !block.inherited {
                self.ledger.sites[block.site.index()]
                    .never_released
                    .add(block.bytes);
                if let Some(moments) = &mut self.ledger.moments {
                    let allocated = moments.at(block.site, life.moment);
                    allocated.never_released.add(block.bytes);
                }
            }
        }
        let peak = self.ledger.peak.number;
        self.ledger.sites.iter_mut().for_each(|site| site.save(peak));
        self.ledger.curve.finish();
    }

    pub fn is_empty(&self) -> bool {
        self.ledger.accesses == 0 && self.ledger.peak == Peak::default()
    }
}

fn is_of_a_block(event: &Event, heap: &Heap<Life>) -> bool {
    matches!(event, Event::Free { address, .. } if heap.begins_at(*address))
}

/// Whether the slice has blocks of the event's allocation site.
fn keeps_site(slice: &Slice, event: &Event) -> bool {
    match event {
        Event::Allocate { site, .. } | Event::Reallocate { site, .. } | Event::Free { site, .. } => {
            slice.keeps_allocation_site(*site)
        }
        _ => true,
    }
}

/// A batch whose accesses go to blocks.
struct Counting<'c> {
    local: &'c [bool],
    batch: &'c Batch,
    places: &'c mut Places<Life>,
    thread: &'c mut Thread,
    outside: &'c mut Outside,
}

impl Counting<'_> {
    /// First finds the thread's stack.
    fn take(&mut self, piece: &Piece) {
        let count = piece.access_count();
        let on_stack = self
            .thread
            .first_on_stack(self.places, self.local, self.batch, piece);
        let Some((first, address)) = on_stack else {
            return self.count(piece, 0..count);
        };
        self.count(piece, 0..first);
        self.thread.take_stack(self.places, address, self.batch.stream);
        self.count(piece, first..count);
    }

    fn count(&mut self, piece: &Piece, part: Range<u64>) {
        match piece {
            Piece::Accesses(range) => {
                for index in range.start + part.start as usize..range.start + part.end as usize {
                    let what = self
                        .what_is_at(self.batch.site[index], self.batch.address[index])
                        .what;
                    self.add(what, 1, self.batch.length(index));
                }
            }
            Piece::Run(run) => {
                let rests = parts_of_lanes(self.batch.lanes(run), part);
                rests.for_each(|rest| self.count_lane(rest));
            }
        }
    }

    fn count_lane(&mut self, mut rest: LaneRest) {
        while rest.count > 0 {
            let known = self.what_is_at(rest.site, rest.address);
            let count = rest.begin_within(known.from, known.to);
            self.add(known.what, count, count.saturating_mul(rest.size));
            rest.pass(count);
        }
    }

    #[inline(always)]
    fn add(&mut self, what: u32, accesses: u64, bytes: u64) {
        let count = match what {
            STATIC => &mut self.outside.statics,
            STACK => &mut self.outside.stacks,
            OTHER => &mut self.outside.other,
            slot => {
                let life = self.places.heap.data(slot);
                life.accessed_bytes = life.accessed_bytes.saturating_add(bytes);
                &mut life.accesses
            }
        };
        *count = count.saturating_add(accesses);
    }

    #[inline(always)]
    fn what_is_at(&mut self, site: SiteId, address: u64) -> Known {
        let known = self.thread.spots.find(&self.places.heap, site, address);
        known.unwrap_or_else(|| self.find(site, address))
    }

    #[inline(never)]
    fn find(&mut self, site: SiteId, address: u64) -> Known {
        let stretch = self.places.find(address);
        let what = match stretch.place {
            MemoryPlace::Block(slot) => slot,
            MemoryPlace::Static(_) => STATIC,
            MemoryPlace::Stack(_) => STACK,
            MemoryPlace::Other => OTHER,
        };
        self.thread
            .spots
            .remember(&self.places.heap, site, &stretch, what)
    }
}

impl Inherit for Life {
    /// The parent's accesses are the parent's.
    fn inherited(&self) -> Life {
        Life {
            is_inside: self.is_inside,
            ..Life::default()
        }
    }
}

impl Ledger {
    /// A block's accesses go to its site.
    fn settle(&mut self, block: &Block, life: &Life) {
        let site = &mut self.sites[block.site.index()];
        site.add_life(life);
        if life.accesses == 0 && life.is_inside && !block.inherited {
            site.never_accessed.add(block.bytes);
        }
    }

    /// Counts a block by thread and time; returns the moment.
    fn count_moment(&mut self, block: &Block) -> Moment {
        let Some(moments) = &mut self.moments else {
            return Moment::default();
        };
        let moment = moments.moment(self.stream, self.time_ns);
        moments.at(block.site, moment).blocks.add(block.bytes);
        moment
    }

    /// A block that was counted by thread and time counts for another site, or, if it isn't of the slice, for none.
    fn move_moment(&mut self, before: &Block, to: Option<&Block>, moment: Moment) {
        let Some(moments) = &mut self.moments else {
            return;
        };
        moments.at(before.site, moment).blocks.remove(before.bytes);
        if let Some(block) = to {
            moments.at(block.site, moment).blocks.add(block.bytes);
        }
    }

    fn release(&mut self, block: &Block, life: &Life) {
        let lived = self.accesses.saturating_sub(life.begin);
        let site = &mut self.sites[block.site.index()];
        site.released += 1;
        site.lived_accesses += u128::from(lived);
        site.lived_ns += u128::from(self.time_ns.saturating_sub(life.begin_ns));
        if lived < self.short_life {
            site.short_lived.add(block.bytes);
        }
        self.lifetimes[(u64::BITS - lived.leading_zeros()) as usize].add(block.bytes);
    }
}

impl Witness<Life> for Ledger {
    fn begins(&mut self, block: &Block) -> Life {
        if !self.is_inside {
            self.outside.add(block.bytes);
            return Life::default();
        }
        let site = &mut self.sites[block.site.index()];
        site.allocated.add(block.bytes);
        site.save(self.peak.number);
        site.live.add(block.bytes);
        self.live.add(block.bytes);
        let is_peak = self.live.bytes > self.peak.live.bytes;
        if is_peak {
            self.peak = Peak {
                live: self.live,
                outside: self.outside,
                time_ns: self.time_ns,
                number: self.peak.number + 1,
            };
        }
        self.curve.allocated(self.time_ns, self.live);
        let moment = self.count_moment(block);
        Life {
            moment,
            begin: self.accesses,
            begin_ns: self.time_ns,
            is_inside: true,
            peak: if is_peak { self.peak.number } else { 0 },
            ..Life::default()
        }
    }

    /// The earlier site never allocated it.
    fn passes_on(&mut self, before: &Block, block: &Block, life: &mut Life) {
        let peak = self.peak.number;
        let bytes = block.bytes;
        if !life.is_inside {
            if self.is_inside {
                self.outside.remove(bytes);
                *life = self.begins(block).with_accesses_of(life);
            }
            return;
        }
        let is_at_peak = life.peak == peak && peak > 0;
        let site = &mut self.sites[before.site.index()];
        site.allocated.remove(bytes);
        site.move_live(peak, is_at_peak, |live| live.remove(bytes));
        let kept = self.is_inside.then_some(block);
        self.move_moment(before, kept, life.moment);
        if self.is_inside {
            let site = &mut self.sites[block.site.index()];
            site.allocated.add(bytes);
            site.move_live(peak, is_at_peak, |live| live.add(bytes));
            return;
        }
        life.is_inside = false;
        self.live.remove(bytes);
        self.outside.add(bytes);
        self.curve.released(self.time_ns, self.live);
    }

    fn ends(&mut self, block: &Block, life: &Life, end: End) {
        self.settle(block, life);
        if block.inherited {
            return;
        }
        if !life.is_inside {
            return self.outside.remove(block.bytes);
        }
        match end {
            End::Overlapped => self.sites[block.site.index()].overlapped += 1,
            End::Freed | End::Reallocated => self.release(block, life),
        }
        let site = &mut self.sites[block.site.index()];
        site.save(self.peak.number);
        site.live.remove(block.bytes);
        self.live.remove(block.bytes);
        self.curve.released(self.time_ns, self.live);
        if let Some(moments) = &mut self.moments {
            moments.end(block.site, life.moment, self.time_ns, block.bytes);
        }
    }

    fn fails(&mut self, site: AllocationSiteId) {
        self.sites[site.index()].failed += u64::from(self.is_inside);
        if let Some(moments) = self.moments.as_mut().filter(|_| self.is_inside) {
            let moment = moments.moment(self.stream, self.time_ns);
            moments.at(site, moment).failed += 1;
        }
    }

    fn frees_nothing(&mut self, _: AllocationSiteId) {
        self.unknown_releases += u64::from(self.is_inside);
    }
}
