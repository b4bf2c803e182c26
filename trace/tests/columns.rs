//! Split records: the vectors, and traces of random records.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use proptest::prelude::*;
use testing::choices::Choices;
use testing::file::FileBytes;
use testing::tables;
use trackway_trace::table::{Encoding, Operation, Segment, Table, TableFunction};
use trackway_trace::{ChunkFields, ChunkHeader, ChunkKind, Codec, Trace, TraceError};

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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/columns-v1.txt");
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
    let segment = |local_id: u8, widths: &[u8]| Segment {
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
            ..TableFunction::default()
        }],
        segments: vec![segment(0, &[4]), segment(5, &[1, 8]), segment(6, &[])],
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

#[test]
fn vectors_are_read() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 10);
    for vector in vectors {
        let stored = vector.hex("stored");
        match vector.name.as_str() {
            "split" => {
                let payload = vector.hex("payload");
                assert_eq!(read(&trace_of(&stored, payload.len())).unwrap(), payload);
            }
            _ => {
                let length = vector.hex("length")[0].into();
                let error = read(&trace_of(&stored, length)).unwrap_err();
                assert!(matches!(error, TraceError::BadCompression { .. }), "{error}");
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
}
