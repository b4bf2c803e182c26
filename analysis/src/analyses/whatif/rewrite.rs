//! Old addresses to new ones.

use std::collections::HashMap;

use trackway_trace::{Batch, LongBlock, Program, SiteId};

use super::blocks::{static_blocks, Blocks, Change, Numbering};
use super::plan::NewLayout;
use super::space::Space;
use super::survey::{Purpose, Purposes};
use crate::model::structures::{Structure, Structures};

/// Bytes of a pointer to the split-off part.
const POINTER_BYTES: u64 = 8;
/// No program's array of objects has more.
const MAX_BLOCK_BYTES: u64 = 1 << 40;
/// Stores of pointers go into the batch until it has this many accesses.
const MOST_REWRITTEN: usize = 1 << 16;

/// A structure's old layout in terms of its new one.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub layout: NewLayout,
    /// Bytes of an object of old.
    size: u64,
    /// Covers the object from start to end: holes belong to the member before.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// First byte in the old object.
    start: u64,
    /// Exclusive.
    end: u64,
    part: usize,
    /// What `start` became, in the part.
    offset: u64,
}

/// What was rewritten of one structure, in accesses of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Accesses to objects that were laid out anew.
    pub rewritten: u64,
    /// Rewritten accesses whose site names no field, and which are told by their address alone.
    pub by_address: u64,
    /// Rewritten accesses that became several.
    pub divided: u64,
    /// Pointers to the split-off part that had to be loaded.
    pub pointer_loads: u64,
    /// Pointers that had to be set when their objects were allocated.
    pub pointer_stores: u64,
    /// Accesses to fields of the structure that stayed as they are, since no block of such objects holds them.
    pub left: u64,
    /// Blocks laid out anew, and objects in them.
    pub blocks: u64,
    pub objects: u64,
}

impl Rewritten {
    /// Accesses by fields of the structure that were rewritten, and all accesses by its fields.
    pub fn share(&self) -> (u64, u64) {
        let by_field = self.rewritten - self.by_address;
        (by_field, by_field + self.left)
    }

    /// Whether at least `part` of the accesses by fields of the structure were rewritten, and there are any.
    pub fn covers(&self, part: f64) -> bool {
        let (rewritten, all) = self.share();
        rewritten > 0 && rewritten as f64 >= part * all as f64
    }
}

/// New layouts, and which sites name the structures that they are of.
#[derive(Debug, Clone)]
pub(super) struct Targets {
    list: Vec<Target>,
    /// For each site, the target of which it names a field.
    by_site: Vec<Option<u32>>,
}

