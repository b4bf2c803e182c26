use std::fs;
use std::path::PathBuf;

use trackway_trace::{AddressClass, Direction, MemoryLevel, Trace};

use super::*;
use crate::ImportError;

const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDRESS: u64 = 1 << 3;
const PERIOD: u64 = 1 << 8;
const WEIGHT: u64 = 1 << 14;
const DATA_SOURCE: u64 = 1 << 15;
const IDENTIFIER: u64 = 1 << 16;
const PHYSICAL: u64 = 1 << 19;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn record(kind: u32, flags: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_le_bytes());
    bytes.extend_from_slice(&(8 + content.len() as u16).to_le_bytes());
    bytes.extend_from_slice(content);
    bytes
}

/// Attributes of 112 bytes, as far as the reader looks.
fn attributes(kind: u32, config: u64, sample_type: u64, precise: u64) -> Vec<u8> {
    let mut bytes = words(&[
        pair(kind, 112),
        config,
        1000,
        sample_type,
        0,
        precise << 15 | 1 << 18,
    ]);
    bytes.resize(112, 0);
    bytes
}

/// A file of events with an id each, and records.
fn file(events: &[(Vec<u8>, u64)], records: &[u8]) -> Vec<u8> {
    const HEADER: u64 = 104;
    let ids_at = HEADER;
    let attributes_at = ids_at + 8 * events.len() as u64;
    let attribute_size = 112 + 16;
    let data_at = attributes_at + attribute_size * events.len() as u64;
    let mut bytes = b"PERFILE2".to_vec();
    bytes.extend(words(&[
        HEADER,
        attribute_size,
        attributes_at,
        attribute_size * events.len() as u64,
    ]));
    bytes.extend(words(&[data_at, records.len() as u64, 0, 0, 0, 0, 0, 0]));
    for (_, id) in events {
        bytes.extend(words(&[*id]));
    }
    for (index, (attributes, _)) in (0..).zip(events) {
        bytes.extend_from_slice(attributes);
        bytes.extend(words(&[ids_at + 8 * index, 8]));
    }
    bytes.extend_from_slice(records);
    bytes
}

const LOADS: u64 = IDENTIFIER | IP | TID | TIME | ADDRESS | PERIOD | WEIGHT | DATA_SOURCE | PHYSICAL;
const CLOCK: u64 = IDENTIFIER | IP | TID | TIME | PERIOD;

fn events() -> Vec<(Vec<u8>, u64)> {
    vec![
        (attributes(4, 0x1cd, LOADS, 2), 71),
        (attributes(1, 1, CLOCK, 0), 72),
    ]
}

fn mapping(time: u64) -> Vec<u8> {
    mapped(time, &[71])
}

/// What stands at the end of the record, after the time.
fn mapped(time: u64, rest: &[u64]) -> Vec<u8> {
    let mut content = words(&[pair(5, 5), 0x40_0000, 0x1000, 0x1000, 0, 0, 0, pair(5, 2)]);
    content.extend_from_slice(b"/none/prog\0\0\0\0\0\0");
    content.extend(words(&[pair(5, 5), time]));
    content.extend(words(rest));
    record(10, 2, &content)
}

fn load(time: u64) -> Vec<u8> {
    let level_3 = 2 | 3 << 33;
    let content = words(&[
        71,
        0x40_0010,
        pair(5, 6),
        time,
        0x7000_0040,
        1000,
        45,
        level_3,
        0x9040,
    ]);
    record(9, 2 | 1 << 14, &content)
}

fn tick(time: u64, instruction: u64) -> Vec<u8> {
    record(9, 2, &words(&[72, instruction, pair(5, 5), time, 1_000_000]))
}

/// Imports the bytes of a file.
fn imported(bytes: &[u8]) -> Result<(PerfSummary, Trace), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("perf.data");
    fs::write(&path, bytes).unwrap();
    assert_eq!(is_perf_data(&path), bytes.starts_with(b"PERFILE2"));
    let output = folder.path().join("trace");
    let summary = import_perf_data(&path, &output, false)?;
    Ok((
        summary,
        Trace::from_bytes("trace".as_ref(), fs::read(&output).unwrap()).unwrap(),
    ))
}

