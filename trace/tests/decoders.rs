//! The fast decoder against the checking one, on random tables and streams.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use proptest::prelude::*;
use testing::choices::Choices;
use testing::file::FileBytes;
use testing::tables;
use trackway_trace::check::{Decoded, Interpreter, Rule};
use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::table::Table;
use trackway_trace::{Batch, Codec, Decoder, Trace, TraceError};

const SECOND_MODULE: u32 = 300;

/// A batch's accesses and events in program order.
fn in_order(batch: &Batch, decoded: &mut Vec<Decoded>) {
    let mut marks = batch.marks.iter().peekable();
    for index in 0..=batch.len() {
        while let Some(mark) = marks.next_if(|mark| mark.before as usize == index) {
            decoded.push(Decoded::Event(mark.event));
        }
        if index < batch.len() {
            let (site, address, length) = (batch.site[index], batch.address[index], batch.length(index));
            decoded.push(Decoded::Access {
                site,
                address,
                length,
            });
        }
    }
    assert!(marks.next().is_none());
}

fn decode_fast(trace: &Trace, decoder: &mut Decoder<'_>) -> (Vec<Decoded>, bool) {
    let mut decoded = Vec::new();
    let mut failed = false;
    for chunk in &trace.streams()[0].chunks {
        let mut batches = decoder.decode(chunk).unwrap();
        loop {
            match batches.next_batch() {
                Ok(Some(batch)) => in_order(batch, &mut decoded),
                Ok(None) => break,
                Err(TraceError::BadRecord { .. }) => failed = true,
                Err(error) => panic!("{error}"),
            }
        }
    }
    (decoded, failed)
}

fn decode_slowly(trace: &Trace) -> (Vec<Decoded>, bool) {
    let mut decoded = Vec::new();
    let mut failed = false;
    for chunk in &trace.streams()[0].chunks {
        let violations = Interpreter::new(trace)
            .run(chunk, &mut |event| decoded.push(event))
            .unwrap();
        failed |= violations
            .iter()
            .any(|violation| !matches!(violation.rule, Rule::UnsetRegister { .. }));
    }
    (decoded, failed)
}

fn compare(tables: &[&Table], streams: &[&[u8]], codec: Codec, flags: u16) -> Result<usize, TestCaseError> {
    let mut file = FileBytes::new(codec);
    for (number, table) in tables.iter().enumerate() {
        file.module(number as u64, 1 + number as u32 * SECOND_MODULE, table);
    }
    for (sequence, stream) in streams.iter().enumerate() {
        file.records(sequence as u64, flags, stream);
    }
    let trace = file.open();
    prop_assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    let fast = decode_fast(&trace, &mut Decoder::new(&trace));
    prop_assert_eq!(&fast, &decode_slowly(&trace));
    Ok(fast.0.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn both_decoders_agree(
        table_bytes in proptest::collection::vec(any::<u8>(), 0..600),
        other_bytes in proptest::collection::vec(any::<u8>(), 0..300),
        record_bytes in proptest::collection::vec(any::<u8>(), 0..3000),
        flags in 0..=FLAG_TAIL,
        cut in 0..16usize,
    ) {
        let first = tables::table(&mut Choices::new(&table_bytes));
        let second = tables::table(&mut Choices::new(&other_bytes));
        let modules = [(1, &first), (1 + SECOND_MODULE, &second)];
        let stream = tables::stream(&modules, &mut Choices::new(&record_bytes));
        let cut_stream = &stream[..stream.len().saturating_sub(cut)];
        compare(&[&first, &second], &[cut_stream, &stream], Codec::Lz4, flags)?;
    }

    #[test]
    fn tables_survive_a_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let table = tables::table(&mut Choices::new(&bytes));
        prop_assert_eq!(Table::parse(&table.encode()).unwrap(), table);
    }
}

/// Long streams fill many batches.
#[test]
fn both_decoders_agree_across_batches() {
    let bytes: Vec<u8> = (0..40_000u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut longest = 0;
    for start in 0..20 {
        let table = tables::table(&mut Choices::new(&bytes[start * 100..]));
        let mut choices = Choices::new(&bytes);
        let stream = tables::stream(&[(1, &table)], &mut choices);
        longest = longest.max(compare(&[&table], &[&stream], Codec::None, FLAG_TAIL).unwrap());
    }
    assert!(
        longest > 10_000,
        "the longest stream had {longest} accesses and events"
    );
}
