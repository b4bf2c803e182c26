use proptest::prelude::*;

use super::join::{join, OpenColumns, StoredColumns, MARGIN};
use super::packed::{pack_lengths, pack_steps, unpack};
use super::shapes::Shapes;
use super::split::{split, Columns};
use super::{ColumnReader, ColumnWriter, RecordShapes, MAX_RECORD_LENGTH};
use crate::encode_module;
use crate::encoding_times::Stopwatch;
use crate::payload::Effort;
use crate::table::{Encoding, Operation, Segment, Table, TableFunction};

/// Not 0, so that ids and indices differ.
const FIRST_ID: u32 = 7;

/// A segment of roots only.
fn segment(function: u32, local_id: u16, widths: &[u8]) -> Segment {
    let root = |width: &u8| Operation::Root {
        register: 0,
        encoding: Encoding {
            width: *width,
            signed: false,
        },
    };
    Segment {
        function,
        local_id,
        record_length: widths.iter().map(|width| u32::from(*width)).sum(),
        operations: widths.iter().map(root).collect(),
    }
}

/// Functions of a few segments with few roots.
fn segments() -> impl Strategy<Value = Vec<Segment>> {
    let width = prop_oneof![Just(1u8), Just(2), Just(4), Just(8)];
    let widths = prop_oneof![Just(Vec::new()), prop::collection::vec(width, 0..5)];
    let shape = (any::<bool>(), widths);
    let function = prop::collection::vec(shape, 1..6);
    prop::collection::vec(function, 1..4).prop_map(|functions| {
        let mut segments = Vec::new();
        for (function, shapes) in (0..).zip(functions) {
            for (number, (is_local, widths)) in (1..).zip(shapes) {
                // Some ids have two bytes, of which others share the first.
                let local_id = match is_local {
                    true if number > 2 => number << 8 | 7,
                    true => number * 40,
                    false => 0,
                };
                segments.push(segment(function, local_id, &widths));
            }
        }
        segments
    })
}

/// How a record comes about: which segment, under which form of its id, and how its roots follow the previous ones.
type Choice = (u8, u8, u8, u64);

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let choice = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u64>());
    let loops = (prop::collection::vec(choice, 1..6), 1..60usize);
    prop_oneof![
        prop::collection::vec(choice, 0..200),
        loops.prop_map(|(body, count)| body.repeat(count)),
    ]
}

/// Records as a program might have written them.
fn records(segments: &[Segment], choices: &[Choice]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut function = None;
    let mut last = vec![0u64; segments.len()];
    for (choice, form, change, value) in choices {
        let index = usize::from(*choice) % segments.len();
        let segment = &segments[index];
        if function == Some(segment.function) && segment.local_id != 0 && *form < 250 {
            bytes.extend_from_slice(&segment.local_id.to_le_bytes()[..segment.local_id_length()]);
        } else {
            bytes.extend_from_slice(&((FIRST_ID + index as u32) << 8).to_le_bytes());
            function = Some(segment.function);
        }
        let value = match change % 4 {
            0 => last[index],
            1 => last[index].wrapping_add(8),
            2 => last[index].wrapping_sub(u64::from(*form)),
            _ => *value,
        };
        last[index] = value;
        for operation in &segment.operations {
            if let Operation::Root { encoding, .. } = operation {
                bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(encoding.width)]);
            }
        }
    }
    bytes
}

fn shapes(segments: &[Segment]) -> Shapes {
    let mut shapes = Shapes::new();
    shapes.add(FIRST_ID, segments);
    shapes
}

fn reader(segments: &[Segment]) -> ColumnReader {
    let mut reader = ColumnReader::default();
    reader.add(FIRST_ID, segments);
    reader
}

fn table(segments: &[Segment]) -> Table {
    let function_count = segments
        .iter()
        .map(|segment| segment.function + 1)
        .max()
        .unwrap_or(0);
    let functions = (0..function_count).map(|function| {
        let first = segments.iter().position(|segment| segment.function == function);
        TableFunction {
            first_segment: first.unwrap_or(0) as u32,
            segment_count: segments
                .iter()
                .filter(|segment| segment.function == function)
                .count() as u32,
            register_count: 1,
            window: 0,
            ..TableFunction::default()
        }
    });
    Table {
        strings: vec![String::new()],
        locations: vec![Default::default()],
        functions: functions.collect(),
        segments: segments.to_vec(),
        ..Table::default()
    }
}