#[test]
fn addresses_weights_and_sources_are_kept() {
    // Out of order, as several processors leave them.
    let lost = record(2, 0, &words(&[71, 3, pair(5, 5), 30, 71]));
    let kernels = tick(50, 0xffff_ffff_8100_0000);
    let records = [load(40), lost, mapping(10), tick(20, 0x40_0020), kernels].concat();
    let (summary, trace) = imported(&file(&events(), &records)).unwrap();
    assert_eq!(
        summary.events,
        [
            ("type 4 config 0x1cd".to_owned(), 1),
            ("task-clock".to_owned(), 1)
        ]
    );
    assert_eq!((summary.lost, summary.in_kernel, summary.addressed), (3, 1, 1));
    let (chunks, damage) = trace.samples();
    assert!(damage.is_empty() && trace.damage().is_empty());
    let [tick, load] = &chunks[0].samples[..] else {
        panic!("two samples in the order of time");
    };
    assert_eq!(
        (tick.time_ns, tick.event, tick.instruction, tick.seen_at),
        (20, 1, 0, 0x40_0020)
    );
    assert_eq!((tick.weight, tick.class), (1_000_000, AddressClass::None));
    assert_eq!(
        (load.instruction, load.tid, load.address),
        (0x40_0010, 6, Some(0x7000_0040))
    );
    assert_eq!(
        (load.class, load.direction),
        (AddressClass::Exact, Direction::Load)
    );
    assert_eq!((load.latency_cycles, load.physical_address), (45, 0x9040));
    assert_eq!(load.data_source.level(), MemoryLevel::L3);
    let (mappings, _) = trace.mappings();
    assert_eq!(mappings.find(5, 40, 0x40_0010).unwrap().path, "/none/prog");
}

#[test]
fn a_pipes_attributes_come_with_the_records() {
    let mut bytes = b"PERFILE2".to_vec();
    bytes.extend(words(&[16]));
    for (attributes, id) in events() {
        bytes.extend(record(64, 0, &[attributes, words(&[id])].concat()));
    }
    bytes.extend([mapping(10), load(40)].concat());
    let (summary, _) = imported(&bytes).unwrap();
    assert_eq!(summary.events[0].1, 1);
}

#[test]
fn what_cannot_be_read_says_where() {
    let whole = file(&events(), &[mapping(10), load(40)].concat());
    for length in [10, 40, 130, whole.len() - 8] {
        let error = imported(&whole[..length]).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("perf.data") && error.contains("offset"),
            "{length}: {error}"
        );
    }
    let error = imported(b"PERFILE1").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no file of `perf record`"), "{error}");
    let compressed = file(&events(), &record(81, 0, &[0; 16]));
    let error = imported(&compressed).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("without -z"), "{error}");
}

#[test]
fn events_that_differ_must_be_identified() {
    let differing = [
        (attributes(4, 0x1cd, LOADS & !IDENTIFIER, 2), 71),
        (attributes(1, 1, CLOCK & !IDENTIFIER, 0), 72),
    ];
    let error = imported(&file(&differing, &[]))
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(error.contains("which event"), "{error}");
}

/// A block of what a processor wrote by itself, and its content.
#[test]
fn what_a_processor_wrote_is_left_out_and_said() {
    let block = words(&[24, 0x8000, 0, pair(0, 6), pair(3, 0)]);
    let records = [record(71, 0, &block), vec![0x9c; 24], mapped(10, &[])].concat();
    let (summary, _) = imported(&file(&events(), &records)).unwrap();
    assert_eq!((summary.addressed, summary.by_processor_bytes), (0, 24));
    let cut = file(&events(), &records[..60]);
    let error = imported(&cut).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("cut off") && error.contains("offset"), "{error}");
}
