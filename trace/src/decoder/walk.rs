//! From record to record: the decoder's innermost loop.
//!
//! Whether an id is local or global takes no branch, and what a record does takes one, by the class of its segment's
//! front. What bounds the loop is the way from an id to the next one, two dependent loads and a few operations, and the
//! branches by class that the processor cannot foresee.

use std::hint::select_unpredictable;

use crate::code::{
    Front, FrontSet, SegmentCode, ENTRY_END_LOCAL, ENTRY_FIRST_LOCAL, ENTRY_LENGTH, ENTRY_SEGMENT,
    NO_SEGMENT, TEMPORARY_REGISTER,
};
use crate::SiteId;

use super::machine::{Columns, Machine};
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
        let payload = self.payload();
        let mut columns = self.columns();
        let mut accesses = self.accesses();
        let mut marks = self.marks();
        let Place {
            mut position,
            mut first_local,
            mut end_local,
            mut last_start,
        } = *place;
        assert!(limit + 4 <= payload.len());
        let stop = loop {
            if accesses >= BATCH_ACCESSES || marks >= BATCH_MARKS {
                break Stop::Full;
            }
            // SAFETY: `position` is at most `limit`.
            let word = unsafe { u32::from_le(payload.as_ptr().add(position).cast::<u32>().read_unaligned()) };
            let is_global = word & 0xff == 0;
            let index = select_unpredictable(is_global, word >> 8, first_local + (word & 0xff));
            let end = select_unpredictable(is_global, code.id_count, end_local);
            if index >= end {
                break Stop::Unclear;
            }
            debug_assert!((index as usize) < code.entries.len());
            // SAFETY: `end` is at most the number of entries.
            let entry = unsafe { code.entries.get_unchecked(index as usize) };
            let record_end = position + entry[ENTRY_LENGTH] as usize;
            let number = entry[ENTRY_SEGMENT];
            if number == NO_SEGMENT || record_end > limit {
                break Stop::Unclear;
            }
            debug_assert!((number as usize) < code.segments.len());
            // SAFETY: entries lead to segments that exist.
            let segment: &SegmentCode = unsafe { code.segments.get_unchecked(number as usize) };
            debug_assert!(record_end + 8 <= payload.len());
            // SAFETY: the batch is not full, and 8 bytes behind the record are readable.
            unsafe { columns.run(&segment.front, payload.as_ptr().add(record_end), accesses, marks) };
            last_start = accesses;
            accesses += segment.front.access_count as usize;
            marks += segment.front.mark_count as usize;
            let record = position;
            position = record_end;
            first_local = entry[ENTRY_FIRST_LOCAL];
            end_local = entry[ENTRY_END_LOCAL];
            if segment.goes_on {
                for front in self.further_fronts(segment) {
                    // SAFETY: as above: the columns have room for all accesses of a record, the marks for a mark of
                    // each of its fronts.
                    unsafe { columns.run(front, payload.as_ptr().add(record_end), accesses, marks) };
                    accesses += front.access_count as usize;
                    marks += front.mark_count as usize;
                }
                if segment.step_count == 0 {
                    continue;
                }
                let start = record_end - segment.record_length as usize;
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
                columns = self.columns();
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
}

/// Runs the code of a front's class; `front_class` numbers them.
macro_rules! by_class {
    ($columns:ident, $front:ident, $record_end:ident, $accesses:ident: $($class:literal $roots:literal $settings:literal $count:literal),*) => {
        match $front.class {
            $($class => $columns.run_class::<$roots, $settings, $count>($front, $record_end, $accesses),)*
            _ => {}
        }
    };
}

impl Columns {
    /// Runs a front, behind so many accesses and marks.
    ///
    /// # Safety
    /// There must be room for FRONT_ACCESSES accesses and a mark; the record must end at `record_end`, and 8 further
    /// bytes must be readable.
    #[inline(always)]
    unsafe fn run(self, front: &Front, record_end: *const u8, accesses: usize, marks: usize) {
        // SAFETY: the caller's duty.
        unsafe {
            by_class!(self, front, record_end, accesses:
                0 0 0 1, 1 1 0 1, 2 2 0 1, 3 0 1 1, 4 1 1 1, 5 2 1 1, 6 0 2 1, 7 1 2 1, 8 2 2 1,
                9 0 0 4, 10 1 0 4, 11 2 0 4, 12 0 1 4, 13 1 1 4, 14 2 1 4, 15 0 2 4, 16 1 2 4, 17 2 2 4);
            self.marks.add(marks).write(front.mark.moved(accesses as u32));
        }
    }

    /// # Safety
    /// `register` must be one of the code's.
    #[inline(always)]
    unsafe fn register(&self, register: u32) -> u64 {
        // SAFETY: the code's registers are below its register count.
        unsafe { *self.registers.add(register as usize) }
    }

    /// # Safety
    /// As for [`Columns::register`].
    #[inline(always)]
    unsafe fn set(&self, register: u32, value: u64) {
        // SAFETY: as above.
        unsafe { *self.registers.add(register as usize) = value }
    }

    /// See [`Columns::run`]; all but the mark.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn run_class<const ROOTS: usize, const SETTINGS: usize, const ACCESSES: usize>(
        self,
        front: &Front,
        record_end: *const u8,
        accesses: usize,
    ) {
        // SAFETY: the roots lie in the record; there is room in the columns by the caller's duty.
        unsafe {
            for root in &front.roots[..ROOTS] {
                let bytes = record_end
                    .sub(root.from_end as usize)
                    .cast::<u64>()
                    .read_unaligned();
                let value = u64::from_le(bytes) & root.mask;
                self.set(root.register, (value ^ root.sign).wrapping_sub(root.sign));
            }
            if SETTINGS == 2 {
                let term = |index: usize| {
                    let scale = i64::from(front.temporary.scales[index]) as u64;
                    self.register(front.temporary.registers[index])
                        .wrapping_mul(scale)
                };
                self.set(TEMPORARY_REGISTER, term(0).wrapping_add(term(1)));
            }
            for index in 0..ACCESSES {
                let address = self
                    .register(front.registers[index])
                    .wrapping_add(front.constants[index]);
                self.addresses.add(accesses + index).write(address);
            }
            self.sites
                .add(accesses)
                .cast::<[SiteId; ACCESSES]>()
                .write_unaligned(front.sites[..ACCESSES].try_into().unwrap_unchecked());
            self.sizes
                .add(accesses)
                .cast::<[u32; ACCESSES]>()
                .write_unaligned(front.sizes[..ACCESSES].try_into().unwrap_unchecked());
            let value = |set: &FrontSet| self.register(set.source).wrapping_add(set.constant);
            let values = [value(&front.sets[0]), value(&front.sets[1])];
            for (set, value) in front.sets.iter().zip(values).take(SETTINGS) {
                self.set(set.register, value);
            }
        }
    }
}