fn writer(segments: &[Segment]) -> ColumnWriter {
    let modules = RecordShapes::default();
    modules.add(&encode_module(FIRST_ID, 0, &[], &table(segments)));
    ColumnWriter::new(modules)
}

fn append(writer: &mut ColumnWriter, records: &[u8], stored: &mut Vec<u8>) -> bool {
    writer.append(records, Effort::Full, &mut Stopwatch::default(), stored)
}

fn join_stored(
    shapes: &mut Shapes,
    stored: &mut StoredColumns,
    length: usize,
    output: &mut [u8],
) -> Result<(), String> {
    let mut columns = OpenColumns::default();
    columns.open(stored, shapes);
    join(shapes, &mut columns, length, output)
}

/// Splits and joins the records and returns the bytes that were split.
fn split_and_join(segments: &[Segment], records: &[u8], short_records: bool) -> usize {
    let mut columns = Columns::default();
    let length = split(&mut shapes(segments), records, short_records, &mut columns);
    let mut stored = StoredColumns {
        ids: columns.ids,
        residuals: columns.residuals,
        ..StoredColumns::default()
    };
    pack_steps(&columns.steps, &mut stored.steps);
    pack_lengths(&columns.lengths, &mut stored.lengths);
    let mut output = vec![0; length + MARGIN];
    join_stored(&mut shapes(segments), &mut stored, length, &mut output).unwrap();
    assert_eq!(output[..length], records[..length]);
    length
}

