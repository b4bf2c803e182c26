//! What the events of a file are, by their attributes.

use trackway_perf_records::SampleLayout;
use trackway_trace::SampledEvent;

/// An event of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEvent {
    pub layout: SampleLayout,
    pub described: SampledEvent,
    /// The ids by which samples name it.
    pub ids: Vec<u64>,
    /// Whether the processor names the very instruction.
    pub is_precise: bool,
}

/// Bytes of `struct perf_event_attr` in its first version.
const SHORTEST: usize = 64;
const SAMPLE_IDENTIFIER: u64 = 1 << 16;
const SAMPLE_ID: u64 = 1 << 6;

impl FileEvent {
    /// Reads an event from the bytes of its attributes; none if there are too few.
    pub fn of(attributes: &[u8], ids: Vec<u64>) -> Option<FileEvent> {
        if attributes.len() < SHORTEST {
            return None;
        }
        let word = |at: usize| {
            let bytes = attributes.get(at..at + 8);
            bytes.map_or(0, |bytes| {
                u64::from_le_bytes(bytes.try_into().unwrap_or_default())
            })
        };
        let kind = word(0) as u32;
        let (config, flags) = (word(8), word(40));
        Some(FileEvent {
            layout: SampleLayout {
                sample_type: word(24),
                user_registers: word(80),
                interrupt_registers: word(96),
                read_format: word(32),
                branch_sample_type: word(72),
                identifies_all: flags >> 18 & 1 != 0,
            },
            described: described(kind, config),
            ids,
            is_precise: flags >> 15 & 3 != 0,
        })
    }

    /// Whether samples begin with the id of their event.
    pub fn identifies(&self) -> bool {
        self.layout.sample_type & SAMPLE_IDENTIFIER != 0
    }

    /// Whether samples hold the id of their event at all.
    pub fn has_id(&self) -> bool {
        self.layout.sample_type & (SAMPLE_IDENTIFIER | SAMPLE_ID) != 0
    }
}

/// Names of linux/perf_event.h's events; others are identified by their numbers.
fn described(kind: u32, config: u64) -> SampledEvent {
    let (name, unit) = match (kind, config) {
        (0, 0) => ("cycles", "cycles"),
        (0, 1) => ("instructions", "instructions"),
        (0, 3) => ("cache-misses", "misses"),
        (1, 0) => ("cpu-clock", "ns"),
        (1, 1) => ("task-clock", "ns"),
        (1, 2) => ("page-faults", "faults"),
        _ => ("", "events"),
    };
    let name = match name {
        "" => format!("type {kind} config {config:#x}"),
        name => name.to_owned(),
    };
    SampledEvent {
        name,
        source: "perf".into(),
        weight_unit: unit.into(),
    }
}
