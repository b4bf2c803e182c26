//! Goes from record to record: the decoder's innermost loop.
//!
//! Whether an id is local or global takes no branch. What a record does takes one, by the class of its segment's front.
//! Two things bound the loop. One is the way from an id to the next: two dependent loads and a few operations. The
//! other is the branches by class that the processor can't predict.

use std::hint::select_unpredictable;
use std::ops::Range;

use crate::code::{
    entry_class, entry_length, entry_locals, entry_segment, second_place, Front, FrontRoot, FrontSet, Locals,
    SegmentCode, PREFIX_CLASS, TEMPORARY_REGISTER,
};
use crate::SiteId;

use super::machine::{Columns, Machine};
use super::{BATCH_ACCESSES, BATCH_MARKS};

/// Where the walk through a payload stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Offset of the next record's id.
    pub(super) position: usize,
    /// The current function's.
    pub(super) locals: Locals,
    /// Accesses of the batch that stood before the latest record.
    pub(super) last_start: usize,
}

impl Place {
    pub(super) const START: Place = Place {
        position: 0,
        locals: Locals::NONE,
        last_start: 0,
    };
}

/// Why a walk ended.
pub(super) enum Stop {
    Full,
    /// It stopped at a record that does not end before the limit, or at an id that leads nowhere.
    Unclear,
    /// It stopped after the last record that was split.
    Joined,
    /// It stopped at a record that the columns can't hold; this is wrong with them.
    Damaged(&'static str),
    /// It stopped after a record with loops. These steps have not run; the record's id and its roots began at these
    /// positions.
    Loops {
        steps: Range<u32>,
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
        assert!(limit + 4 <= self.payload().len());
        let start = self.payload().as_ptr();
        let mut columns = self.columns();
        let mut counts = Counts::new(self.accesses(), self.marks());
        let limit = start.wrapping_add(limit);
        let mut at = start.wrapping_add(place.position);
        let mut locals = place.locals;
        let mut last_start = place.last_start;
        let position = |at: *const u8| at as usize - start as usize;
        let stop = loop {
            if counts.is_full() {
                break Stop::Full;
            }
            // SAFETY: `at` is at most `limit`.
            let word = unsafe { u32::from_le(at.cast::<u32>().read_unaligned()) };
            let is_global = word & 0xff == 0;
            let index = select_unpredictable(is_global, word >> 8, locals.first() + (word & 0xff));
            let end = select_unpredictable(is_global, code.id_count, locals.end());
            if index >= end {
                break Stop::Unclear;
            }
            debug_assert!((index as usize) < code.entries.len());
            // SAFETY: `end` is at most the number of entries.
            let mut entry = unsafe { code.entries.get_unchecked(index as usize) };
            if entry_class(entry) == PREFIX_CLASS {
                // SAFETY: the lists by second bytes have an entry for each, and lie in the entries.
                entry = unsafe { code.entries.get_unchecked(second_place(entry, word)) };
            }
            let record_end = at.wrapping_add(entry_length(entry));
            if record_end > limit {
                break Stop::Unclear;
            }
            let number = entry_segment(entry);
            debug_assert!((number as usize) < code.segments.len());
            // SAFETY: entries lead to segments that exist, and those of no class to the first.
            let segment: &SegmentCode = unsafe { code.segments.get_unchecked(number as usize) };
            let (accesses, marks) = (counts.accesses(), counts.marks());
            // SAFETY: the batch is not full, and 8 bytes after the record are readable.
            let mut roots = InRecord(record_end);
            let ran = unsafe { columns.run(entry_class(entry), &segment.front, &mut roots, accesses, marks) };
            if !matches!(ran, FrontOutcome::Done) {
                break Stop::Unclear;
            }
            last_start = accesses;
            counts.add(&segment.front);
            let record = at;
            at = record_end;
            locals = entry_locals(entry);
            if segment.goes_on {
                let place = RecordPlace {
                    start: position(record),
                    end: position(at),
                };
                // SAFETY: the fronts so far have written what counts, and the roots are the record's.
                if let Some(stop) = unsafe { self.go_on(number, place, &mut roots, &mut counts) } {
                    break stop;
                }
                columns = self.columns();
            }
        };
        // SAFETY: the fronts have written them.
        unsafe { self.set_lengths(counts.accesses(), counts.marks()) };
        *place = Place {
            position: position(at),
            locals,
            last_start,
        };
        stop
    }
}

impl Machine<'_> {
    /// Runs what a segment has after its first front. Returns why the walk is to end, if it is.
    ///
    /// # Safety
    /// Accesses and marks must be written up to `counts`, and the roots be the segment's next ones.
    #[inline(always)]
    pub(super) unsafe fn go_on(
        &mut self,
        number: u32,
        record: RecordPlace,
        roots: &mut impl Roots,
        counts: &mut Counts,
    ) -> Option<Stop> {
        let code = self.code;
        debug_assert!((number as usize) < code.segments.len());
        // SAFETY: the caller's duty.
        let segment = unsafe { code.segments.get_unchecked(number as usize) };
        let columns = self.columns();
        for front in self.further_fronts(segment) {
            let (accesses, marks) = (counts.accesses(), counts.marks());
            // SAFETY: the columns have room for all accesses of a record, the marks for a mark of each of its fronts.
            let ran = unsafe { columns.run(front.class as u8, front, roots, accesses, marks) };
            if !matches!(ran, FrontOutcome::Done) {
                return Some(Stop::Unclear);
            }
            counts.add(front);
        }
        if segment.step_count == 0 {
            return None;
        }
        let start = record.end - segment.record_length as usize;
        // SAFETY: the fronts have written them.
        unsafe { self.set_lengths(counts.accesses(), counts.marks()) };
        if segment.has_loops {
            let stop = self.begin_loops(segment, record, start);
            *counts = Counts::new(self.accesses(), self.marks());
            return stop;
        }
        self.steps(segment, start);
        *counts = Counts::new(self.accesses(), self.marks());
        None
    }
}