fn read(segments: &[Segment], stored: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let mut raw = Vec::new();
    reader(segments).read(stored, length, 5, &mut raw)?;
    assert_eq!(raw[length..], [0; 5]);
    raw.truncate(length);
    Ok(raw)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn records_come_back(segments in segments(), choices in choices(), short_records: bool) {
        let records = records(&segments, &choices);
        let longest = segments.iter().map(|segment| segment.record_length as usize).max().unwrap_or(0);
        let split = split_and_join(&segments, &records, short_records);
        prop_assert!(split + longest + 4 + 12 >= records.len(), "{split} of {}", records.len());
    }

    #[test]
    fn both_walks_split_alike(segments in segments(), payloads in prop::collection::vec(choices(), 1..4)) {
        let payloads: Vec<_> = payloads.iter().map(|choices| records(&segments, choices)).collect();
        let [one, other] = [false, true].map(|short_records| {
            let mut shapes = shapes(&segments);
            let mut split_one = |payload: &Vec<u8>| {
                let mut columns = Columns::default();
                let length = split(&mut shapes, payload, short_records, &mut columns);
                (length, columns.steps, columns.ids, columns.lengths, columns.residuals)
            };
            payloads.iter().map(&mut split_one).collect::<Vec<_>>()
        });
        prop_assert_eq!(one, other);
    }

    #[test]
    fn any_bytes_come_back(segments in segments(), bytes: Vec<u8>, choices in choices()) {
        split_and_join(&segments, &bytes, false);
        let mut records = records(&segments, &choices);
        records.extend_from_slice(&bytes);
        let mut stored = Vec::new();
        if append(&mut writer(&segments), &records, &mut stored) {
            prop_assert!(stored.len() < records.len());
            prop_assert_eq!(read(&segments, &stored, records.len()).unwrap(), records);
        }
    }

    #[test]
    fn damaged_columns_do_no_harm(
        segments in segments(),
        choices in choices(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length_change in -3i64..4,
    ) {
        let records = records(&segments, &choices);
        let mut stored = Vec::new();
        if append(&mut writer(&segments), &records, &mut stored) {
            for (at, byte) in damage {
                let at = at.index(stored.len());
                stored[at] = byte;
            }
            let length = (records.len() as i64 + length_change).max(0) as usize;
            if let Ok(raw) = read(&segments, &stored, length) {
                prop_assert_eq!(raw.len(), length);
            }
        }
    }

    #[test]
    fn any_columns_do_no_harm(segments in segments(), columns: [Vec<u8>; 4], length in 0usize..5000) {
        let [steps, ids, lengths, residuals] = columns;
        let mut stored = StoredColumns { steps, ids, lengths, residuals };
        let mut output = vec![0; length + MARGIN];
        let _ = join_stored(&mut shapes(&segments), &mut stored, length, &mut output);
        let _ = read(&segments, &output, length);
    }
}

#[test]
fn what_is_foreseen_is_left_out() {
    // The segments of trace/vectors/columns-v2.txt.
    let segments = [
        segment(0, 0, &[4]),
        segment(0, 5, &[1, 8]),
        segment(0, 0x106, &[]),
    ];
    let pair = |byte: u8, word: u64| [&[5, byte][..], &word.to_le_bytes(), &[6, 1]].concat();
    let records = [
        vec![0, FIRST_ID as u8, 0, 0, 0x10, 0, 0, 0],
        pair(0xff, 0x1000),
        pair(0xfe, 0x1008),
        pair(0xfd, 0x1010),
        pair(0xfb, 0x1018)[..10].to_vec(),
        pair(0xfb, 0x1018),
    ];
    let mut payload = records.concat();
    let length = payload.len();
    payload.resize(length + 12, 0);
    let mut columns = Columns::default();
    assert_eq!(
        split(&mut shapes(&segments), &payload, false, &mut columns),
        length
    );
    assert_eq!(columns.steps, [2, 2, 2, 2, 0, 0, 0, 0, 2, 1]);
    assert_eq!(columns.ids, [0, FIRST_ID as u8, 0, 0, 5, 6, 1, 5, 5]);
    assert_eq!(columns.lengths, [1, 1, 2, 1, 1, 0, 1, 1, 0, 1, 1]);
    assert_eq!(columns.residuals, [0x20, 1, 0, 0x20, 1, 0x10, 0x10, 1, 2, 0x0f]);
}

#[test]
fn a_writer_is_used_again() {
    let segments = [segment(0, 1, &[8, 4]), segment(0, 2, &[])];
    let mut writer = writer(&segments);
    let reader = reader(&segments);
    for first in 0..40 {
        let choices: Vec<Choice> = (0..500)
            .map(|number| (number as u8, 0, 1 + (number % 97) as u8 / 96, first))
            .collect();
        let records = records(&segments, &choices);
        let mut stored = vec![1, 2, 3];
        assert!(append(&mut writer, &records, &mut stored));
        assert!(
            stored.len() < records.len() / 8,
            "{} of {}",
            stored.len(),
            records.len()
        );
        let mut raw = Vec::new();
        reader.read(&stored[3..], records.len(), 0, &mut raw).unwrap();
        assert_eq!(raw, records);
    }
}

#[test]
fn records_of_an_unknown_module_are_not_split() {
    let mut bytes = Vec::new();
    let records = records(&[segment(0, 1, &[8])], &[(0, 0, 1, 0); 100]);
    assert!(!append(
        &mut ColumnWriter::new(RecordShapes::default()),
        &records,
        &mut bytes
    ));
    assert!(bytes.is_empty());
}

#[test]
fn a_large_table_is_read_once_many_records_came() {
    let segments = [segment(0, 1, &[8])];
    let table = Table {
        strings: vec![String::new(), "x".repeat(1 << 19)],
        ..table(&segments)
    };
    let payload = encode_module(FIRST_ID, 0, &[], &table);
    let modules = RecordShapes::default();
    modules.add(&payload);
    let mut writer = ColumnWriter::new(modules);
    let records = records(&segments, &[(0, 0, 1, 0); 1 << 15]);
    let mut stored = Vec::new();
    let unsplit = (0..)
        .take_while(|_| !append(&mut writer, &records, &mut stored))
        .count();
    assert_eq!(unsplit, (16 * payload.len()).div_ceil(records.len()) - 1);
    assert_eq!(read(&segments, &stored, records.len()).unwrap(), records);
}

#[test]
fn overlapping_modules_are_not_taken() {
    let segments = [segment(0, 1, &[8])];
    let mut writer = writer(&segments);
    let table = Table {
        strings: vec![String::new()],
        locations: vec![Default::default()],
        functions: vec![TableFunction {
            segment_count: 1,
            register_count: 1,
            window: 0,
            ..TableFunction::default()
        }],
        segments: vec![segment(0, 1, &[4])],
        ..Table::default()
    };
    writer.modules().add(&encode_module(FIRST_ID, 0, &[], &table));
    let records = records(&segments, &[(0, 0, 1, 0); 100]);
    let mut stored = Vec::new();
    assert!(append(&mut writer, &records, &mut stored));
    assert_eq!(read(&segments, &stored, records.len()).unwrap(), records);
}

#[test]
fn longer_records_than_a_buffer_may_hold_stay_as_they_are() {
    let longest = vec![8; MAX_RECORD_LENGTH as usize / 8];
    let mut too_long = longest.clone();
    too_long.push(1);
    let segments = [segment(0, 1, &longest), segment(0, 2, &too_long)];
    let records = records(&segments, &[(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 0)]);
    assert_eq!(
        split_and_join(&segments, &records, false),
        4 + MAX_RECORD_LENGTH as usize
    );
}

#[test]
fn id_0_is_no_id() {
    let mut shapes = Shapes::new();
    shapes.add(0, &[segment(0, 0, &[])]);
    let mut stored = StoredColumns {
        steps: vec![2 | 2 << 2],
        ..StoredColumns::default()
    };
    let mut output = [0; 8 + MARGIN];
    let error = join_stored(&mut shapes, &mut stored, 8, &mut output).unwrap_err();
    assert!(error.starts_with("a stated id belongs to no module"), "{error}");
}

/// Columns of a record of `segment` under its global id, and what of them is refused.
fn refused(steps: &[u8], ids: &[u8], lengths: &[u8], residuals: &[u8], length: usize) -> String {
    let mut stored = StoredColumns {
        steps: steps.to_vec(),
        ids: ids.to_vec(),
        lengths: lengths.to_vec(),
        residuals: residuals.to_vec(),
    };
    let mut output = vec![0; length + MARGIN];
    join_stored(
        &mut shapes(&[segment(0, 1, &[2])]),
        &mut stored,
        length,
        &mut output,
    )
    .unwrap_err()
}

#[test]
fn invalid_columns_are_refused_with_their_place() {
    const ID: [u8; 4] = [0, FIRST_ID as u8, 0, 0];
    let cases = [
        (refused(&[], &ID, &[0], &[], 6), "the steps end early, at byte 0"),
        (refused(&[3], &ID, &[0], &[], 6), "there is no step 3, at byte 0"),
        (
            refused(&[0], &ID, &[0], &[], 6),
            "an id has no such successor, at byte 0",
        ),
        (
            refused(&[2 | 1 << 2], &ID, &[0], &[], 12),
            "an id has no such successor, at byte 6",
        ),
        (
            refused(&[2], &[0, 1, 0, 0], &[0], &[], 6),
            "a stated id belongs to no module of the trace, at byte 0",
        ),
        (
            refused(&[2], &[1], &[0], &[], 3),
            "a stated id belongs to no module of the trace, at byte 0",
        ),
        (
            refused(&[2 | 2 << 2], &ID, &[0], &[], 12),
            "a stated id belongs to no module of the trace, at byte 6",
        ),
        (
            refused(&[2], &ID, &[0], &[], 5),
            "a record is longer than what is left, at byte 0",
        ),
        (
            refused(&[2], &ID, &[], &[], 6),
            "the lengths of residuals end early, at byte 0",
        ),
        (
            refused(&[2], &ID, &[3], &[1, 2, 3], 6),
            "a residual is longer than its root, at byte 0",
        ),
        (
            refused(&[2], &ID, &[2], &[1], 6),
            "the residuals end early, at byte 0",
        ),
        (
            refused(&[2], &ID, &[1], &[1, 2], 6),
            "the columns do not fit the records, at byte 6",
        ),
        (
            refused(&[2], &[0, 7, 0, 0, 1], &[0], &[], 6),
            "the columns do not fit the records, at byte 6",
        ),
        (
            refused(&[2, 0], &ID, &[0], &[], 6),
            "the columns do not fit the records, at byte 6",
        ),
        (
            refused(&[2], &ID, &[0, 0], &[], 6),
            "the columns do not fit the records, at byte 6",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, format!("{expected} of its records"));
    }
}

#[test]
fn invalid_heads_are_refused() {
    let unpacked = |bytes: &[u8]| {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        unpack(bytes, 100, [&mut first, &mut second]).map(|()| (first, second))
    };
    let head = |lengths: [u32; 4]| lengths.map(u32::to_le_bytes).concat();
    let columns = |lengths, bytes: &[u8]| unpacked(&[&head(lengths)[..], bytes].concat());
    assert_eq!(columns([1, 1, 2, 2], &[7, 8, 9]), Ok((vec![7], vec![8, 9])));
    assert!(unpacked(&[1, 0, 0, 0, 1]).is_err());
    for (lengths, bytes) in [
        ([1, 1, 2, 2], &[7, 8][..]),
        ([1, 1, 2, 2], &[7, 8, 9, 10]),
        ([1, 2, 0, 0], &[7, 8]),
        ([101, 101, 0, 0], &[0; 101]),
        ([80, 0, 0, 0], &[]),
        ([50, 2, 0, 0], &[0x10, 7]),
        ([u32::MAX, u32::MAX, 0, 0], &[0x10, 7]),
    ] {
        assert!(columns(lengths, bytes).is_err(), "{bytes:?}");
    }
}
