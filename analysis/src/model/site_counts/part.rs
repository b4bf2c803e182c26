//! Which cache lines a shard simulates, if others simulate the others.

use std::ops::Range;

use trackway_trace::Batch;

use crate::model::cache::Caches;
use crate::WorkPart;

/// Accesses that are searched at a time for those of a part.
pub(super) const STRETCH: usize = 256;

/// The lines of one part: those whose addresses have certain bits. No set of any level has lines of two parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePart {
    shift: u32,
    /// The number of bits: 0 if all lines are meant.
    bits: u32,
    number: u64,
}

impl LinePart {
    pub fn new(caches: &Caches, part: WorkPart) -> LinePart {
        debug_assert!(part == WorkPart::WHOLE || part.count <= caches.most_line_parts());
        LinePart {
            shift: caches.part_shift(),
            bits: part.count.ilog2(),
            number: part.number.into(),
        }
    }

    #[inline(always)]
    pub fn is_whole(self) -> bool {
        self.bits == 0
    }

    /// Finds the accesses of a range of the columns that may touch the part's lines, and returns their number. The
    /// range must not be longer than [`STRETCH`].
    #[inline(always)]
    pub fn choose(self, batch: &Batch, range: Range<usize>, chosen: &mut [u32; STRETCH]) -> usize {
        let mut strange = [0; STRETCH];
        let columns = batch.address[range.clone()]
            .iter()
            .zip(&batch.size[range.clone()]);
        for (strange, (&address, &size)) in strange.iter_mut().zip(columns) {
            let behind = (address & self.offsets()).wrapping_add(size.into());
            let crosses = behind.wrapping_sub(1) >> self.shift != 0;
            *strange = u32::from(!crosses & !self.has(address));
        }
        let mut count = 0;
        for (index, strange) in range.zip(strange) {
            // This avoids a branch, which would be unpredictable.
            chosen[count] = index as u32;
            count += 1 - strange as usize;
        }
        count
    }

    /// The bits of an address within a line.
    fn offsets(self) -> u64 {
        (1 << self.shift) - 1
    }

    /// Where an address of the part is if the bits that tell the parts apart are left out.
    #[inline(always)]
    pub fn place(self, address: u64) -> u64 {
        address >> self.shift >> self.bits << self.shift | address & self.offsets()
    }

    /// Whether an access touches one line at most.
    #[inline(always)]
    pub fn is_in_one_line(self, address: u64, length: u64) -> bool {
        address >> self.shift == last_byte(address, length) >> self.shift
    }

    /// Whether the line of an address is the part's.
    #[inline(always)]
    pub fn has(self, address: u64) -> bool {
        self.has_line(address >> self.shift)
    }

    #[inline(always)]
    fn has_line(self, line: u64) -> bool {
        line & ((1 << self.bits) - 1) == self.number
    }

    /// The parts of an access of some bytes that lie in the part's lines, as address and length.
    pub fn own(self, address: u64, length: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = last_byte(address, length);
        let lines = address >> self.shift..=end >> self.shift;
        let own = lines.filter(move |&line| self.has_line(line));
        own.map(move |line| {
            let first = address.max(line << self.shift);
            let last = end.min(line << self.shift | ((1 << self.shift) - 1));
            (first, last - first + 1)
        })
    }
}

/// Address of an access's last byte. An access ends at the end of the address space at the latest.
#[inline(always)]
fn last_byte(address: u64, length: u64) -> u64 {
    address.saturating_add(length.wrapping_sub(1))
}
