//! One sampled operation.

use super::packet::{OperationClass, Packet, DATA_PHYSICAL, DATA_VIRTUAL, PROGRAM_COUNTER, TOTAL_LATENCY};

/// An operation, as far as its packets describe it; what they don't is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeOperation {
    /// Address of the instruction.
    pub instruction: u64,
    /// Exception level: 0 is user code.
    pub exception_level: u8,
    /// Virtual and physical address of the data.
    pub address: u64,
    pub physical_address: u64,
    /// Cycles from when the operation was sent off until it was complete.
    pub latency_cycles: u64,
    pub loads: bool,
    pub stores: bool,
    /// A bit for each event.
    pub events: u64,
    /// None if the processor didn't say.
    pub source: Option<u16>,
    /// Ticks of the generic timer, if records have times.
    pub ticks: Option<u64>,
    /// What the system calls the running process or thread, if records say so.
    pub context: Option<u32>,
}

/// Bits of events.
mod event {
    pub const L1_ACCESS: u64 = 1 << 2;
    pub const L1_REFILL: u64 = 1 << 3;
    pub const TLB_ACCESS: u64 = 1 << 4;
    pub const TLB_WALK: u64 = 1 << 5;
    pub const LAST_LEVEL_ACCESS: u64 = 1 << 8;
    pub const LAST_LEVEL_MISS: u64 = 1 << 9;
    pub const REMOTE_ACCESS: u64 = 1 << 10;
}

/// What the numbers of data sources mean, which the architecture leaves to processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataSources {
    /// Nothing is known of them: levels follow from events.
    #[default]
    Unknown,
    /// Of Arm's Neoverse N1, N2, V1 and V2.
    Neoverse,
}

impl DataSources {
    /// By MIDR_EL1, which names the processor.
    pub fn of_processor(midr: u64) -> DataSources {
        const ARM: u64 = 0x41;
        let (implementer, part) = (midr >> 24 & 0xff, midr >> 4 & 0xfff);
        match (implementer, part) {
            (ARM, 0xd0c | 0xd40 | 0xd49 | 0xd4f) => DataSources::Neoverse,
            _ => DataSources::Unknown,
        }
    }
}

/// Fields of `union perf_mem_data_src`.
mod source {
    pub const LOAD: u64 = 1 << 1;
    pub const STORE: u64 = 1 << 2;
    pub const LEVEL_SHIFT: u32 = 33;
    pub const L1: u64 = 1;
    pub const L2: u64 = 2;
    pub const L3: u64 = 3;
    pub const MEMORY: u64 = 13;
    pub const REMOTE: u64 = 1 << 37;
    /// Another core's copy, which was not modified as far as is known.
    pub const SNOOP_HIT: u64 = 1 << 2 << 19;
    pub const TLB_HIT: u64 = 1 << 1 << 26;
    pub const TLB_MISS: u64 = 1 << 2 << 26;
    pub const TLB_FIRST: u64 = 1 << 3 << 26;
}

impl SpeOperation {
    /// Takes what a packet says; whether it is the record's last.
    pub(super) fn take(&mut self, packet: Packet) -> bool {
        match packet {
            Packet::End => return true,
            Packet::Timestamp(ticks) => {
                self.ticks = Some(ticks);
                return true;
            }
            Packet::Address { index, value } => self.take_address(index, value),
            Packet::Counter {
                index: TOTAL_LATENCY,
                cycles,
            } => self.latency_cycles = cycles.into(),
            Packet::Operation {
                class: OperationClass::Memory,
                details,
            } => self.take_access(details),
            Packet::Events(events) => self.events = events,
            Packet::DataSource(source) => self.source = Some(source),
            Packet::Context { value, .. } => self.context = Some(value),
            Packet::Padding | Packet::Counter { .. } | Packet::Operation { .. } => {}
        }
        false
    }

    fn take_address(&mut self, index: u8, value: u64) {
        match index {
            PROGRAM_COUNTER => {
                self.instruction = extended(value);
                self.exception_level = (value >> 61 & 3) as u8;
            }
            DATA_VIRTUAL => self.address = extended(value),
            DATA_PHYSICAL => self.physical_address = value & ADDRESS_BITS,
            _ => {}
        }
    }

    fn take_access(&mut self, details: u8) {
        let is_atomic = details & 0xe2 == 0x02 && details & 1 << 2 != 0;
        let is_store = details & 1 != 0;
        self.stores = is_store || is_atomic;
        self.loads = !is_store || is_atomic;
    }

    fn has(&self, events: u64) -> bool {
        self.events & events != 0
    }

    /// What it did to memory, and what answered, as `union perf_mem_data_src` of linux/perf_event.h encodes it.
    pub fn data_source(&self, sources: DataSources) -> u64 {
        if !self.loads && !self.stores {
            return 0;
        }
        let load = if self.loads { source::LOAD } else { 0 };
        let store = if self.stores { source::STORE } else { 0 };
        load | store | self.level(sources) | self.translation()
    }

    fn level(&self, sources: DataSources) -> u64 {
        let at = |level: u64| level << source::LEVEL_SHIFT;
        match (sources, self.source) {
            // The number's meanings are those of loads.
            (DataSources::Neoverse, Some(number)) if self.loads => match number {
                0x0 => at(source::L1),
                0x8 => at(source::L2),
                0x9 => at(source::L2) | source::SNOOP_HIT,
                0xa => at(source::L3) | source::SNOOP_HIT,
                0xb => at(source::L3),
                0xc => at(source::L3) | source::SNOOP_HIT,
                0xd => at(source::L3) | source::REMOTE,
                0xe => at(source::MEMORY),
                _ => self.level_by_events(),
            },
            _ => self.level_by_events(),
        }
    }

    fn level_by_events(&self) -> u64 {
        let remote = if self.has(event::REMOTE_ACCESS) {
            source::REMOTE
        } else {
            0
        };
        let level = match () {
            () if self.has(event::LAST_LEVEL_MISS) => source::MEMORY,
            () if self.has(event::LAST_LEVEL_ACCESS) => source::L3,
            () if self.has(event::REMOTE_ACCESS) => source::MEMORY,
            // What answered behind it isn't said.
            () if self.has(event::L1_REFILL) => return 0,
            () if self.has(event::L1_ACCESS) => source::L1,
            () => return 0,
        };
        level << source::LEVEL_SHIFT | remote
    }

    fn translation(&self) -> u64 {
        match () {
            () if self.has(event::TLB_WALK) => source::TLB_MISS | source::TLB_FIRST,
            () if self.has(event::TLB_ACCESS) => source::TLB_HIT | source::TLB_FIRST,
            () => 0,
        }
    }
}

const ADDRESS_BITS: u64 = (1 << 56) - 1;

/// The upper byte of an address is a tag, or says in which state the processor was: bit 55 stands for it.
fn extended(value: u64) -> u64 {
    match value >> 55 & 1 {
        0 => value & ADDRESS_BITS,
        _ => value | !ADDRESS_BITS,
    }
}
