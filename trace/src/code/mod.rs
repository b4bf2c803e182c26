//! The segments of a trace in the form that the decoder runs.
//!
//! Each loaded module's segments are compiled once per trace. Run-time addresses of symbols are folded into constants.
//! The first operations of each segment become its [`Front`]. Neighbouring accesses after it become one step, whose
//! sites and sizes are copied as columns. Indices alone lead from a record to what it means.
//!
//! Invariants on which the decoder's unchecked accesses rest, all established by `compile`:
//! - every register index is below [`Code::register_count`];
//! - every range of a [`Step`] lies inside its pool;
//! - `near`, `linear`, `sites` and `sizes` have [`RUN_UNIT`] further entries after the last one that a step names;
//! - [`Code::entries`] lead to segments that exist, and an entry's local ids, or those that it begins, lie in the
//!   entries, too;
//! - a segment has at most [`MAX_FRONTS`] fronts;
//! - a root's offset + 8 is at most [`Code::max_record_length`] + 8;
//! - a segment stands for at most [`Code::max_accesses`] accesses, where the body of a loop counts once;
//! - the steps between a [`Step::Loop`] and its end are the body's, and loops nest at most [`MAX_LOOP_DEPTH`] deep.
//!
//! [`MAX_LOOP_DEPTH`]: crate::table::MAX_LOOP_DEPTH

mod affine;
mod compile;
mod front;
mod value;

pub(crate) use front::{Front, FrontRoot, FrontSet, NO_CLASS, PREFIX_CLASS};

use std::ops::Range;

use crate::{AllocationSiteId, Clock, FunctionId, LocationId, SiteId, Synchronisation, ValueShape};

/// Accesses that the decoder makes at once. Some of them may lie past the end of the wanted ones.
pub(crate) const RUN_UNIT: usize = 4;

/// The register that is always 0, so that a constant is a register plus a constant, too.
pub(crate) const ZERO_REGISTER: u32 = 0;
/// The register that is never read.
pub(crate) const SCRATCH_REGISTER: u32 = 1;
/// Holds what the accesses of a front have in common, while it runs.
pub(crate) const TEMPORARY_REGISTER: u32 = 2;
/// The table's first register.
pub(crate) const FIRST_REGISTER: u32 = 3;

/// Fronts of one segment. Long segments are rare, and take less memory as steps.
pub(crate) const MAX_FRONTS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Code {
    /// What ids lead to: first the global ids, then the functions' lists of local ids, one after the other. Such a list
    /// has an entry for each first byte, and after these, for each of them that begins ids of two bytes, a list by the
    /// second byte.
    pub(crate) entries: Vec<Entry>,
    /// Number of global ids.
    pub(crate) id_count: u32,
    /// The first one is no segment.
    pub(crate) segments: Vec<SegmentCode>,
    /// Fronts that follow the first ones of their segments.
    pub(crate) fronts: Vec<Front>,
    pub(crate) steps: Vec<Step>,
    pub(crate) roots: Vec<Root>,
    pub(crate) near: Vec<Near>,
    pub(crate) linear: Vec<Linear>,
    pub(crate) wide: Vec<Wide>,
    pub(crate) terms: Vec<WideTerm>,
    pub(crate) sites: Vec<SiteId>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) masked: Vec<Masked>,
    pub(crate) values: Vec<ValueCode>,
    pub(crate) events: Vec<EventCode>,
    pub(crate) affine: Vec<AffineLoop>,
    pub(crate) lanes: Vec<LaneCode>,
    pub(crate) results: Vec<ResultCode>,
    /// Registers of the function that has most of them, and the zero register.
    pub(crate) register_count: usize,
    pub(crate) max_record_length: usize,
    /// Greatest number of accesses for which one record stands.
    pub(crate) max_accesses: usize,
    /// The clock of stamps.
    pub(crate) clock: Clock,
}

/// What the decoder does for a record: the front, more fronts, then the steps. Aligned to be found by a shift.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct SegmentCode {
    pub(crate) front: Front,
    /// Bytes after the id.
    pub(crate) record_length: u32,
    /// Whether anything follows the front.
    pub(crate) goes_on: bool,
    pub(crate) has_loops: bool,
    pub(crate) first_front: u32,
    pub(crate) front_count: u32,
    pub(crate) step_count: u32,
    pub(crate) first_step: u32,
}

/// What an id leads to; see [`entry`]. An id that leads nowhere has zeros. It is an array because the table of all ids
/// may have large holes. Only a vector of zero arrays comes as zeroed memory, without being written.
pub(crate) type Entry = [u64; 2];

/// An entry for a segment: the class of its front, the bytes of its record with the id, and its function's local ids.
pub(crate) fn entry(segment: u32, class: u8, length: u32, locals: Locals) -> Entry {
    debug_assert!(segment <= ENTRY_SEGMENT_MASK);
    [
        u64::from(length) << 32 | u64::from(class) << 24 | u64::from(segment),
        locals.0,
    ]
}

/// An entry for a byte with which ids of two bytes begin: where the list by their second byte is.
pub(crate) fn prefix_entry(seconds: Locals) -> Entry {
    [u64::from(PREFIX_CLASS) << 24, seconds.0]
}

/// Where the entry of an id of two bytes is, given the entry of its first byte and the word that begins with the id.
#[inline(always)]
pub(crate) fn second_place(prefix: &Entry, word: u32) -> usize {
    (entry_locals(prefix).first() + (word >> 8 & 0xff)) as usize
}