impl Targets {
    pub fn new(structures: &Structures, layouts: &[NewLayout]) -> Targets {
        let target_of = |structure: usize| {
            let position = layouts.iter().position(|layout| layout.structure == structure);
            position.map(|position| position as u32)
        };
        let by_site = structures
            .sites
            .iter()
            .map(|field| target_of(field.as_ref()?.structure));
        Targets {
            list: layouts
                .iter()
                .map(|layout| Target::new(structures, layout.clone()))
                .collect(),
            by_site: by_site.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// An array of objects that lives.
#[derive(Debug, Clone)]
struct Mapped {
    target: usize,
    /// Address of the first object.
    start: u64,
    count: u64,
    /// New starts of the parts.
    starts: Vec<u64>,
}

/// The pointers to the split-off part in an array of first parts.
struct Pointers {
    target: usize,
    start: u64,
    distance: u64,
    count: u64,
}

/// Rewrites the accesses of a trace, in their order.
pub(super) struct Rewriter<'r> {
    purposes: &'r Purposes,
    targets: &'r Targets,
    /// The sites of pointers that are loaded, and that are stored.
    pointer_sites: [SiteId; 2],
    numbering: Numbering,
    processes: HashMap<u32, Blocks<Option<Mapped>>>,
    spaces: HashMap<u32, Vec<Space>>,
    /// The last object whose split-off part each stream accessed.
    pointers: HashMap<u32, u64>,
    /// What was rewritten, by target.
    pub done: Vec<Rewritten>,
}

impl Target {
    pub fn new(structures: &Structures, layout: NewLayout) -> Target {
        let structure: &Structure = &structures.list[layout.structure];
        let mut pieces: Vec<Piece> = Vec::new();
        for (index, member) in structure.members.iter().enumerate() {
            let (part, offset) = layout.places[index];
            let next = structure
                .members
                .get(index + 1)
                .map_or(structure.size, |next| next.offset);
            let start = if index == 0 { 0 } else { member.offset };
            if start < next {
                pieces.push(Piece {
                    start,
                    end: next,
                    part,
                    offset,
                });
            }
        }
        Target {
            size: structure.size,
            pieces,
            layout,
        }
    }

    /// Whether an access to these bytes, from the start of an object, is not to its first part alone.
    #[inline]
    fn reaches_rest(&self, start: u64, end: u64) -> bool {
        let behind = self.pieces.partition_point(|piece| piece.start <= start);
        let mut pieces = self.pieces[behind.saturating_sub(1)..].iter();
        end > self.size || pieces.any(|piece| piece.start < end && piece.part > 0)
    }

    #[inline]
    fn piece_at(&self, inside: u64) -> Piece {
        let behind = self.pieces.partition_point(|piece| piece.start <= inside);
        self.pieces[behind.saturating_sub(1)]
    }
}

/// Where the rewritten accesses of one old access go.
struct Output<'o> {
    batch: &'o mut Batch,
    site: SiteId,
    first: usize,
}

impl Output<'_> {
    /// Appends, or lengthens the last one if this goes on where it ends.
    fn push(&mut self, address: u64, length: u64) {
        let last = self.batch.address.len().wrapping_sub(1);
        if self.batch.address.len() > self.first {
            let before = self.batch.length(last);
            if self.batch.address[last].wrapping_add(before) == address {
                self.batch.site.pop();
                let start = self.batch.address.pop().unwrap_or(address);
                self.batch.size.pop();
                self.batch
                    .long_blocks
                    .retain(|block| block.index as usize != last);
                return push(self.batch, self.site, start, before + length);
            }
        }
        push(self.batch, self.site, address, length);
    }
}

fn push(batch: &mut Batch, site: SiteId, address: u64, length: u64) {
    let size = u32::try_from(length).unwrap_or(u32::MAX);
    if size == u32::MAX {
        batch.long_blocks.push(LongBlock {
            index: batch.address.len() as u32,
            length,
        });
    }
    batch.site.push(site);
    batch.address.push(address);
    batch.size.push(size);
}

fn begin_like(to: &mut Batch, from: &Batch) {
    to.clear();
    (to.process, to.stream, to.sequence) = (from.process, from.stream, from.sequence);
    (to.first_ns, to.last_ns) = (from.first_ns, from.last_ns);
}

impl<'r> Rewriter<'r> {
    pub fn new(program: &Program, purposes: &'r Purposes, targets: &'r Targets) -> Self {
        Rewriter {
            purposes,
            targets,
            pointer_sites: [0, 1].map(|pointer| SiteId(program.sites.len() as u32 + pointer)),
            numbering: Numbering::new(program),
            processes: HashMap::new(),
            spaces: HashMap::new(),
            pointers: HashMap::new(),
            done: vec![Rewritten::default(); targets.list.len()],
        }
    }

    /// Whether it was given any batch.
    pub fn has_begun(&self) -> bool {
        !self.processes.is_empty()
    }

