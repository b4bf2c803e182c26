//! From record to record: the decoder's innermost loop.
//!
//! It has no branch that depends on the record's kind, except for those that need more than their segment's front. What
//! bounds it is the way from an id to the next one: two dependent loads and a few operations for each record.

use std::hint::select_unpredictable;

use crate::code::{
    Front, SegmentCode, ENTRY_END_LOCAL, ENTRY_FIRST_LOCAL, ENTRY_LENGTH, ENTRY_SEGMENT, FRONT_ACCESSES,
    NO_SEGMENT, TEMPORARY_REGISTER,
};
use crate::SiteId;

use super::machine::Machine;
use super::{BATCH_ACCESSES, BATCH_MARKS};

/// Where the walk through a payload stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Of the next record's id.
    pub(super) position: usize,
    /// The current function's local ids in the code's entries.
    pub(super) first_local: u32,
    pub(super) end_local: u32,
    /// Accesses of the batch that stood before the latest record.
    pub(super) last_start: usize,
}

impl Place {
    pub(super) const START: Place = Place {
        position: 0,
        first_local: 0,
        end_local: 0,
        last_start: 0,
    };
}

/// Why a walk ended.
pub(super) enum Stop {
    Full,
    /// At a record that does not end before the limit, or at an id that leads nowhere.
    Unclear,
    /// Behind a record with loops, of which the front has run; its id and its roots began at these positions.
    Loops {
        segment: u32,
        position: usize,
        start: usize,
    },
}

impl Machine<'_> {
    /// Runs records that end at or before `limit`.
    #[inline]
    pub(super) fn walk(&mut self, place: &mut Place, limit: usize) -> Stop {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.walk_with_avx2(place, limit) };
        }
        self.walk_with_anything(place, limit)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn walk_with_avx2(&mut self, place: &mut Place, limit: usize) -> Stop {
        self.walk_with_anything(place, limit)
    }

    #[inline(always)]
    fn walk_with_anything(&mut self, place: &mut Place, limit: usize) -> Stop {
        let code = self.code;
        let mut accesses = self.accesses();
        let mut marks = self.marks();
        let Place {
            mut position,
            mut first_local,
            mut end_local,
            mut last_start,
        } = *place;
        assert!(limit + 4 <= self.payload().len());
        let stop = loop {
            if accesses >= BATCH_ACCESSES || marks >= BATCH_MARKS {
                break Stop::Full;
            }
            // SAFETY: `position` is at most `limit`.
            let word = unsafe {
                u32::from_le(
                    self.payload()
                        .as_ptr()
                        .add(position)
                        .cast::<u32>()
                        .read_unaligned(),
                )
            };
            let is_global = word & 0xff == 0;
            let index = select_unpredictable(is_global, word >> 8, first_local + (word & 0xff));
            let end = select_unpredictable(is_global, code.id_count, end_local);
            if index >= end {
                break Stop::Unclear;
            }
            debug_assert!((index as usize) < code.entries.len());
            // SAFETY: `end` is at most the number of entries.
            let entry = unsafe { code.entries.get_unchecked(index as usize) };
            let start = position + select_unpredictable(is_global, 4, 1);
            let record_end = start + entry[ENTRY_LENGTH] as usize;
            let number = entry[ENTRY_SEGMENT];
            if number == NO_SEGMENT || record_end > limit {
                break Stop::Unclear;
            }
            debug_assert!((number as usize) < code.segments.len());
            // SAFETY: entries lead to segments that exist.
            let segment: &SegmentCode = unsafe { code.segments.get_unchecked(number as usize) };
            // SAFETY: the batch is not full, and the record lies in the payload.
            unsafe { self.front(&segment.front, start, accesses, marks) };
            last_start = accesses;
            accesses += segment.front.access_count as usize;
            marks += segment.front.mark_count as usize;
            let record = position;
            position = record_end;
            first_local = entry[ENTRY_FIRST_LOCAL];
            end_local = entry[ENTRY_END_LOCAL];
            if segment.step_count > 0 {
                // SAFETY: the front has written them.
                unsafe { self.set_lengths(accesses, marks) };
                if segment.has_loops {
                    break Stop::Loops {
                        segment: number,
                        position: record,
                        start,
                    };
                }
                self.steps(segment, start);
                (accesses, marks) = (self.accesses(), self.marks());
            }
        };
        // SAFETY: the fronts have written them.
        unsafe { self.set_lengths(accesses, marks) };
        *place = Place {
            position,
            first_local,
            end_local,
            last_start,
        };
        stop
    }

    /// Runs a front with the batch's lengths as given; they stay as they are.
    ///
    /// # Safety
    /// The batch must have room for FRONT_ACCESSES accesses and a mark, and the payload must go on for at least
    /// `code.max_record_length + 8` bytes behind `start`.
    #[inline(always)]
    pub(super) unsafe fn front(&mut self, front: &Front, start: usize, accesses: usize, marks: usize) {
        debug_assert!(start + self.code.max_record_length + 8 <= self.payload().len());
        // SAFETY: a root's offset is at most max_record_length, and 8 further bytes are readable; the code's registers
        // are below its register count; there is room in the columns by the caller's duty.
        unsafe {
            let record = self.payload().as_ptr().add(start);
            for root in &front.roots {
                let bytes = record.add(root.offset as usize).cast::<u64>().read_unaligned();
                let value = u64::from_le(bytes) & root.mask;
                self.set(root.register, (value ^ root.sign).wrapping_sub(root.sign));
            }
            let value = self.linear_value(&front.temporary);
            self.set(TEMPORARY_REGISTER, value);
            let (sites, addresses, sizes, mark) = self.ends(accesses, marks);
            for index in 0..FRONT_ACCESSES {
                let address = self
                    .register(front.registers[index])
                    .wrapping_add(front.constants[index]);
                addresses.add(index).write(address);
            }
            let values = front
                .sets
                .map(|set| self.register(set.source).wrapping_add(set.constant));
            for (set, value) in front.sets.iter().zip(values) {
                self.set(set.register, value);
            }
            sites.cast::<[SiteId; FRONT_ACCESSES]>().write(front.sites);
            sizes.cast::<[u32; FRONT_ACCESSES]>().write(front.sizes);
            mark.write(front.mark.moved(accesses as u32));
        }
    }
}
