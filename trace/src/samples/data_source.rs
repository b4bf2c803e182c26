//! Where the data of a sampled access came from.

use crate::named_enum;
use std::fmt;

/// What the processor reported about an access, as `union perf_mem_data_src` of linux/perf_event.h encodes it; 0 if it
/// reported nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DataSource(pub u64);

named_enum! {
    /// The part of the memory system that answered.
    MemoryLevel {
        L1 = "L1",
        /// A buffer of lines that are being fetched.
        FillBuffer = "fill buffer",
        L2 = "L2",
        L3 = "L3",
        L4 = "L4",
        Memory = "memory",
        /// Persistent memory.
        Persistent = "persistent memory",
        /// Memory of another device, attached by CXL.
        Cxl = "CXL memory",
        /// Uncached, or input and output.
        Uncached = "uncached",
        Unknown = "unknown",
    }
}

impl DataSource {
    const NOT_AVAILABLE: u64 = 1;

    /// Whether the processor reported anything.
    pub fn is_known(self) -> bool {
        self.0 != 0 && self.level() != MemoryLevel::Unknown
    }

    /// Field of `bits` bits at `shift`.
    fn field(self, shift: u32, bits: u32) -> u64 {
        self.0 >> shift & ((1 << bits) - 1)
    }

    /// Whether it loads; none if the processor didn't report it.
    pub fn loads(self) -> Option<bool> {
        let operation = self.field(0, 5);
        (operation & !Self::NOT_AVAILABLE != 0).then_some(operation & 2 != 0)
    }

    /// Whether it stores; none if the processor didn't report it.
    pub fn stores(self) -> Option<bool> {
        let operation = self.field(0, 5);
        (operation & !Self::NOT_AVAILABLE != 0).then_some(operation & 4 != 0)
    }

    /// The level that answered. Newer kernels give it by number (`mem_lvl_num`), older ones by bits (`mem_lvl`).
    pub fn level(self) -> MemoryLevel {
        match self.field(33, 4) {
            1 => MemoryLevel::L1,
            2 => MemoryLevel::L2,
            3 => MemoryLevel::L3,
            4 => MemoryLevel::L4,
            5 => MemoryLevel::L2, // the part of L2 that holds addresses of lines in transit
            8 => MemoryLevel::Uncached,
            9 => MemoryLevel::Cxl,
            10 => MemoryLevel::Uncached,
            12 => MemoryLevel::FillBuffer,
            13 => MemoryLevel::Memory,
            14 => MemoryLevel::Persistent,
            _ => self.level_by_bits(),
        }
    }

    fn level_by_bits(self) -> MemoryLevel {
        let level = self.field(5, 14);
        let by_bit = [
            (1 << 3, MemoryLevel::L1),
            (1 << 4, MemoryLevel::FillBuffer),
            (1 << 5, MemoryLevel::L2),
            (1 << 6, MemoryLevel::L3),
            (1 << 7 | 1 << 8 | 1 << 9, MemoryLevel::Memory),
            (1 << 10 | 1 << 11, MemoryLevel::L3), // another socket's cache
            (1 << 12 | 1 << 13, MemoryLevel::Uncached),
        ];
        let found = by_bit.into_iter().find(|(bits, _)| level & bits != 0);
        found.map_or(MemoryLevel::Unknown, |(_, level)| level)
    }

    /// Whether the data came from another socket.
    pub fn is_remote(self) -> bool {
        self.field(37, 1) == 1 || self.field(5, 14) & (1 << 8 | 1 << 9 | 1 << 10 | 1 << 11) != 0
    }
}

impl fmt::Display for DataSource {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let remote = if self.is_remote() { "remote " } else { "" };
        write!(formatter, "{remote}{}", self.level().name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_named_by_number_or_by_bits() {
        // `perf script` shows it as: operation load, level L1 hit, snoop none, TLB L1 or L2 hit.
        let l1 = DataSource(0x6810_0142);
        assert_eq!(l1.level(), MemoryLevel::L1);
        assert_eq!((l1.loads(), l1.stores()), (Some(true), Some(false)));
        let numbered = |number: u64| DataSource(2 | number << 33);
        assert_eq!(numbered(13).level(), MemoryLevel::Memory);
        assert_eq!(numbered(12).level(), MemoryLevel::FillBuffer);
        assert_eq!(numbered(3).to_string(), "L3");
        let remote = DataSource(2 | 1 << 37 | 13 << 33);
        assert_eq!(remote.to_string(), "remote memory");
        assert_eq!(DataSource(2 | 1 << (5 + 8)).to_string(), "remote memory");
    }

    #[test]
    fn what_the_processor_did_not_say_is_unknown() {
        assert!(!DataSource(0).is_known());
        assert_eq!((DataSource(0).loads(), DataSource(1).stores()), (None, None));
    }
}