impl Machine<'_> {
    /// Runs the steps of a record with loops, or as many as can be run at once.
    #[inline(never)]
    fn begin_loops(&mut self, segment: &SegmentCode, record: RecordPlace, start: usize) -> Option<Stop> {
        let steps = self.steps_with_runs(segment, record.end, start);
        if !steps.is_empty() {
            return Some(Stop::Loops {
                steps,
                position: record.start,
                start,
            });
        }
        self.is_full_of_runs().then_some(Stop::Full)
    }
}

/// Where in the payload a record stands, with its id.
#[derive(Clone, Copy)]
pub(super) struct RecordPlace {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Numbers of accesses and marks of the batch. They share a word, since the loop has no register for each.
#[derive(Clone, Copy)]
pub(super) struct Counts(u64);

impl Counts {
    /// Both are below 2^32: a batch ends long before.
    pub(super) fn new(accesses: usize, marks: usize) -> Self {
        Counts((marks as u64) << 32 | accesses as u64)
    }

    #[inline(always)]
    pub(super) fn accesses(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub(super) fn marks(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    pub(super) fn add(&mut self, front: &Front) {
        self.0 += u64::from(front.mark_count) << 32 | u64::from(front.access_count);
    }

    #[inline(always)]
    pub(super) fn is_full(self) -> bool {
        const { assert!(BATCH_ACCESSES.is_power_of_two() && BATCH_MARKS.is_power_of_two()) };
        const BELOW: u64 = ((BATCH_MARKS as u64 - 1) << 32) | (BATCH_ACCESSES as u64 - 1);
        self.0 & !BELOW != 0
    }
}

/// Where the roots of a front come from.
pub(super) trait Roots {
    /// The value of the front's next root, without sign.
    ///
    /// # Safety
    /// There must be one, and it must be this one.
    unsafe fn next(&mut self, root: &FrontRoot) -> u64;

    /// Whether those so far can have been recorded.
    fn are_valid(&self) -> bool;
}

/// What became of a front.
pub(super) enum FrontOutcome {
    Done,
    /// There is no such class.
    Not,
    /// The roots are invalid.
    Invalid,
}

/// The roots stand in the record, which ends there; 8 bytes past it must be readable.
#[derive(Clone, Copy)]
pub(super) struct InRecord(pub(super) *const u8);

impl Roots for InRecord {
    #[inline(always)]
    unsafe fn next(&mut self, root: &FrontRoot) -> u64 {
        // SAFETY: the root lies in the record.
        let bytes = unsafe { self.0.sub(root.from_end as usize).cast::<u64>().read_unaligned() };
        u64::from_le(bytes) & root.mask
    }

    #[inline(always)]
    fn are_valid(&self) -> bool {
        true
    }
}

/// Runs the code of a front's class; `front_class` numbers them.
macro_rules! by_class {
    ($columns:ident, $number:ident, $front:ident, $from:ident, $accesses:ident: $($class:literal $roots:literal $settings:literal $count:literal),*) => {
        match $number {
            $($class => {
                if !$columns.run_class::<$roots, $settings, $count>($front, $from, $accesses) {
                    return FrontOutcome::Invalid;
                }
            })*
            _ => return FrontOutcome::Not,
        }
    };
}

impl Columns {
    /// Runs a front of a class, after so many accesses and marks. Does nothing if there is no such class.
    ///
    /// # Safety
    /// There must be room for FRONT_ACCESSES accesses and a mark; the roots must be the front's.
    #[inline(always)]
    pub(super) unsafe fn run(
        self,
        class: u8,
        front: &Front,
        roots: &mut impl Roots,
        accesses: usize,
        marks: usize,
    ) -> FrontOutcome {
        // SAFETY: the caller's duty.
        unsafe {
            by_class!(self, class, front, roots, accesses:
                1 0 0 1, 2 1 0 1, 3 2 0 1, 4 0 1 1, 5 1 1 1, 6 2 1 1, 7 0 2 1, 8 1 2 1, 9 2 2 1,
                10 0 0 4, 11 1 0 4, 12 2 0 4, 13 0 1 4, 14 1 1 4, 15 2 1 4, 16 0 2 4, 17 1 2 4, 18 2 2 4);
            self.marks.add(marks).write(front.mark.moved(accesses as u32));
            FrontOutcome::Done
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

    /// See [`Columns::run`]; all but the mark. False if the roots are invalid.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn run_class<const ROOTS: usize, const SETTINGS: usize, const ACCESSES: usize>(
        self,
        front: &Front,
        roots: &mut impl Roots,
        accesses: usize,
    ) -> bool {
        // SAFETY: the caller's duty.
        unsafe {
            for root in &front.roots[..ROOTS] {
                let value = roots.next(root);
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
            ROOTS == 0 || roots.are_valid()
        }
    }
}
