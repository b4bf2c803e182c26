//! What allocators did, by their own account (`docs/format.md`, section 9): every call of malloc, mmap and their like,
//! with its time and call stack.
//!
//! [`AllocationEvents`] merges the events of all threads in the order of time; [`AllocationRecorder`] writes a payload.

mod events;
mod frames;
mod processes;
mod reader;
mod records;
mod stacks;
mod writer;

pub use events::AllocationEvents;
pub use frames::frames_of;
pub use processes::{AllocatingProcess, Origin};
pub use stacks::{Stack, StackEnd, StackId, Stacks};
pub use writer::AllocationRecorder;

use crate::table_enum::open_enum;
use crate::ChunkRef;

/// A stream of calls of allocators. A thread has a second one for what its signal handlers do within such a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationStream {
    /// Number of the stream in the trace.
    pub stream: u32,
    /// Number of the process in the trace.
    pub process: u32,
    /// Its chunks, in order.
    pub chunks: Vec<ChunkRef>,
}

/// Something that an allocator did, or the system with a process's mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationEvent {
    /// Nanoseconds of the trace's clock. An event that releases memory bears a time before the release; one that
    /// obtains memory, a time after it. So a replay in the order of times never sees two owners of the same memory.
    pub time_ns: u64,
    /// Number of the process in the trace.
    pub process: u32,
    /// Number of the stream in the trace.
    pub stream: u32,
    /// The kernel's id of the thread.
    pub thread: u32,
    /// What was called.
    pub by: Allocator,
    pub what: AllocationAction,
    /// Where it was called; [`Stacks::get`] has the frames.
    pub stack: StackId,
}

/// What happened. Addresses are those of the process; sizes are bytes as they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationAction {
    /// A block was allocated. `alignment` is 0 unless it was asked for.
    Allocated { address: u64, size: u64, alignment: u64 },
    /// A block is about to be freed.
    Freed { address: u64 },
    /// A block is about to be reallocated: from now on it belongs to the allocator, until the thread's next
    /// `Reallocated` or `Kept` tells what became of it.
    Reallocating { address: u64 },
    /// The block at `old` has become one at `address`, maybe the same.
    Reallocated { old: u64, address: u64, size: u64 },
    /// What the thread's last `Reallocating`, `Unmapped` or `Remapping` announced failed: all is as before it.
    Kept { address: u64 },
    /// Pages were mapped, in the place of what was mapped there.
    Mapped {
        address: u64,
        length: u64,
        /// PROT_… of mmap.
        protection: u32,
        /// MAP_… of mmap.
        flags: u32,
        /// The file's descriptor; none for anonymous memory.
        descriptor: Option<u32>,
        /// Offset in the file, bytes.
        offset: u64,
    },
    /// Pages are about to be unmapped.
    Unmapped { address: u64, length: u64 },
    /// Pages are about to be moved, or their number to be changed, until `Remapped` or `Kept`.
    Remapping { address: u64, length: u64 },
    Remapped {
        old: u64,
        old_length: u64,
        address: u64,
        length: u64,
    },
    /// The program break went from `old` to `new`.
    BreakMoved { old: u64, new: u64 },
    /// The process was forked and holds what its parent held. The fork happened after `began_ns` and before the event.
    /// In that time other threads of the parent may have changed something; the process holds some of those changes.
    Forked { began_ns: u64 },
    /// Events of the stream are missing before this place: so many buffers, 0 if unknown.
    Missing { buffers: u64 },
}

/// What dumps and tables show of an action, as far as it has them.
pub struct ActionParts {
    pub kind: &'static str,
    pub address: Option<u64>,
    /// Where it was before.
    pub old_address: Option<u64>,
    pub size: Option<u64>,
}

impl AllocationAction {
    pub fn parts(self) -> ActionParts {
        let parts = |kind, address, old_address, size| ActionParts {
            kind,
            address,
            old_address,
            size,
        };
        match self {
            Self::Allocated { address, size, .. } => parts("allocated", Some(address), None, Some(size)),
            Self::Freed { address } => parts("freed", Some(address), None, None),
            Self::Reallocating { address } => parts("reallocating", Some(address), None, None),
            Self::Reallocated { old, address, size } => {
                parts("reallocated", Some(address), Some(old), Some(size))
            }
            Self::Kept { address } => parts("kept", Some(address), None, None),
            Self::Mapped { address, length, .. } => parts("mapped", Some(address), None, Some(length)),
            Self::Unmapped { address, length } => parts("unmapped", Some(address), None, Some(length)),
            Self::Remapping { address, length } => parts("remapping", Some(address), None, Some(length)),
            Self::Remapped {
                old, address, length, ..
            } => parts("remapped", Some(address), Some(old), Some(length)),
            Self::BreakMoved { old, new } => parts("break moved", Some(new), Some(old), None),
            Self::Forked { .. } => parts("forked", None, None, None),
            Self::Missing { .. } => parts("missing", None, None, None),
        }
    }
}

open_enum! {
    /// A function that allocates, frees or maps memory.
    Allocator: u8 {
        /// None: the event is no call.
        Nothing = 0 "",
        Malloc = 1 "malloc",
        Calloc = 2 "calloc",
        Realloc = 3 "realloc",
        Reallocarray = 4 "reallocarray",
        Free = 5 "free",
        AlignedAlloc = 6 "aligned_alloc",
        PosixMemalign = 7 "posix_memalign",
        Memalign = 8 "memalign",
        Valloc = 9 "valloc",
        Pvalloc = 10 "pvalloc",
        New = 11 "operator new",
        NewArray = 12 "operator new[]",
        Delete = 13 "operator delete",
        DeleteArray = 14 "operator delete[]",
        Mmap = 15 "mmap",
        Munmap = 16 "munmap",
        Mremap = 17 "mremap",
        Brk = 18 "brk",
        Sbrk = 19 "sbrk",
    }
}
