//! Encodes [`Samples`].

use super::*;
use crate::table::{encode_svarint, encode_varint};

/// Numbers of the columns. Those below `FIRST_OF_WINDOW` have a value for each sample.
pub(super) mod column {
    pub const TIME: u8 = 1;
    pub const PID: u8 = 2;
    pub const TID: u8 = 3;
    pub const PROCESSOR: u8 = 4;
    pub const EVENT: u8 = 5;
    pub const SEEN_AT: u8 = 6;
    pub const INSTRUCTION: u8 = 7;
    pub const DIRECTION: u8 = 8;
    pub const ADDRESS: u8 = 9;
    pub const CLASS: u8 = 10;
    pub const SIZE: u8 = 11;
    pub const LATENCY: u8 = 12;
    pub const DATA_SOURCE: u8 = 13;
    pub const PHYSICAL_ADDRESS: u8 = 14;
    pub const WEIGHT: u8 = 15;
    pub const WINDOW_INSTRUCTIONS: u8 = 16;
    pub const WINDOW_END: u8 = 17;
    pub const WINDOW_ACCESSES: u8 = 18;
    pub const WINDOW_SPEED: u8 = 19;
    pub const WINDOW_WEIGHT: u8 = 20;
    /// Columns from this number on have a value for each access of a window.
    pub const FIRST_OF_WINDOW: u8 = 32;
    pub const ACCESS_INSTRUCTION: u8 = 32;
    pub const ACCESS_ADDRESS: u8 = 33;
    pub const ACCESS_SIZE: u8 = 34;
    pub const ACCESS_KIND: u8 = 35;
}

impl Samples {
    /// The payload of a chunk.
    pub fn encode(&self) -> Vec<u8> {
        use column::*;
        let mut columns = Columns::default();
        let mut of = |number, value: fn(&Sample) -> u64| columns.add(number, self.samples.iter().map(value));
        of(TIME, |sample| sample.time_ns);
        of(PID, |sample| sample.pid.into());
        of(TID, |sample| sample.tid.into());
        of(PROCESSOR, |sample| sample.processor.into());
        of(EVENT, |sample| sample.event.into());
        of(SEEN_AT, |sample| sample.seen_at);
        of(INSTRUCTION, |sample| sample.instruction);
        of(DIRECTION, |sample| sample.direction as u64);
        of(ADDRESS, |sample| sample.address.unwrap_or(0));
        of(CLASS, |sample| sample.class as u64);
        of(SIZE, |sample| sample.size_bytes.into());
        of(LATENCY, |sample| sample.latency_cycles);
        of(DATA_SOURCE, |sample| sample.data_source.0);
        of(PHYSICAL_ADDRESS, |sample| sample.physical_address);
        of(WEIGHT, |sample| sample.weight);
        of(WINDOW_INSTRUCTIONS, |sample| sample.window_instructions.into());
        of(WINDOW_END, |sample| sample.window_end as u64);
        of(WINDOW_ACCESSES, |sample| sample.window.len() as u64);
        of(WINDOW_SPEED, |sample| sample.window_speed.into());
        of(WINDOW_WEIGHT, |sample| sample.window_weight);
        let mut of =
            |number, value: fn(&WindowAccess) -> u64| columns.add(number, self.accesses().map(value));
        of(ACCESS_INSTRUCTION, |access| access.instruction);
        of(ACCESS_ADDRESS, |access| access.address);
        of(ACCESS_SIZE, |access| access.size_bytes.into());
        of(ACCESS_KIND, |access| {
            u64::from(access.is_store) | (access.known_by as u64) << 1
        });
        let mut out = Vec::new();
        for number in [
            self.lost,
            self.samples.len() as u64,
            self.accesses().count() as u64,
        ] {
            encode_varint(number, &mut out);
        }
        encode_varint(columns.count, &mut out);
        out.extend_from_slice(&columns.bytes);
        out
    }

    /// Accesses of the windows, in the order of the samples.
    fn accesses(&self) -> impl Iterator<Item = &WindowAccess> {
        self.samples.iter().flat_map(|sample| self.window_of(sample))
    }
}

#[derive(Default)]
struct Columns {
    count: u64,
    bytes: Vec<u8>,
}

impl Columns {
    /// Columns of zeros are left out, except for the two whose lengths bound the numbers of values.
    fn add(&mut self, number: u8, values: impl Iterator<Item = u64>) {
        let mut column = Vec::new();
        let (mut previous, mut is_zero) = (0u64, true);
        for value in values {
            is_zero &= value == 0;
            encode_svarint(value.wrapping_sub(previous) as i64, &mut column);
            previous = value;
        }
        if is_zero && !matches!(number, column::TIME | column::ACCESS_INSTRUCTION) {
            return;
        }
        self.count += 1;
        self.bytes.push(number);
        encode_varint(column.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(&column);
    }
}
