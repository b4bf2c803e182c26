//! The distances in one part of a trace.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trackway_trace::{Batch, BatchItem, Event, Lane, Piece, Program, SiteId};

use super::histogram::Histogram;
use super::moments::ReuseMoments;
use super::owners::Owners;
use super::references::References;
use super::sampling::{SampledStack, PARTS};
use super::stack::LruStack;
use super::{Reference, Reuse, ReuseGrouping};
use crate::model::blocks::{OriginCursor, Origins};
use crate::model::cache::LineChanges;
use crate::model::site_counts::group::field_key;

/// Addresses of programs have no more.
const ADDRESS_BITS: u32 = 47;
/// The place of a line is fetched this many accesses ahead, and its content `SOONER` accesses ahead.
const SOON: usize = 16;
const SOONER: usize = 8;
/// No line has this number: lines have 16 bytes at least.
const NO_LINE: u64 = u64::MAX;

/// The stack of one thread or of all, and the distances found in it.
pub struct ReuseShard {
    stack: Stack,
    counting: Counting,
    /// Extent of the shards that were merged into this one.
    merged: Extent,
}

enum Stack {
    Exact(Box<LruStack>),
    Sampled(Box<SampledStack>),
}

/// How large stacks, or samples of them, became.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Extent {
    /// Lines of all stacks.
    pub lines: u64,
    /// Lines of the largest stack.
    pub most_lines: u64,
    pub untracked: u64,
    pub sampled_references: u64,
    /// Share of lines that was sampled at the end, in the stack where it was smallest.
    pub rate: Option<f64>,
}

impl Extent {
    fn add(&mut self, other: Extent) {
        self.lines += other.lines;
        self.most_lines = self.most_lines.max(other.most_lines);
        self.untracked += other.untracked;
        self.sampled_references = self.sampled_references.saturating_add(other.sampled_references);
        self.rate = match (self.rate, other.rate) {
            (Some(rate), Some(other)) => Some(rate.min(other)),
            (rate, other) => rate.or(other),
        };
    }
}

/// What a shard has found.
pub(super) struct Found {
    pub extent: Extent,
    pub sites: References,
    /// References by allocation site, if asked for.
    pub allocations: Option<References>,
    /// What each part of the sample found.
    pub parts: Vec<Histogram>,
}

/// Finds distances.
trait Distances {
    /// References a line; none if its distance is not measured.
    fn reference(&mut self, line: u64, times: u64) -> Option<Reference>;

    /// Has what a reference to the line needs fetched into the processor's cache, in two steps.
    fn prepare(&self, line: u64, is_second: bool);
}

impl Distances for LruStack {
    #[inline(always)]
    fn reference(&mut self, line: u64, _times: u64) -> Option<Reference> {
        Some(Reference {
            distance: LruStack::reference(self, line),
            weight: 1.0,
            part: 0,
        })
    }

    #[inline(always)]
    fn prepare(&self, line: u64, is_second: bool) {
        LruStack::prepare(self, line, is_second);
    }
}

impl Distances for SampledStack {
    #[inline(always)]
    fn reference(&mut self, line: u64, times: u64) -> Option<Reference> {
        SampledStack::reference(self, line, times)
    }

    /// Few lines are sampled.
    #[inline(always)]
    fn prepare(&self, _line: u64, _is_second: bool) {}
}

impl ReuseShard {
    pub(super) fn new(reuse: &Reuse) -> ReuseShard {
        let by_allocation = reuse.groupings.contains(&ReuseGrouping::Allocation);
        ReuseShard {
            stack: match reuse.sampling {
                None => Stack::Exact(Box::new(LruStack::new())),
                Some(sampling) => Stack::Sampled(Box::new(SampledStack::new(sampling))),
            },
            counting: Counting {
                line_bits: reuse.line_bytes.trailing_zeros(),
                process_bits: 0,
                latest: NO_LINE,
                changes: LineChanges::new(reuse.line_bytes, u32::MAX),
                sites: References::default(),
                allocations: by_allocation.then(|| Box::new(Allocations::new(Arc::clone(&reuse.origins)))),
                parts: vec![Histogram::default(); if reuse.sampling.is_some() { PARTS } else { 0 }],
                moments: reuse
                    .moments
                    .as_ref()
                    .map(|bins| Box::new(ReuseMoments::new(bins))),
            },
            merged: Extent::default(),
        }
    }

