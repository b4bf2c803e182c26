//! Converts a Trackway trace to what other tools read.
//!
//! [`export`] reads a trace, in the merged order of its threads or for one of them. It passes what was [`Executed`] to
//! a [`Format`]: an instruction with its accesses. Traces of the compiler pass have no instructions. For them, each
//! access gets an instruction that is derived from its site. Memory holds what decoding needs, and one instruction for
//! each thread.

mod champsim;
mod din;
mod drmemtrace;
mod lackey;
mod libcachesim;
mod lines;
mod perf_script;
mod ramulator;
mod walk;

use std::io;
use std::path::PathBuf;

use trackway_trace::{InstructionKind, SiteId};

pub use champsim::ChampSim;
pub use din::Din;
pub use drmemtrace::{export_drmemtrace, DrmemtraceSummary};
pub use lackey::Lackey;
pub use libcachesim::{LibCacheSim, RECORD_LENGTH};
pub use lines::Lines;
pub use perf_script::{Frame, PerfScript, Samples};
pub use ramulator::{Ramulator, RamulatorForm};
pub use walk::{export, thread_ids, Exported, ThreadId, Walk};

/// Bytes of a made-up instruction.
const MADE_UP_LENGTH: u8 = 4;
/// Where made-up instructions begin: no program has code so low.
const MADE_UP_START: u64 = 0x1000;

/// An access, as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub site: SiteId,
    pub address: u64,
    /// Bytes; at least 1.
    pub size: u64,
    pub reads: bool,
    /// An atomic update both reads and writes.
    pub writes: bool,
    /// The size is not known, and given as 1.
    pub unknown_size: bool,
}

/// An instruction, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    pub address: u64,
    /// Bytes.
    pub length: u8,
    pub kind: InstructionKind,
    /// Nothing is known of the instruction: it stands for the access's place in the source.
    pub made_up: bool,
}

impl Code {
    fn of_site(site: SiteId) -> Code {
        Code {
            address: MADE_UP_START + u64::from(MADE_UP_LENGTH) * u64::from(site.0),
            length: MADE_UP_LENGTH,
            kind: InstructionKind::Other,
            made_up: true,
        }
    }

    /// The address past the instruction.
    fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}

/// An instruction that a thread executed, and its accesses.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    pub thread: ThreadId,
    pub code: Code,
    /// Where the thread's next instruction is, if the trace has it.
    pub next: Option<u64>,
    pub accesses: &'a [Access],
    /// The instruction was executed at this time or later, nanoseconds of the trace's clock.
    pub time_ns: u64,
}

/// Writes one format.
pub trait Format {
    fn executed(&mut self, executed: &Executed) -> io::Result<()>;

    /// Called when what follows took place at this time, or later.
    fn time(&mut self, _ns: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Why a trace could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{}: cannot {action}: {source}", file.display())]
    Io {
        file: PathBuf,
        action: &'static str,
        source: io::Error,
    },
    #[error("{}: {what}", file.display())]
    Unfit { file: PathBuf, what: String },
}
