//! One entry: u16 type, u16 size, u64 address or value, little-endian, without padding.

/// Bytes of an entry.
pub const ENTRY_LENGTH: usize = 12;
/// The newest version of traces that is known here.
pub const NEWEST_VERSION: u64 = 7;
/// Bytes of an instruction that one encoding entry holds at most.
pub const MAX_ENCODED: usize = 8;

/// Microseconds from 1601-01-01 to 1970-01-01, UTC.
pub const EPOCH_MICROSECONDS: u64 = 11_644_473_600_000_000;

/// An entry's types.
pub mod kind {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const FIRST_PREFETCH: u16 = 2;
    pub const LAST_PREFETCH: u16 = 9;
    pub const INSTRUCTION: u16 = 10;
    pub const DIRECT_JUMP: u16 = 11;
    pub const INDIRECT_JUMP: u16 = 12;
    pub const CONDITIONAL_JUMP: u16 = 13;
    pub const DIRECT_CALL: u16 = 14;
    pub const INDIRECT_CALL: u16 = 15;
    pub const RETURN: u16 = 16;
    pub const FIRST_FLUSH: u16 = 18;
    pub const LAST_FLUSH: u16 = 21;
    pub const THREAD: u16 = 22;
    pub const THREAD_EXIT: u16 = 23;
    pub const PROCESS: u16 = 24;
    pub const HEADER: u16 = 25;
    pub const FOOTER: u16 = 26;
    pub const HARDWARE_PREFETCH: u16 = 27;
    pub const MARKER: u16 = 28;
    pub const NOT_FETCHED: u16 = 29;
    pub const SYSTEM_ENTRY: u16 = 31;
    pub const FIRST_LEVEL_PREFETCH: u16 = 32;
    pub const LAST_LEVEL_PREFETCH: u16 = 46;
    pub const ENCODING: u16 = 47;
    pub const TAKEN_JUMP: u16 = 48;
    pub const UNTAKEN_JUMP: u16 = 49;
}

/// Sizes of marker entries, which say what is marked.
pub mod marker {
    pub const KERNEL_EVENT: u16 = 0;
    pub const KERNEL_TRANSFER: u16 = 1;
    /// Microseconds since 1601-01-01 UTC.
    pub const TIMESTAMP: u16 = 2;
    pub const PROCESSOR: u16 = 3;
    pub const FILE_TYPE: u16 = 9;
    pub const CACHE_LINE_SIZE: u16 = 10;
    pub const VERSION: u16 = 12;
    pub const RSEQ_ABORT: u16 = 13;
    pub const PAGE_SIZE: u16 = 18;
    /// Stands before an indirect branch: the address to which it goes.
    pub const BRANCH_TARGET: u16 = 29;
}

/// Bits of the file type: which processor's code a trace holds.
pub mod file_type {
    pub const ARM: u64 = 0x10;
    pub const X86_32: u64 = 0x20;
    pub const X86_64: u64 = 0x40;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: u16,
    pub size: u16,
    pub value: u64,
}

impl Entry {
    pub fn from_bytes(bytes: &[u8; ENTRY_LENGTH]) -> Self {
        let [k0, k1, s0, s1, value @ ..] = *bytes;
        Entry {
            kind: u16::from_le_bytes([k0, k1]),
            size: u16::from_le_bytes([s0, s1]),
            value: u64::from_le_bytes(value),
        }
    }

    pub fn to_bytes(self) -> [u8; ENTRY_LENGTH] {
        let mut bytes = [0; ENTRY_LENGTH];
        bytes[..2].copy_from_slice(&self.kind.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.size.to_le_bytes());
        bytes[4..].copy_from_slice(&self.value.to_le_bytes());
        bytes
    }
}