    pub(super) fn take_program(&mut self, program: &Program) {
        self.counting.sites.resize(program.sites.len());
        if let Some(allocations) = &mut self.counting.allocations {
            allocations.references.resize(allocations.origins.count() + 1);
        }
    }

    /// Distances by thread and time are told apart by field.
    pub(super) fn follow_fields(&mut self, program: &Program) {
        if let Some(moments) = &mut self.counting.moments {
            let keys = program.sites.iter().map(|site| field_key(program, site));
            moments.by_group.set_groups(keys);
        }
    }

    pub(super) fn take(&mut self, batch: &Batch) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.take_with_avx2(batch) };
        }
        self.take_inlined(batch);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn take_with_avx2(&mut self, batch: &Batch) {
        self.take_inlined(batch);
    }

    #[inline(always)]
    fn take_inlined(&mut self, batch: &Batch) {
        match &mut self.stack {
            Stack::Exact(stack) => self.counting.take(&mut **stack, batch),
            Stack::Sampled(stack) => self.counting.take(&mut **stack, batch),
        }
    }

    pub(super) fn merge(&mut self, from: ReuseShard) {
        if let (Some(into), Some(from)) = (&mut self.counting.moments, &from.counting.moments) {
            into.merge(from);
        }
        self.add_found(Found {
            extent: from.extent(),
            sites: from.counting.sites,
            allocations: from.counting.allocations.map(|all| all.references),
            parts: from.counting.parts,
        });
    }

    /// Adds what another process has found.
    pub(super) fn add_found(&mut self, found: Found) {
        self.merged.add(found.extent);
        self.counting.sites.merge(&found.sites);
        if let (Some(into), Some(from)) = (&mut self.counting.allocations, &found.allocations) {
            into.references.merge(from);
        }
        for (part, more) in self.counting.parts.iter_mut().zip(&found.parts) {
            *part += more;
        }
    }

    pub(super) fn sites(&self) -> &References {
        &self.counting.sites
    }

    /// References by the number of the owner, if asked for.
    pub(super) fn allocations(&self) -> Option<&References> {
        self.counting.allocations.as_ref().map(|all| &all.references)
    }

    /// What each part of the sample found.
    pub(super) fn parts(&self) -> &[Histogram] {
        &self.counting.parts
    }

    /// Distances by thread and time, if asked for.
    pub(super) fn moments(&self) -> Option<&ReuseMoments> {
        self.counting.moments.as_deref()
    }

    pub(super) fn extent(&self) -> Extent {
        let mut extent = match &self.stack {
            Stack::Exact(stack) => Extent {
                lines: stack.len() as u64,
                most_lines: stack.len() as u64,
                untracked: stack.untracked(),
                ..Extent::default()
            },
            Stack::Sampled(stack) => Extent {
                lines: stack.len() as u64,
                most_lines: stack.len() as u64,
                sampled_references: stack.sampled,
                // A stack that was never used says nothing.
                rate: (stack.len() > 0).then(|| stack.rate()),
                ..Extent::default()
            },
        };
        extent.add(self.merged);
        extent
    }
}

/// Everything but the stack.
struct Counting {
    line_bits: u32,
    /// Keeps the lines of processes apart.
    process_bits: u64,
    /// The line of the reference before.
    latest: u64,
    changes: LineChanges,
    sites: References,
    /// Owners of allocations and the references to them, if asked for.
    allocations: Option<Box<Allocations>>,
    parts: Vec<Histogram>,
    /// Distances by thread and time, if asked for.
    moments: Option<Box<ReuseMoments>>,
}

