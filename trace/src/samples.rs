//! What was sampled of a program's instructions (`docs/format.md`, section 7).
//!
//! A [`Sample`] says where a thread was at one moment, which access held it up there as far as that is known, and what
//! it did next: its *window*, the accesses that the following instructions make. [`Trace::read_samples`] reads them.

mod data_source;
mod description;
mod encode;
mod parse;
mod places;

pub use data_source::{DataSource, MemoryLevel};
pub use description::{SampledEvent, SamplingInfo, Skid};
pub use places::{CodePlace, CodePlaces};

use std::ops::Range;

use crate::table_enum::table_enum;
use crate::{ChunkKind, ChunkRef, Trace, TraceError};

table_enum! {
    /// Whether an instruction accesses memory.
    #[derive(Default)]
    Direction {
        /// The instruction is not known.
        #[default]
        Unknown = 0 "unknown",
        /// It accesses no memory.
        None = 1 "none",
        Load = 2 "load",
        Store = 3 "store",
        /// It loads and stores, as `add [rax], 1` does.
        Both = 4 "load and store",
    }
}

table_enum! {
    /// How the data address of a sample is known.
    #[derive(Default)]
    AddressClass {
        /// It isn't known.
        #[default]
        None = 0 "none",
        /// The processor reported it.
        Exact = 1 "exact",
        /// It was computed from the operand of the instruction before the sampled one, with registers that this
        /// instruction left unchanged.
        Predecessor = 2 "predecessor",
        /// It was computed likewise, after undoing what the instruction did to its registers.
        RolledBack = 3 "rolled back",
        /// It was found by emulating the instructions from the sample on.
        Emulated = 4 "emulated",
    }
}

table_enum! {
    /// Why a window has no more instructions.
    #[derive(Default)]
    WindowEnd {
        /// There is no window.
        #[default]
        None = 0 "none",
        /// It is as long as was asked for.
        Full = 1 "full",
        /// The next instruction enters the kernel.
        SystemCall = 2 "system call",
        /// What the next instruction does, or where it goes, is not known.
        Unknown = 3 "unknown instruction",
        /// The code or the data can't be read.
        Unreadable = 4 "unreadable",
    }
}

table_enum! {
    /// What the address of an access in a window is based on.
    #[derive(Default)]
    WindowAddress {
        /// It is not known: the operand is relative to a segment, or gathers.
        #[default]
        Unknown = 0,
        /// Registers and memory of the moment at which the window begins, or what the window itself stored.
        Registers = 1,
        /// Also memory that was read after the sample, and may have changed by then.
        MemoryReadLater = 2,
    }
}

/// Where a thread was at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Nanoseconds of the trace's clock.
    pub time_ns: u64,
    /// The system's id of the process.
    pub pid: u32,
    /// The system's id of the thread.
    pub tid: u32,
    /// Number of the logical processor.
    pub processor: u32,
    /// Index into [`SamplingInfo::events`].
    pub event: u32,
    /// Address of the instruction at which the thread was seen.
    pub seen_at: u64,
    /// Address of the instruction to which the time goes; 0 if unknown.
    pub instruction: u64,
    /// What that instruction does to memory.
    pub direction: Direction,
    /// Address of the data that it accesses; none if unknown or if it accesses none.
    pub address: Option<u64>,
    pub class: AddressClass,
    /// Bytes that it accesses; 0 if unknown.
    pub size_bytes: u32,
    /// How long the access took, cycles; 0 if unknown.
    pub latency_cycles: u64,
    /// Where the data came from.
    pub data_source: DataSource,
    /// Physical address of the data; 0 if unknown.
    pub physical_address: u64,
    /// What the sample stands for, in the unit of its event.
    pub weight: u64,
    /// Instructions from `seen_at` on that were looked at.
    pub window_instructions: u32,
    pub window_end: WindowEnd,
    /// How fast the thread ran there: instructions in a millisecond of its CPU time; 0 if unknown.
    pub window_speed: u32,
    /// What the window stands for, in the unit of the event: the weights of its loop's samples since the loop's last
    /// window. 0: it stands for as much as any other window.
    pub window_weight: u64,
    /// Its accesses, as a range of [`Samples::window`].
    pub window: Range<usize>,
}

/// An access that the instructions after a sample make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowAccess {
    pub instruction: u64,
    /// Address of the data; 0 if unknown.
    pub address: u64,
    /// Bytes; 0 if unknown.
    pub size_bytes: u32,
    /// [`Direction::Load`] or [`Direction::Store`].
    pub is_store: bool,
    pub known_by: WindowAddress,
}

/// The content of a chunk of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Samples since the chunk before that the system took and the recorder didn't receive.
    pub lost: u64,
    /// Samples in the order in which they were received: times of different processors may run back.
    pub samples: Vec<Sample>,
    /// The accesses of all windows.
    pub window: Vec<WindowAccess>,
}

impl Samples {
    /// The accesses that the instructions after the sample make.
    pub fn window_of(&self, sample: &Sample) -> &[WindowAccess] {
        self.window.get(sample.window.clone()).unwrap_or_default()
    }
}

impl Sample {
    /// Address of the instruction to which the time goes, or at which the thread was seen if that is unknown.
    pub fn time_goes_to(&self) -> u64 {
        match self.instruction {
            0 => self.seen_at,
            instruction => instruction,
        }
    }
}

impl Direction {
    pub fn loads(self) -> bool {
        matches!(self, Direction::Load | Direction::Both)
    }

    pub fn stores(self) -> bool {
        matches!(self, Direction::Store | Direction::Both)
    }
}

impl AddressClass {
    /// All classes with a known address, the most reliable first.
    pub const KNOWN: [AddressClass; 4] = [
        AddressClass::Exact,
        AddressClass::Predecessor,
        AddressClass::RolledBack,
        AddressClass::Emulated,
    ];
}

impl Trace {
    /// Whether the trace is from a program that was sampled, even if it has no sample.
    pub fn is_sampled(&self) -> bool {
        self.meta().sampling.is_some() || self.chunks_of(ChunkKind::Samples).next().is_some()
    }

    /// The samples of one chunk of kind [`ChunkKind::Samples`], as far as the slice has them.
    ///
    /// # Errors
    /// If the payload is damaged or breaks a rule of the format; the other chunks can be read.
    pub fn read_samples(&self, chunk: &ChunkRef) -> Result<Samples, TraceError> {
        let mut payload = Vec::new();
        self.read_payload(chunk, &mut payload)?;
        let mut samples = Samples::parse(&payload).map_err(|error| TraceError::BadSamples {
            file: self.path().to_path_buf(),
            offset: chunk.offset,
            position: error.position,
            what: error.what,
        })?;
        samples.samples.retain(|sample| self.keeps_sample(sample));
        Ok(samples)
    }

    /// The samples of all chunks, and what could not be read of them.
    pub fn samples(&self) -> (Vec<Samples>, Vec<TraceError>) {
        let (mut read, mut damage) = (Vec::new(), Vec::new());
        for chunk in self.chunks_of(ChunkKind::Samples) {
            match self.read_samples(chunk) {
                Ok(samples) => read.push(samples),
                Err(error) => damage.push(error),
            }
        }
        (read, damage)
    }
}

#[cfg(test)]
mod tests;
