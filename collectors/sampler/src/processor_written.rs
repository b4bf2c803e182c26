//! Samples that a processor writes into a buffer of its own.

use std::fs;

use crate::auxiliary::AuxiliaryBuffer;
use crate::events::Events;
use crate::record::{AuxiliaryRecord, Record};
use crate::ring::Ring;
use crate::spe::{DataSources, SpeReader, Stretch};

/// How a machine names its processor.
const PROCESSOR: &str = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";

/// How the operations that were sampled become samples of a recording.
pub fn reader(events: &Events, period: u64) -> SpeReader {
    let midr = fs::read_to_string(PROCESSOR).unwrap_or_default();
    let midr = u64::from_str_radix(midr.trim().trim_start_matches("0x"), 16).unwrap_or(0);
    SpeReader {
        clock: events
            .rings
            .iter()
            .find_map(Ring::auxiliary)
            .and_then(AuxiliaryBuffer::clock),
        // The kernel's records bear CLOCK_MONOTONIC.
        has_perfs_clock: false,
        sources: DataSources::of_processor(midr),
        period,
    }
}

/// The samples of the stretches that records tell of; their room is then free. What found no room, or can't be read, is
/// lost: at least one sample each time.
pub fn read(buffer: &AuxiliaryBuffer, records: &[Record], reader: &SpeReader) -> Vec<Record> {
    let mut read = Vec::new();
    for record in records {
        let Record::Auxiliary(told) = record else {
            continue;
        };
        let bytes = buffer.stretch(told.offset, told.length);
        read.extend(samples(told, &bytes, reader));
        buffer.free(told.offset.wrapping_add(told.length));
    }
    read
}

fn samples(told: &AuxiliaryRecord, bytes: &[u8], reader: &SpeReader) -> Vec<Record> {
    let stretch = Stretch {
        id: told.id,
        pid: told.pid,
        tid: told.tid,
        processor: told.processor,
        time_ns: told.time_ns,
    };
    let (samples, damaged) = reader.samples(bytes, &stretch);
    let samples = samples.into_iter().map(|sample| Record::Sample(Box::new(sample)));
    let count = damaged + u64::from(told.is_incomplete);
    let lost = (count > 0).then_some(Record::Lost { count });
    samples.chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_becomes_samples_and_what_was_lost_is_counted() {
        let reader = SpeReader {
            clock: None,
            has_perfs_clock: false,
            sources: DataSources::Unknown,
            period: 1000,
        };
        let told = AuxiliaryRecord {
            is_incomplete: true,
            pid: 5,
            tid: 6,
            time_ns: 70,
            ..AuxiliaryRecord::default()
        };
        let whole = [0xb0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x49, 1, 0x01];
        let bytes = [&whole[..], &[0xff, 0x01], &whole].concat();
        let records = samples(&told, &bytes, &reader);
        let [Record::Sample(first), Record::Sample(_), Record::Lost { count: 2 }] = &records[..] else {
            panic!("two samples, one damaged place and no room once: {records:?}");
        };
        assert_eq!((first.instruction, first.tid, first.time_ns), (0x1000, 6, 70));
    }
}