struct Allocations {
    owners: Owners,
    references: References,
    /// What divides their sites, and how far streams have come.
    origins: Arc<Origins>,
    cursor: OriginCursor,
}

impl Allocations {
    fn new(origins: Arc<Origins>) -> Self {
        Allocations {
            owners: Owners::default(),
            references: References::default(),
            origins,
            cursor: OriginCursor::default(),
        }
    }

    /// Takes an allocation into account; `process` keeps the addresses of processes apart.
    fn take(&mut self, batch: &Batch, event: Event, process: u64) {
        let event = self.cursor.divide(&self.origins, batch, event);
        self.owners.take(&event, process);
    }
}

impl Counting {
    #[inline(always)]
    fn take<D: Distances>(&mut self, stack: &mut D, batch: &Batch) {
        self.process_bits = u64::from(batch.process) << (ADDRESS_BITS - self.line_bits);
        if let Some(moments) = &mut self.moments {
            moments.begin(batch);
        }
        if self.allocations.is_some() && !batch.events.is_empty() {
            return self.take_with_events(stack, batch);
        }
        for piece in batch.pieces() {
            self.take_piece(stack, batch, piece);
        }
    }

    /// The same, with the allocations between accesses.
    fn take_with_events<D: Distances>(&mut self, stack: &mut D, batch: &Batch) {
        let process = u64::from(batch.process) << ADDRESS_BITS;
        for item in batch.items() {
            match (item, &mut self.allocations) {
                (BatchItem::Accesses(piece), _) => self.take_piece(stack, batch, piece),
                (BatchItem::Event(event), Some(allocations)) => allocations.take(batch, event, process),
                (BatchItem::Event(_), None) => (),
            }
        }
    }

    #[inline(always)]
    fn take_piece<D: Distances>(&mut self, stack: &mut D, batch: &Batch, piece: Piece) {
        match piece {
            Piece::Accesses(range) if self.moments.is_some() => {
                self.take_accesses_in_time(stack, batch, range);
            }
            Piece::Accesses(range) => self.take_accesses(stack, batch, range),
            Piece::Run(run) if self.moments.is_some() => {
                self.take_run_in_time(stack, batch.lanes(run), run.count);
            }
            Piece::Run(run) => self.take_run(stack, batch.lanes(run), run.count),
        }
    }

    /// How many of the next iterations belong to one bin of time.
    fn next_iterations(&mut self, left: u64, accesses: u64) -> u64 {
        let moments = self.moments.as_mut();
        moments.map_or(left, |moments| moments.next_iterations(left, accesses))
    }

    fn pass(&mut self, accesses: u64) {
        if let Some(moments) = &mut self.moments {
            moments.pass(accesses);
        }
    }

    /// Accesses in stretches of one bin of time each.
    #[inline(never)]
    fn take_accesses_in_time<D: Distances>(&mut self, stack: &mut D, batch: &Batch, range: Range<usize>) {
        let Range { mut start, end } = range;
        while start < end {
            let count = self.next_iterations((end - start) as u64, 1);
            let until = start + count as usize;
            self.take_accesses(stack, batch, start..until);
            self.pass(count);
            start = until;
        }
    }

    /// The same of a loop, whose iterations stay whole.
    #[inline(never)]
    fn take_run_in_time<D: Distances>(&mut self, stack: &mut D, lanes: &[Lane], count: u64) {
        let accesses = lanes.len() as u64;
        let mut done = 0;
        while done < count {
            let iterations = self.next_iterations(count - done, accesses);
            let moved = |lane: &Lane| Lane {
                address: lane.address_in(done),
                ..*lane
            };
            let rest: Vec<Lane> = lanes.iter().map(moved).collect();
            self.take_run(stack, &rest, iterations);
            self.pass(iterations * accesses);
            done += iterations;
        }
    }

