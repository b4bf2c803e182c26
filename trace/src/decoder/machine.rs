//! What a record does: it sets registers and appends to the batch's columns.

mod rare_steps;

use crate::code::{Code, Front, Linear, Root, SegmentCode, Step, WideTerm, MAX_FRONTS, RUN_UNIT};
use crate::{Batch, Mark, SiteId};

use super::block::Block;
use super::{BATCH_ACCESSES, BATCH_LANES, BATCH_MARKS, COLUMN_SLACK};

/// Where a machine reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub(super) registers: *mut u64,
    pub(super) sites: *mut SiteId,
    pub(super) addresses: *mut u64,
    pub(super) sizes: *mut u32,
    pub(super) marks: *mut Mark,
}

/// Runs the steps of records and writes to a batch. While it lives, the columns' lengths are in `accesses` alone.
///
/// Invariants: `code` is what [`Code::compile`] made. `registers` has `code.register_count` entries. Each column has
/// room for `BATCH_ACCESSES + code.max_accesses + COLUMN_SLACK` entries. `payload` goes on for at least
/// `code.max_record_length + 8` bytes after each `start` with which [`Machine::run`] is called.
pub(super) struct Machine<'a> {
    pub(super) code: &'a Code,
    payload: &'a mut [u8],
    registers: &'a mut [u64],
    pub(super) batch: &'a mut Batch,
    sites: *mut SiteId,
    addresses: *mut u64,
    sizes: *mut u32,
    marks: *mut Mark,
    accesses: usize,
    keeps_runs: bool,
    /// The lanes that made the accesses of the latest masked step.
    last_mask: u64,
    /// Where the latest record with loops ends, and the runs before it.
    pub(super) latest_loops: (usize, usize),
    /// Memory for the values of a loop's forms.
    pub(super) forms: Vec<u64>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        code: &'a Code,
        payload: &'a mut [u8],
        registers: &'a mut [u64],
        batch: &'a mut Batch,
    ) -> Self {
        let room = BATCH_ACCESSES + code.max_accesses + COLUMN_SLACK;
        assert!(registers.len() == code.register_count && batch.is_empty());
        batch.site.reserve(room);
        batch.address.reserve(room);
        batch.size.reserve(room);
        batch.marks.reserve(BATCH_MARKS + MAX_FRONTS);
        let (sites, addresses) = (batch.site.as_mut_ptr(), batch.address.as_mut_ptr());
        let sizes = batch.size.as_mut_ptr();
        let marks = batch.marks.as_mut_ptr();
        Machine {
            code,
            payload,
            registers,
            batch,
            sites,
            addresses,
            sizes,
            marks,
            accesses: 0,
            keeps_runs: false,
            last_mask: 0,
            latest_loops: (usize::MAX, 0),
            forms: Vec::new(),
        }
    }

    pub(super) fn payload(&self) -> &[u8] {
        self.payload
    }

    pub(super) fn payload_mut(&mut self) -> &mut [u8] {
        self.payload
    }

    pub(super) fn keep_runs(&mut self, keeps_runs: bool) {
        self.keeps_runs = keeps_runs;
    }

    pub(super) fn keeps_runs(&self) -> bool {
        self.keeps_runs
    }

    /// Runs of the batch that stand before its last record, which ends at `end`.
    pub(super) fn runs_before_last(&self, end: usize) -> usize {
        match self.latest_loops {
            (latest, runs) if latest == end => runs,
            _ => self.batch.runs.len(),
        }
    }

    /// Accesses in the batch.
    pub(super) fn accesses(&self) -> usize {
        self.accesses
    }

    /// Marks in the batch.
    pub(super) fn marks(&self) -> usize {
        self.batch.marks.len()
    }

    pub(super) fn columns(&mut self) -> Columns {
        Columns {
            registers: self.registers.as_mut_ptr(),
            sites: self.sites,
            addresses: self.addresses,
            sizes: self.sizes,
            marks: self.marks,
        }
    }

    /// Sets the numbers of accesses and marks, so that those written past the previous ends count.
    ///
    /// # Safety
    /// All accesses and marks up to there must have been written.
    pub(super) unsafe fn set_lengths(&mut self, accesses: usize, marks: usize) {
        debug_assert!(accesses <= BATCH_ACCESSES + self.code.max_accesses);
        self.accesses = accesses;
        // SAFETY: the caller's duty.
        unsafe { self.batch.marks.set_len(marks) };
    }

    /// Whether the batch is to end before the next record.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.accesses >= BATCH_ACCESSES || self.batch.marks.len() >= BATCH_MARKS
    }

    /// Accesses that the batch takes before it is full.
    pub(super) fn room(&self) -> usize {
        BATCH_ACCESSES.saturating_sub(self.accesses)
    }

    /// Whether the batch is to end before the next iteration or run.
    pub(super) fn is_full_of_runs(&self) -> bool {
        self.is_full() || self.batch.lane_count() >= BATCH_LANES
    }

    /// Hands the columns over to the batch.
    pub(super) fn finish(self) {
        debug_assert!(self.accesses <= BATCH_ACCESSES + self.code.max_accesses);
        // SAFETY: each column has room for more entries than `accesses`, and the first `accesses` are written.
        unsafe {
            self.batch.site.set_len(self.accesses);
            self.batch.address.set_len(self.accesses);
            self.batch.size.set_len(self.accesses);
        }
    }

    #[inline(always)]
    pub(super) fn further_fronts(&self, segment: &SegmentCode) -> &'a [Front] {
        // SAFETY: the range lies in the pool.
        unsafe { slice(&self.code.fronts, segment.first_front, segment.front_count) }
    }

    /// Runs the steps of a record without loops; its bytes after the id begin at `start`.
    pub(super) fn steps(&mut self, segment: &SegmentCode, start: usize) {
        let first = segment.first_step as usize;
        let code = self.code;
        for step in &code.steps[first..first + segment.step_count as usize] {
            self.step(*step, start);
        }
    }

    pub(super) fn step_number(&self, number: u32) -> Step {
        self.code.steps[number as usize]
    }

    #[inline(always)]
    pub(super) fn step(&mut self, step: Step, start: usize) {
        let code = self.code;
        // SAFETY: the ranges and indices of a step lie in their pools.
        unsafe {
            match step {
                Step::Near {
                    first,
                    count,
                    first_site,
                } => self.near(first, count, first_site),
                Step::Linear {
                    first,
                    count,
                    first_site,
                } => {
                    self.linear(first, count, first_site);
                }
                Step::SetLinear { register, value } => {
                    let value = self.linear_value(code.linear.get_unchecked(value as usize));
                    self.set(register, value);
                }
                Step::Roots { first, count } => self.roots(slice(&code.roots, first, count), start),
                other => self.rare_step(other),
            }
        }
    }

    #[inline(always)]
    pub(super) fn register(&self, register: u32) -> u64 {
        // SAFETY: the code's registers are below its register count, which is the length of `registers`.
        unsafe { *self.registers.get_unchecked(register as usize) }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, register: u32, value: u64) {
        // SAFETY: as above.
        unsafe { *self.registers.get_unchecked_mut(register as usize) = value }
    }

    #[inline(always)]
    fn roots(&mut self, roots: &[Root], start: usize) {
        roots.iter().for_each(|root| self.root(root, start));
    }

    #[inline(always)]
    fn root(&mut self, root: &Root, start: usize) {
        // SAFETY: offset + width <= max_record_length, and 8 further bytes are readable.
        let bits = unsafe {
            let from = self.payload.as_ptr().add(start + root.offset as usize);
            u64::from_le(from.cast::<u64>().read_unaligned()) << root.shift
        };
        let value = if root.signed {
            ((bits as i64) >> root.shift) as u64
        } else {
            bits >> root.shift
        };
        self.set(root.register, value);
    }

    #[inline(always)]
    fn near(&mut self, first: u32, count: u32, first_site: u32) {
        let code = self.code;
        // SAFETY: the pool goes on for RUN_UNIT entries after the run.
        let value = |machine: &Self, index: usize| unsafe {
            let near = code.near.get_unchecked(first as usize + index);
            machine.register(near.register).wrapping_add(near.constant)
        };
        self.accesses_of_run(value, first_site, count as usize);
    }

    #[inline(always)]
    fn linear(&mut self, first: u32, count: u32, first_site: u32) {
        let code = self.code;
        // SAFETY: the pool goes on for RUN_UNIT entries after the run.
        let value = |machine: &Self, index: usize| unsafe {
            machine.linear_value(code.linear.get_unchecked(first as usize + index))
        };
        self.accesses_of_run(value, first_site, count as usize);
    }

    /// Appends `count` accesses, RUN_UNIT at a time, since the number of rounds is hard to predict. Excess accesses are
    /// overwritten later.
    #[inline(always)]
    fn accesses_of_run(&mut self, address: impl Fn(&Self, usize) -> u64, first_site: u32, count: usize) {
        let first = first_site as usize;
        debug_assert!(first + count + RUN_UNIT <= self.code.sites.len());
        let mut index = 0;
        while index < count {
            let at = self.accesses + index;
            // SAFETY: both pools and the columns go on for RUN_UNIT entries after the last one that is wanted.
            unsafe {
                for lane in 0..RUN_UNIT {
                    *self.addresses.add(at + lane) = address(self, index + lane);
                }
                let from = self
                    .code
                    .sites
                    .as_ptr()
                    .add(first + index)
                    .cast::<[SiteId; RUN_UNIT]>();
                self.sites.add(at).cast::<[SiteId; RUN_UNIT]>().write(*from);
                let from = self
                    .code
                    .sizes
                    .as_ptr()
                    .add(first + index)
                    .cast::<[u32; RUN_UNIT]>();
                self.sizes.add(at).cast::<[u32; RUN_UNIT]>().write(*from);
            }
            index += RUN_UNIT;
        }
        self.accesses += count;
    }

    /// Appends `count` accesses: those of each block in turn, from the first block again after the last. Overwrites
    /// fewer than `Block::LENGTH` entries past them.
    pub(super) fn push_blocks(&mut self, blocks: &mut [Block], accesses_of_round: usize, count: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { self.push_blocks_with_avx2(blocks, accesses_of_round, count) };
        }
        self.push_blocks_with_anything(blocks, accesses_of_round, count)
    }

    /// A block fills the registers, and needn't be read again if there is only one.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn push_blocks_with_avx2(&mut self, blocks: &mut [Block], accesses_of_round: usize, count: usize) {
        match blocks {
            [block] => {
                let mut own = [block.clone()];
                self.push_blocks_with_anything(&mut own, accesses_of_round, count);
            }
            blocks => self.push_blocks_with_anything(blocks, accesses_of_round, count),
        }
    }

    #[inline(always)]
    fn push_blocks_with_anything(&mut self, blocks: &mut [Block], accesses_of_round: usize, count: usize) {
        assert!(self.accesses + count <= BATCH_ACCESSES + self.code.max_accesses);
        assert!(accesses_of_round > (blocks.len() - 1) * Block::LENGTH);
        let end = self.accesses + count;
        let mut round = self.accesses;
        while round < end {
            let mut at = round;
            for block in blocks.iter_mut() {
                if at >= end {
                    break;
                }
                // SAFETY: `at < end`, which is at most BATCH_ACCESSES + max_accesses, and the columns have room for
                // COLUMN_SLACK = Block::LENGTH more.
                unsafe { block.write(self.sites.add(at), self.addresses.add(at), self.sizes.add(at)) };
                at += Block::LENGTH;
            }
            round += accesses_of_round;
        }
        self.accesses = end;
    }

    #[inline(always)]
    fn linear_value(&self, linear: &Linear) -> u64 {
        let term = |index: usize| {
            self.register(linear.registers[index])
                .wrapping_mul(i64::from(linear.scales[index]) as u64)
        };
        linear.constant.wrapping_add(term(0)).wrapping_add(term(1))
    }

    #[inline]
    pub(super) fn wide_value(&self, index: u32) -> u64 {
        let wide = &self.code.wide[index as usize];
        let product = |term: &WideTerm| self.register(term.register).wrapping_mul(term.scale as u64);
        let [first, second] = &wide.first_terms;
        let value = wide
            .constant
            .wrapping_add(product(first))
            .wrapping_add(product(second));
        if wide.further_count == 0 {
            return value;
        }
        let further = &self.code.terms[wide.first_further as usize..][..wide.further_count as usize];
        further
            .iter()
            .fold(value, |sum, term| sum.wrapping_add(product(term)))
    }
}

/// `count` entries of a pool from `first` on.
///
/// # Safety
/// They must lie in the pool.
#[inline(always)]
unsafe fn slice<T>(pool: &[T], first: u32, count: u32) -> &[T] {
    debug_assert!(first as usize + count as usize <= pool.len());
    // SAFETY: the caller's duty.
    unsafe { pool.get_unchecked(first as usize..first as usize + count as usize) }
}
