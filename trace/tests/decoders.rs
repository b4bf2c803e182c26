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
use trackway_trace::{Batch, ChunkRef, Codec, Decoder, Piece, Trace, TraceError};

const SECOND_MODULE: u32 = 300;
/// Iterations of one record in these tests.
const ITERATIONS: u64 = 3000;

/// A batch's accesses and events in program order; of its runs at most `ITERATIONS`.
fn in_order(batch: &Batch, decoded: &mut Vec<Decoded>) {
    let mut marks = batch.marks.iter();
    let mut taken = 0;
    let mut events_before = |decoded: &mut Vec<Decoded>, stop: &dyn Fn(usize, u32) -> bool| {
        while let Some(mark) = marks.clone().next().filter(|mark| !stop(taken, mark.before)) {
            decoded.push(Decoded::Event(batch.event(*mark)));
            marks.next();
            taken += 1;
        }
    };
    for piece in batch.pieces() {
        match piece {
            Piece::Accesses(range) => {
                for index in range {
                    events_before(decoded, &|_, before| before as usize > index);
                    decoded.push(Decoded::Access {
                        site: batch.site[index],
                        address: batch.address[index],
                        length: batch.length(index),
                    });
                }
            }
            Piece::Run(run) => {
                events_before(decoded, &|taken, _| taken == run.marks_before as usize);
                for iteration in 0..run.count.min(ITERATIONS) {
                    decoded.extend(batch.lanes(run).iter().map(|lane| Decoded::Access {
                        site: lane.site,
                        address: lane.address.wrapping_add(lane.stride.wrapping_mul(iteration)),
                        length: lane.size.into(),
                    }));
                }
            }
        }
    }
    events_before(decoded, &|_, _| false);
}

/// What a decoder makes of a chunk.
#[derive(Debug, Default, PartialEq)]
struct Account {
    decoded: Vec<Decoded>,
    failed: bool,
    /// Not all was decoded, because a loop is too long for a test.
    cut: bool,
}

/// Decodes a chunk; if the account was cut, only as much of it as the account has.
fn decode_fast(decoder: &mut Decoder<'_>, chunk: &ChunkRef, slow: &Account) -> Account {
    let mut account = Account {
        cut: slow.cut,
        ..Account::default()
    };
    let mut batches = decoder.decode(chunk).unwrap();
    while !slow.cut || account.decoded.len() < slow.decoded.len() {
        match batches.next_batch() {
            Ok(Some(batch)) => in_order(batch, &mut account.decoded),
            Ok(None) => break,
            Err(TraceError::BadRecord { .. }) => account.failed = true,
            Err(error) => panic!("{error}"),
        }
    }
    if slow.cut {
        account.decoded.truncate(slow.decoded.len());
    }
    account
}

fn decode_slowly(trace: &Trace, chunk: &ChunkRef) -> Account {
    let mut account = Account::default();
    let violations = Interpreter::new(trace)
        .with_iteration_limit(ITERATIONS)
        .run(chunk, &mut |event| account.decoded.push(event))
        .unwrap();
    for violation in violations {
        match violation.rule {
            Rule::UnsetRegister { .. } => {}
            Rule::Iterations { .. } => account.cut = true,
            _ => account.failed = true,
        }
    }
    account
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
    let mut decoder = Decoder::new(&trace);
    let mut run_decoder = Decoder::new(&trace).with_runs();
    let mut length = 0;
    for chunk in &trace.streams()[0].chunks {
        let slow = decode_slowly(&trace, chunk);
        let fast = decode_fast(&mut decoder, chunk, &slow);
        prop_assert_eq!(&fast, &slow);
        let in_runs = decode_fast(&mut run_decoder, chunk, &slow);
        prop_assert_eq!(&in_runs, &slow);
        length += fast.decoded.len();
    }
    Ok(length)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn both_decoders_agree_about_split_records(
        table_bytes in proptest::collection::vec(any::<u8>(), 0..600),
        record_bytes in proptest::collection::vec(any::<u8>(), 0..300),
        flags in 0..=FLAG_TAIL,
        cut in 0..16usize,
    ) {
        let table = tables::table(&mut Choices::new(&table_bytes));
        let stream = tables::repeated_records(1, &table, &mut Choices::new(&record_bytes));
        let cut_stream = &stream[..stream.len().saturating_sub(cut)];
        compare(&[&table], &[cut_stream, &stream], Codec::Columns, flags)?;
    }
}

fn noise(length: u32) -> Vec<u8> {
    let byte = |number: u32| (number.wrapping_mul(2_654_435_761) >> 13) as u8;
    (0..length).map(byte).collect()
}

/// A tail's last record, which may not have happened, is the same however the chunk is stored.
#[test]
fn codecs_agree_about_what_is_uncertain() {
    let bytes = noise(20_000);
    let mut split = 0;
    for start in 0..40 {
        let table = tables::table(&mut Choices::new(&bytes[start * 100..]));
        let stream = tables::repeated_records(1, &table, &mut Choices::new(&bytes[start..]));
        // Up to some zeros follow the records, or the last one is cut off.
        for length in [
            stream.len().saturating_sub(start % 3),
            stream.len() + start,
            stream.len() * 2,
        ] {
            let mut stream = stream.clone();
            stream.resize(length, 0);
            let counts = [Codec::None, Codec::Columns].map(|codec| {
                let mut file = FileBytes::new(codec);
                let trace = file.module(0, 1, &table).records(0, FLAG_TAIL, &stream).open();
                let chunk = trace.streams()[0].chunks[0];
                split += usize::from(chunk.header.codec == Codec::Columns);
                [Decoder::new(&trace), Decoder::new(&trace).with_runs()].map(|mut decoder| {
                    let mut batches = decoder.decode(&chunk).unwrap();
                    let mut counts = Vec::new();
                    // Some loops go on for hours.
                    for _ in 0..20 {
                        let Ok(Some(batch)) = batches.next_batch() else {
                            break;
                        };
                        let uncertain = (batch.uncertain_from, batch.uncertain_count());
                        counts.push((batch.access_count(), uncertain));
                    }
                    counts
                })
            });
            assert_eq!(counts[0], counts[1], "{start}");
        }
    }
    assert!(split > 20, "{split}");
}

/// Long streams fill many batches.
#[test]
fn both_decoders_agree_across_batches() {
    let bytes = noise(40_000);
    let mut longest = 0;
    for start in 0..150 {
        let table = tables::table(&mut Choices::new(&bytes[start * 100..]));
        let mut choices = Choices::new(&bytes);
        let stream = tables::stream(&[(1, &table)], &mut choices);
        for codec in [Codec::None, Codec::Columns] {
            longest = longest.max(compare(&[&table], &[&stream], codec, FLAG_TAIL).unwrap());
        }
    }
    assert!(
        longest > 10_000,
        "the longest stream had {longest} accesses and events"
    );
}