    #[inline(always)]
    fn take_accesses<D: Distances>(&mut self, stack: &mut D, batch: &Batch, range: Range<usize>) {
        let first = range.start;
        let addresses = &batch.address[range.clone()];
        let columns = batch.site[range.clone()].iter().zip(addresses);
        for (index, ((&site, &address), &size)) in columns.zip(&batch.size[range]).enumerate() {
            if let Some(&[before, ahead]) = addresses
                .get(index + SOON..index + SOON + 2)
                .and_then(|pair| pair.first_chunk())
            {
                self.prepare(stack, before, ahead, false);
            }
            if let Some(&[before, ahead]) = addresses
                .get(index + SOONER..index + SOONER + 2)
                .and_then(|pair| pair.first_chunk())
            {
                self.prepare(stack, before, ahead, true);
            }
            let length = match size {
                u32::MAX => batch.length(first + index),
                size => size.into(),
            };
            self.access(stack, site, address, length, 1);
        }
    }

    /// Has what a later access needs fetched, unless it is in the line of the one before.
    #[inline(always)]
    fn prepare<D: Distances>(&self, stack: &D, before: u64, address: u64, is_next: bool) {
        let line = address >> self.line_bits;
        if line != before >> self.line_bits {
            stack.prepare(line ^ self.process_bits, is_next);
        }
    }

    /// While each access stays in its line, the iterations after the first find the same distances. Two references to a
    /// line are then one turn of the loop apart, whichever turn it is.
    #[inline(always)]
    fn take_run<D: Distances>(&mut self, stack: &mut D, lanes: &[Lane], count: u64) {
        self.changes.begin(lanes, count);
        while let Some(first) = self.changes.next_iteration() {
            self.changes.simulated(lanes, true);
            let end = self.changes.next_iteration().unwrap_or(count);
            self.take_iteration(stack, lanes, first, 1);
            if end - first > 1 {
                self.take_iteration(stack, lanes, first + 1, end - first - 1);
            }
        }
    }

    #[inline(always)]
    fn take_iteration<D: Distances>(&mut self, stack: &mut D, lanes: &[Lane], iteration: u64, times: u64) {
        for lane in lanes {
            let address = lane.address_in(iteration);
            self.access(stack, lane.site, address, lane.size.into(), times);
        }
    }

    #[inline(always)]
    fn access<D: Distances>(&mut self, stack: &mut D, site: SiteId, address: u64, length: u64, times: u64) {
        let site = site.index();
        self.sites.count_access(site, length, times);
        if let Some(moments) = &mut self.moments {
            moments.count_access(site, times);
        }
        let mut owner = 0;
        if let Some(allocations) = &mut self.allocations {
            let process = self.process_bits << self.line_bits;
            owner = allocations.owners.of(address ^ process) as usize;
            allocations.references.count_access(owner, length, times);
        }
        if length == 0 {
            return;
        }
        let first = address >> self.line_bits;
        let last = address.saturating_add(length - 1) >> self.line_bits;
        for line in first..=last {
            self.reference(stack, (site, owner), line ^ self.process_bits, times);
        }
    }

    #[inline(always)]
    fn reference<D: Distances>(
        &mut self,
        stack: &mut D,
        (site, owner): (usize, usize),
        line: u64,
        times: u64,
    ) {
        self.sites.count_reference(site, times);
        if let Some(allocations) = &mut self.allocations {
            allocations.references.count_reference(owner, times);
        }
        if let Some(moments) = &mut self.moments {
            moments.count_reference(site, times);
        }
        if line == self.latest {
            return;
        }
        self.latest = line;
        if let Some(found) = stack.reference(line, times) {
            self.sites.enter(site, &found, times);
            if let Some(allocations) = &mut self.allocations {
                allocations.references.enter(owner, &found, times);
            }
            if let Some(moments) = &mut self.moments {
                moments.enter(site, &found, times);
            }
            if let Some(part) = self.parts.get_mut(found.part) {
                part.add(found.distance, found.weight * times as f64);
            }
        }
    }
}