    /// Passes the accesses of `from` on, rewritten and with the events of the slice, in the memory of `to`: at least one batch.
    pub fn rewrite(
        &mut self,
        program: &Program,
        from: &Batch,
        to: &mut Batch,
        pass_on: &mut impl FnMut(&Batch),
    ) {
        begin_like(to, from);
        let mut blocks = match self.processes.remove(&from.process) {
            Some(blocks) => blocks,
            None => self.begin_process(program, from.process),
        };
        let mut marks = from.marks.iter().peekable();
        for index in 0..=from.len() {
            while let Some(mark) = marks.next_if(|mark| mark.before as usize <= index || index == from.len())
            {
                let event = from.event(*mark);
                if !mark.is_outside() {
                    to.push(event);
                }
                let changes = self.numbering.changes(event);
                for change in changes.into_iter().flatten() {
                    let pointers = self.apply(&mut blocks, from.process, change);
                    self.set_pointers(pointers, from, to, pass_on);
                }
            }
            if index < from.len() {
                self.access(&mut blocks, from, index, to);
            }
        }
        self.processes.insert(from.process, blocks);
        pass_on(to);
    }

    /// Sets the pointers of an array that was just allocated, one after the other.
    fn set_pointers(
        &mut self,
        pointers: Option<Pointers>,
        from: &Batch,
        to: &mut Batch,
        pass_on: &mut impl FnMut(&Batch),
    ) {
        let Some(pointers) = pointers else { return };
        self.done[pointers.target].pointer_stores += pointers.count;
        for number in 0..pointers.count {
            if to.len() >= MOST_REWRITTEN {
                pass_on(to);
                begin_like(to, from);
            }
            let pointer = pointers.start.wrapping_add(number * pointers.distance);
            push(to, self.pointer_sites[1], pointer, POINTER_BYTES);
        }
    }

    fn begin_process(&mut self, program: &Program, process: u32) -> Blocks<Option<Mapped>> {
        let mut areas = 0;
        let spaces = self.targets.list.iter().map(|target| {
            let parts = target.layout.parts.len();
            areas += parts;
            Space::new(parts, areas - parts)
        });
        self.spaces.insert(process, spaces.collect());
        let mut blocks = Blocks::new(program.sites.len());
        // The pointers of static variables are set before the program begins.
        for change in static_blocks(program) {
            self.apply(&mut blocks, process, change);
        }
        blocks
    }

    /// Returns the pointers of a new array.
    fn apply(
        &mut self,
        blocks: &mut Blocks<Option<Mapped>>,
        process: u32,
        change: Change,
    ) -> Option<Pointers> {
        match change {
            Change::Begins {
                number,
                start,
                length,
            } => {
                let mapped = self.map(process, number, start, length);
                let pointers = mapped.as_ref().and_then(|mapped| self.pointers_of(mapped));
                blocks.begin(start, length, mapped);
                pointers
            }
            Change::Ends { start } => {
                blocks.end(start);
                None
            }
        }
    }

    fn pointers_of(&self, mapped: &Mapped) -> Option<Pointers> {
        let layout = &self.targets.list[mapped.target].layout;
        layout.has_pointer().then(|| Pointers {
            target: mapped.target,
            start: mapped.starts[0],
            distance: layout.parts[0].size,
            count: mapped.count,
        })
    }

    fn map(&mut self, process: u32, number: u64, start: u64, length: u64) -> Option<Mapped> {
        let Purpose::Array { structure, phase } = self.purposes.of(number) else {
            return None;
        };
        let is_target = |target: &Target| target.layout.structure == structure as usize;
        let target = self.targets.list.iter().position(is_target)?;
        let count = length.saturating_sub(phase) / self.targets.list[target].size;
        if count == 0 || length > MAX_BLOCK_BYTES {
            return None;
        }
        let parts = &self.targets.list[target].layout.parts;
        let start = start.wrapping_add(phase);
        let space = self.spaces.get_mut(&process)?.get_mut(target)?;
        self.done[target].blocks += 1;
        self.done[target].objects += count;
        Some(Mapped {
            target,
            start,
            count,
            starts: space.place(parts, start, count),
        })
    }

