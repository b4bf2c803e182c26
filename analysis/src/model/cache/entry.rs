//! A way of a set: a line's number, and what is known of the line.

const FLAG_BITS: u32 = 3;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;

/// Written to since it came in.
pub(super) const DIRTY: u64 = 1;
/// No other core has it: this one may write to it.
pub(super) const OWNED: u64 = 2;
/// Brought in by a prefetcher of this level and not asked for since.
pub(super) const PREFETCHED: u64 = 4;

/// A line number and flags. Line numbers are addresses shifted right by at least 4, so there is room for the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Entry(u64);

impl Entry {
    /// An empty way: no line has this number.
    pub const EMPTY: Entry = Entry(u64::MAX);

    #[inline(always)]
    pub fn new(line: u64, flags: u64) -> Entry {
        Entry(line << FLAG_BITS | flags)
    }

    #[inline(always)]
    pub fn is(self, line: u64) -> bool {
        self.0 & !FLAGS == line << FLAG_BITS
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self == Entry::EMPTY
    }

    #[inline(always)]
    pub fn line(self) -> u64 {
        self.0 >> FLAG_BITS
    }

    /// Whether a line is there that has this flag.
    #[inline(always)]
    pub fn has(self, flag: u64) -> bool {
        self.0 & flag != 0 && !self.is_empty()
    }

    #[inline(always)]
    pub fn set(&mut self, flag: u64) {
        self.0 |= flag;
    }

    #[inline(always)]
    pub fn clear(&mut self, flag: u64) {
        self.0 &= !flag;
    }
}
