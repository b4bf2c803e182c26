//! The segments of a trace in the form that the decoder runs.
//!
//! Each loaded module's segments are compiled once per trace: run-time addresses of symbols are folded into constants,
//! roots move to the front of their segment where that changes nothing, neighbouring accesses become one step whose
//! sites and sizes are copied as columns, and what a record means is found by indices alone.
//!
//! Invariants on which the decoder's unchecked accesses rest, all established by `compile`:
//! - every register index is below [`Code::register_count`];
//! - every range of a [`Step`] lies inside its pool;
//! - `near`, `linear`, `sites` and `sizes` have [`RUN_UNIT`] further entries behind the last one that a step names;
//! - each range of roots holds a multiple of [`ROOT_UNIT`];
//! - a root's offset + 8 is at most [`Code::max_record_length`] + 8;
//! - a segment stands for at most [`Code::max_accesses`] accesses, where the body of a loop counts once;
//! - the steps between a [`Step::Loop`] and its end are the body's, and loops nest at most [`MAX_LOOP_DEPTH`] deep.
//!
//! [`MAX_LOOP_DEPTH`]: crate::table::MAX_LOOP_DEPTH

mod affine;
mod compile;

use std::ops::Range;

use crate::{AllocationSiteId, FunctionId, SiteId};

/// Accesses that the decoder makes at once, of which some may lie behind the end of what it wants.
pub(crate) const RUN_UNIT: usize = 4;

/// Roots that the decoder takes at once.
pub(crate) const ROOT_UNIT: usize = 2;

/// The register that is always 0, so that a constant is a register plus a constant, too.
pub(crate) const ZERO_REGISTER: u16 = 0;

/// No segment.
pub(crate) const NO_SEGMENT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Code {
    /// From a segment's id to its index in `segments`.
    pub(crate) segment_of_id: Vec<u32>,
    pub(crate) segments: Vec<SegmentCode>,
    /// The functions' lists from local id to segment, one behind the other.
    pub(crate) locals: Vec<LocalEntry>,
    pub(crate) steps: Vec<Step>,
    pub(crate) roots: Vec<Root>,
    pub(crate) near: Vec<Near>,
    pub(crate) linear: Vec<Linear>,
    pub(crate) wide: Vec<Wide>,
    pub(crate) terms: Vec<WideTerm>,
    pub(crate) sites: Vec<SiteId>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) masked: Vec<Masked>,
    pub(crate) events: Vec<EventCode>,
    pub(crate) affine: Vec<AffineLoop>,
    pub(crate) lanes: Vec<LaneCode>,
    pub(crate) results: Vec<ResultCode>,
    /// Registers of the function that has most of them, and the zero register.
    pub(crate) register_count: usize,
    pub(crate) max_record_length: usize,
    /// Greatest number of accesses for which one record stands.
    pub(crate) max_accesses: usize,
}

/// What the decoder does for a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentCode {
    /// Bytes after the id.
    pub(crate) record_length: u32,
    /// Roots that come first.
    pub(crate) first_root: u32,
    /// A multiple of [`ROOT_UNIT`].
    pub(crate) root_count: u32,
    pub(crate) first_step: u32,
    pub(crate) step_count: u32,
    /// Where its function's list of local ids starts, and its length.
    pub(crate) first_local: u32,
    pub(crate) local_count: u32,
    pub(crate) has_loops: bool,
}

/// A segment as its local id names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalEntry {
    pub(crate) segment: u32,
    /// Bytes after the id; here as well because finding the next record waits for it.
    pub(crate) record_length: u32,
}

/// A value that stands in the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    /// From the first byte after the id.
    pub(crate) offset: u32,
    pub(crate) register: u16,
    /// 64 - width in bits.
    pub(crate) shift: u8,
    pub(crate) signed: bool,
}

/// register + constant
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) constant: u64,
    pub(crate) register: u16,
}

/// register × scale + register × scale + constant
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) constant: u64,
    pub(crate) scales: [i32; 2],
    pub(crate) registers: [u16; 2],
}

/// A constant and any number of terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    pub(crate) constant: u64,
    pub(crate) first_term: u32,
    pub(crate) term_count: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WideTerm {
    pub(crate) scale: i64,
    pub(crate) register: u16,
}

/// `first_site` counts in `sites` and `sizes`.
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
        register: u16,
        value: u32,
    },
    SetWide {
        register: u16,
        value: u32,
    },
    Block {
        site: SiteId,
        address: u32,
        length: u32,
    },
    Masked {
        access: u32,
    },
    Event {
        event: u32,
    },
    /// Runs the steps from the next one up to `end`, which counts in `steps`, as often as `wide` number `count` says.
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
    pub(crate) mask: u16,
    /// Bits of the mask that count.
    pub(crate) lanes: u64,
    pub(crate) addresses: LaneAddresses,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LaneAddresses {
    /// base + lane × stride; packed: base + number of the set lane × stride
    Strided { base: u32, stride: u64, packed: bool },
    /// one register for each lane
    Gathered { first_register: u16 },
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
    Enter(FunctionId),
    Exit(FunctionId),
}

/// A loop that needs not be run: numbers of values are indices into `wide`, and all values are those before the loop.
#[derive(Clone, Debug)]
pub(crate) struct AffineLoop {
    /// Number of the value that says how many iterations there are.
    pub(crate) count: u32,
    /// In `lanes`.
    pub(crate) lanes: Range<u32>,
    /// In `results`.
    pub(crate) results: Range<u32>,
}

/// An access of each iteration: in iteration i it is at address + i × stride.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneCode {
    pub(crate) site: SiteId,
    pub(crate) size: u32,
    pub(crate) address: u32,
    pub(crate) stride: u32,
}

/// A register after a loop that ran: value + number of iterations × step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultCode {
    pub(crate) register: u16,
    pub(crate) value: u32,
    pub(crate) step: u32,
    /// The register had that value in the course of the last iteration, so one step less counts.
    pub(crate) of_last_iteration: bool,
}
