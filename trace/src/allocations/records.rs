//! The units of a payload of allocations.
//!
//! ```text
//! 0 operation u8 | 1 allocator u8 | 2 small u16 | 4 delta u32 | 8 address u48 | 14 stack u16
//! ```

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::table_enum::table_enum;

/// Bytes of a unit.
pub const UNIT: usize = 16;
/// Bits of an address in a unit; the others are [`Argument::AddressTop`].
pub const ADDRESS_BITS: u32 = 48;
/// Arguments that an event may have; see [`Argument`].
pub const ARGUMENTS: usize = 8;

/// A number that an event has beside its address; 0 unless a unit before the event gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Argument {
    /// The size in bytes, if `small` is 0; the new break; or the start of a fork in ticks.
    Size = 0,
    /// The former address or break; for an allocation, the alignment.
    Old = 1,
    OldSize = 2,
    /// Protection of a mapping, with its flags in the upper half.
    Protection = 3,
    /// 1 more than the file's descriptor.
    Descriptor = 4,
    Offset = 5,
    AddressTop = 6,
    /// Index of a stack's unit that is above 65,535.
    Stack = 7,
}

table_enum! {
    /// The operation of a unit.
    Operation {
        Thread = 1,
        Stack = 2,
        Argument = 3,
        Allocated = 16,
        Freed = 17,
        Reallocating = 18,
        Reallocated = 19,
        Kept = 20,
        Mapped = 21,
        Unmapped = 22,
        Remapping = 23,
        Remapped = 24,
        BreakMoved = 25,
        Forked = 26,
    }
}

/// A unit's parts.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub operation: u8,
    pub allocator: u8,
    pub small: u16,
    pub delta: u32,
    /// The second half as a whole.
    pub word: u64,
}

impl Unit {
    /// The unit at the start of `bytes`, which has room for one.
    pub fn at(bytes: &[u8]) -> Unit {
        Unit {
            operation: bytes[0],
            allocator: bytes[1],
            small: u16_at(bytes, 2),
            delta: u32_at(bytes, 4),
            word: u64_at(bytes, 8),
        }
    }

    pub fn to_bytes(self) -> [u8; UNIT] {
        let mut bytes = [0; UNIT];
        bytes[0] = self.operation;
        bytes[1] = self.allocator;
        bytes[2..4].copy_from_slice(&self.small.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.delta.to_le_bytes());
        bytes[8..].copy_from_slice(&self.word.to_le_bytes());
        bytes
    }

    pub fn address(&self) -> u64 {
        self.word & ((1 << ADDRESS_BITS) - 1)
    }

    /// Index of the unit that begins the stack; 0: none, or in an argument.
    pub fn stack(&self) -> u64 {
        self.word >> ADDRESS_BITS
    }
}

/// Units of a stack of so many frames: the first frame stands in the unit that begins it.
pub fn stack_units(frames: usize) -> usize {
    1 + (frames.saturating_sub(1)).div_ceil(2)
}