/// Numbers of segments are below: there are no more than ids.
const ENTRY_SEGMENT_MASK: u32 = (1 << 24) - 1;

#[inline(always)]
pub(crate) fn entry_segment(entry: &Entry) -> u32 {
    entry[0] as u32 & ENTRY_SEGMENT_MASK
}

#[inline(always)]
pub(crate) fn entry_class(entry: &Entry) -> u8 {
    (entry[0] >> 24) as u8
}

#[inline(always)]
pub(crate) fn entry_length(entry: &Entry) -> usize {
    (entry[0] >> 32) as usize
}

#[inline(always)]
pub(crate) fn entry_locals(entry: &Entry) -> Locals {
    Locals(entry[1])
}

/// Where a function's local ids are in [`Code::entries`]: two bounds in one word, since the decoder's loop has no
/// register to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locals(u64);

impl Locals {
    pub(crate) const NONE: Locals = Locals(0);

    pub(crate) fn new(first: u32, end: u32) -> Self {
        Locals(u64::from(end) << 32 | u64::from(first))
    }

    #[inline(always)]
    pub(crate) fn first(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) fn end(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A value that stands in the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    /// Offset from the first byte after the id.
    pub(crate) offset: u32,
    pub(crate) register: u32,
    /// 64 - width in bits.
    pub(crate) shift: u8,
    pub(crate) signed: bool,
}

/// register + constant
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) constant: u64,
    pub(crate) register: u32,
}

/// register × scale + register × scale + constant
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) constant: u64,
    pub(crate) scales: [i32; 2],
    pub(crate) registers: [u32; 2],
}

impl Linear {
    const ZERO: Linear = Linear {
        constant: 0,
        scales: [0; 2],
        registers: [ZERO_REGISTER; 2],
    };
}

/// A constant and any number of terms; few values have more than two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) constant: u64,
    pub(crate) first_terms: [WideTerm; 2],
    pub(crate) first_further: u32,
    pub(crate) further_count: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WideTerm {
    pub(crate) scale: i64,
    pub(crate) register: u32,
}

/// `first_site` is an index into `sites` and `sizes`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Roots {
        first: u32,
        count: u32,
    },
    Near {
        first: u32,
        count: u32,
        first_site: u32,
    },
    Linear {
        first: u32,
        count: u32,
        first_site: u32,
    },
    Wide {
        value: u32,
        first_site: u32,
    },
    SetLinear {
        register: u32,
        value: u32,
    },
    SetWide {
        register: u32,
        value: u32,
    },
    Block {
        site: SiteId,
        address: u32,
        length: u32,
        by_library: bool,
    },
    Masked {
        access: u32,
    },
    Value {
        value: u32,
    },
    Event {
        event: u32,
    },
    /// Runs the steps from the next one up to `end`, an index into `steps`, as often as `wide` number `count` says.
    Loop {
        count: u32,
        end: u32,
    },
    /// A loop of `affine`.
    Affine {
        number: u32,
    },
}

/// An access for each lane that is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masked {
    pub(crate) site: SiteId,
    pub(crate) size: u32,
    pub(crate) mask: u32,
    /// Bits of the mask that count.
    pub(crate) lanes: u64,
    pub(crate) addresses: LaneAddresses,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LaneAddresses {
    /// base + lane × stride; packed: base + number of the set lane × stride
    Strided { base: u32, stride: u64, packed: bool },
    /// one register for each lane
    Gathered { first_register: u32 },
}

/// The value that the accesses of the step before it loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueCode {
    pub(crate) shape: ValueShape,
    /// Index into `wide` of the value's first word; the shape's other words follow it.
    pub(crate) first_word: u32,
    /// Each lane that is set in the mask of the step before made an access of its own.
    pub(crate) masked: bool,
}

/// Numbers are indices into `wide`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventCode {
    Allocate {
        site: AllocationSiteId,
        address: u32,
        element_size: u32,
        count: u32,
    },
    Free {
        site: AllocationSiteId,
        address: u32,
    },
    Reallocate {
        site: AllocationSiteId,
        old: u32,
        new: u32,
        element_size: u32,
        count: u32,
    },
    Order {
        synchronisation: Synchronisation,
        location: LocationId,
        address: u32,
        stamp: u32,
    },
    Region {
        depth: u32,
        name: u32,
    },
    Enter(FunctionId),
    Exit(FunctionId),
}

/// A loop that need not be run. All values are those before the loop.
#[derive(Clone, Debug)]
pub(crate) struct AffineLoop {
    /// Index into `wide` of the number of iterations.
    pub(crate) count: u32,
    /// The loop's values without their constants, each once, as a range of `wide`.
    pub(crate) forms: Range<u32>,
    /// Range of `lanes`.
    pub(crate) lanes: Range<u32>,
    /// Range of `results`.
    pub(crate) results: Range<u32>,
}

/// The value of one of a loop's forms, plus a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormPlus {
    pub(crate) constant: u64,
    /// Index into the loop's forms.
    pub(crate) form: u32,
}

/// An access of each iteration: in iteration i it is at address + i × stride.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneCode {
    pub(crate) site: SiteId,
    pub(crate) size: u32,
    pub(crate) address: FormPlus,
    pub(crate) stride: FormPlus,
}

/// A register after a loop that ran: value + number of iterations × step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultCode {
    pub(crate) register: u32,
    pub(crate) value: FormPlus,
    pub(crate) step: FormPlus,
    /// The register had that value in the course of the last iteration, so one step less counts.
    pub(crate) of_last_iteration: bool,
}