    #[inline]
    fn access(&mut self, blocks: &mut Blocks<Option<Mapped>>, from: &Batch, index: usize, to: &mut Batch) {
        let (site, address) = (from.site[index], from.address[index]);
        if let Some((_, Some(mapped))) = blocks.at(site.index(), address) {
            let target = &self.targets.list[mapped.target];
            let inside = address.wrapping_sub(mapped.start);
            if inside < mapped.count * target.size {
                let length = from.length(index);
                return self.access_object(mapped, (from.stream, site), inside, length, to);
            }
        }
        if let Some(target) = self.targets.by_site[site.index()] {
            self.done[target as usize].left += 1;
        }
        to.site.push(site);
        to.address.push(address);
        to.size.push(from.size[index]);
        if from.size[index] == u32::MAX {
            to.size.pop();
            to.site.pop();
            to.address.pop();
            push(to, site, address, from.length(index));
        }
    }

    /// An access `inside` bytes after the start of an array.
    #[inline]
    fn access_object(
        &mut self,
        mapped: &Mapped,
        (stream, site): (u32, SiteId),
        inside: u64,
        length: u64,
        to: &mut Batch,
    ) {
        let target = &self.targets.list[mapped.target];
        let names_it = self.targets.by_site[site.index()] == Some(mapped.target as u32);
        let done = &mut self.done[mapped.target];
        done.rewritten += 1;
        done.by_address += u64::from(!names_it);
        let (number, within) = (inside / target.size, inside % target.size);
        let piece = target.piece_at(within);
        let is_one = within + length <= piece.end;
        if target.layout.has_pointer() && target.reaches_rest(within, within.saturating_add(length)) {
            self.follow_pointer(mapped, stream, number, to);
        }
        let first = to.address.len();
        let mut output = Output {
            batch: to,
            site,
            first,
        };
        if is_one {
            let part = &target.layout.parts[piece.part];
            let address = mapped.starts[piece.part]
                .wrapping_add(number * part.size)
                .wrapping_add(piece.offset + (within - piece.start));
            return output.push(address, length);
        }
        divide(target, mapped, inside, length, &mut output);
        self.done[mapped.target].divided += u64::from(to.address.len() > first + 1);
    }

    /// The pointer stays in a register until another object is accessed.
    fn follow_pointer(&mut self, mapped: &Mapped, stream: u32, number: u64, to: &mut Batch) {
        let part = &self.targets.list[mapped.target].layout.parts[0];
        let object = mapped.starts[0].wrapping_add(number * part.size);
        if self.pointers.insert(stream, object) != Some(object) {
            self.done[mapped.target].pointer_loads += 1;
            push(to, self.pointer_sites[0], object, POINTER_BYTES);
        }
    }
}

/// Divides an access that covers several pieces: those of the first object, whole objects by part, those of the last
/// object, and the unchanged rest past the array.
fn divide(target: &Target, mapped: &Mapped, inside: u64, length: u64, output: &mut Output) {
    let array_end = mapped.count * target.size;
    let end = inside.saturating_add(length).min(array_end);
    let mut at = inside;
    while at < end {
        let (number, within) = (at / target.size, at % target.size);
        let whole = (end - at) / target.size;
        if within == 0 && whole > 0 {
            for (part, start) in target.layout.parts.iter().zip(&mapped.starts) {
                output.push(start.wrapping_add(number * part.size), whole * part.size);
            }
            at += whole * target.size;
            continue;
        }
        let piece = target.piece_at(within);
        let stop = (at - within + piece.end).min(end);
        let part = &target.layout.parts[piece.part];
        let start = mapped.starts[piece.part].wrapping_add(number * part.size);
        output.push(
            start.wrapping_add(piece.offset + (within - piece.start)),
            stop - at,
        );
        at = stop;
    }
    let behind = length - (end - inside);
    if behind > 0 {
        output.push(mapped.start.wrapping_add(array_end), behind);
    }
}

#[cfg(test)]
mod tests;
