//! Split records: the vectors, and traces of random records.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use proptest::prelude::*;
use testing::choices::Choices;
use testing::file::FileBytes;
use testing::tables;
use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::table::{Encoding, Operation, Segment, Table, TableFunction};
use trackway_trace::{ChunkFields, ChunkHeader, ChunkKind, Codec, Decoder, Trace, TraceError};

/// A named vector with its indented lines.
#[derive(Default)]
struct Vector {
    name: String,
    lines: Vec<(String, String)>,
}

impl Vector {
    fn hex(&self, key: &str) -> Vec<u8> {
        let lines = self.lines.iter().filter(|line| line.0 == key);
        let digits: String = lines.flat_map(|line| line.1.split_whitespace()).collect();
        (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
            .collect()
    }
}

fn vectors() -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/columns-v2.txt");
    let mut vectors: Vec<Vector> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let text = line.split('#').next().unwrap();
        match text.split_once(':') {
            Some((key, value)) => {
                let line = (key.trim().to_owned(), value.to_owned());
                vectors.last_mut().unwrap().lines.push(line);
            }
            None if !text.trim().is_empty() => vectors.push(Vector {
                name: text.trim().to_owned(),
                ..Vector::default()
            }),
            None => {}
        }
    }
    vectors
}

fn table() -> Table {
    let segment = |local_id: u16, widths: &[u8]| Segment {
        function: 0,
        local_id,
        record_length: widths.iter().map(|width| u32::from(*width)).sum(),
        operations: widths
            .iter()
            .map(|width| Operation::Root {
                register: 0,
                encoding: Encoding {
                    width: *width,
                    signed: true,
                },
            })
            .collect(),
    };
    Table {
        strings: vec![String::new()],
        locations: vec![Default::default()],
        functions: vec![TableFunction {
            segment_count: 3,
            register_count: 1,
            window: 0,
            ..TableFunction::default()
        }],
        segments: vec![segment(0, &[4]), segment(5, &[1, 8]), segment(0x106, &[])],
        ..Table::default()
    }
}

/// A trace with the table and a chunk of records that is stored so.
fn trace_of(stored: &[u8], length: usize) -> Trace {
    let mut file = FileBytes::new(Codec::None);
    file.module(0, 1, &table());
    let fields = ChunkFields::new(ChunkKind::Records);
    let header = ChunkHeader::new(&fields, Codec::Columns, length as u32, stored);
    file.bytes.extend_from_slice(&header.to_bytes());
    file.bytes.extend_from_slice(stored);
    file.open()
}

fn read(trace: &Trace) -> Result<Vec<u8>, TraceError> {
    let mut payload = Vec::new();
    trace
        .read_payload(&trace.streams()[0].chunks[0], &mut payload)
        .map(|()| payload)
}

/// Batches of a chunk.
const MANY: usize = 20;

/// Decodes all chunks of records, or many batches of each. Of each chunk the accesses and events up to the first error.
fn decode(trace: &Trace) -> Vec<(usize, Option<TraceError>)> {
    let mut decoder = Decoder::new(trace);
    let chunk = |chunk| {
        let mut batches = match decoder.decode(chunk) {
            Ok(batches) => batches,
            Err(error) => return (0, Some(error)),
        };
        let mut count = 0;
        for _ in 0..MANY {
            match batches.next_batch() {
                Ok(Some(batch)) => count += batch.len() + batch.marks.len(),
                Ok(None) => return (count, None),
                Err(error) => return (count, Some(error)),
            }
        }
        // A damaged loop may go on for hours.
        (usize::MAX, None)
    };
    trace.streams()[0].chunks.iter().map(chunk).collect()
}

#[test]
fn vectors_are_read() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 11);
    for vector in vectors {
        let stored = vector.hex("stored");
        match vector.name.as_str() {
            "split" => {
                let payload = vector.hex("payload");
                let trace = trace_of(&stored, payload.len());
                assert_eq!(read(&trace).unwrap(), payload);
                assert!(matches!(decode(&trace)[..], [(0, None)]));
            }
            _ => {
                let length = vector.hex("length")[0].into();
                let trace = trace_of(&stored, length);
                let error = read(&trace).unwrap_err();
                assert!(matches!(error, TraceError::BadCompression { .. }), "{error}");
                let [(0, Some(error))] = &decode(&trace)[..] else {
                    panic!("{}", vector.name)
                };
                let expected = matches!(
                    error,
                    TraceError::BadCompression { .. } | TraceError::BadRecord { .. }
                );
                assert!(expected, "{error}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn traces_of_random_records_come_back(
        table_bytes: Vec<u8>,
        record_bytes in prop::collection::vec(prop_oneof![3 => 0u8..6, 1 => any::<u8>()], 0..3000),
        tail: bool,
    ) {
        let table = tables::table(&mut Choices::new(&table_bytes));
        let records = tables::stream(&[(1, &table)], &mut Choices::new(&record_bytes));
        let mut file = FileBytes::new(Codec::Columns);
        file.module(0, 1, &table).records(0, u16::from(tail), &records).records(1, 0, &records);
        let trace = file.open();
        for chunk in &trace.streams()[0].chunks {
            let mut payload = Vec::new();
            trace.read_payload(chunk, &mut payload).unwrap();
            prop_assert_eq!(&payload, &records);
        }
    }

    #[test]
    fn damaged_columns_are_decoded_without_harm(
        table_bytes: Vec<u8>,
        record_bytes in prop::collection::vec(any::<u8>(), 0..300),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length_change in -3i64..4,
    ) {
        let table = tables::table(&mut Choices::new(&table_bytes));
        let records = tables::repeated_records(1, &table, &mut Choices::new(&record_bytes));
        let mut whole = FileBytes::new(Codec::Columns);
        let trace = whole.module(0, 1, &table).records(0, 0, &records).open();
        let chunk = trace.streams()[0].chunks[0];
        if chunk.header.codec == Codec::Columns {
            let start = chunk.offset as usize + HEADER_LENGTH;
            let mut stored = whole.bytes[start..][..chunk.header.stored_length as usize].to_vec();
            for (at, byte) in damage {
                let at = at.index(stored.len());
                stored[at] = byte;
            }
            let length = (records.len() as i64 + length_change).max(0) as u32;
            let mut file = FileBytes::new(Codec::None);
            file.module(0, 1, &table);
            let header = ChunkHeader::new(&ChunkFields::new(ChunkKind::Records), Codec::Columns, length, &stored);
            file.bytes.extend_from_slice(&header.to_bytes());
            file.bytes.extend_from_slice(&stored);
            let trace = file.open();
            let mut joined = Vec::new();
            let is_valid = trace.read_payload(&trace.streams()[0].chunks[0], &mut joined).is_ok();
            let decoded = decode(&trace);
            if is_valid {
                let mut plain = FileBytes::new(Codec::None);
                let plain = decode(&plain.module(0, 1, &table).records(0, 0, &joined).open());
                prop_assert_eq!(decoded[0].0, plain[0].0);
                prop_assert_eq!(decoded[0].1.is_some(), plain[0].1.is_some());
            } else {
                prop_assert!(decoded[0].1.is_some() || decoded[0].0 == usize::MAX);
            }
        }
    }
}
