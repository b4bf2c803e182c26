//! Damaged, torn and foreign files: never a panic, a typed error or a partial trace, and whatever is read is true.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use std::path::Path;

use proptest::prelude::*;
use trackway_trace::check::{check_structure, Interpreter};
use trackway_trace::oracle::compare;
use trackway_trace::table::Table;
use trackway_trace::{Decoder, ImageCounters, NodeCounts, Program, Trace, TraceError};

const HEADER_LENGTH: usize = 32;

fn golden_bytes() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden-v2.trackway")).unwrap()
}

fn open(bytes: &[u8]) -> Result<Trace, TraceError> {
    Trace::from_bytes("damaged".as_ref(), bytes.to_vec())
}

/// Reads all that can be read, and counts the accesses and the errors on the way.
fn read_all(trace: &Trace) -> (u64, usize) {
    let mut accesses = 0;
    let mut errors = trace.damage().len() + check_structure(trace).len();
    let mut decoder = Decoder::new(trace);
    for chunk in trace.streams().iter().flat_map(|stream| &stream.chunks) {
        errors += usize::from(decode(&mut decoder, chunk, &mut accesses).is_err());
        match Interpreter::new(trace).run(chunk, &mut |_| {}) {
            Ok(violations) => errors += violations.len(),
            Err(_) => errors += 1,
        }
    }
    errors += usize::from(compare(trace).is_err());
    (accesses, errors)
}

fn decode(
    decoder: &mut Decoder<'_>,
    chunk: &trackway_trace::ChunkRef,
    accesses: &mut u64,
) -> Result<(), TraceError> {
    let mut batches = decoder.decode(chunk)?;
    while let Some(batch) = batches.next_batch()? {
        *accesses += batch.len() as u64;
    }
    Ok(())
}

#[test]
fn the_whole_golden_file_has_no_errors() {
    assert_eq!(read_all(&open(&golden_bytes()).unwrap()), (10, 0));
}

#[test]
fn a_file_cut_anywhere_keeps_what_stands_before_the_cut() {
    let bytes = golden_bytes();
    let whole = open(&bytes).unwrap();
    for length in 0..bytes.len() {
        let trace = match open(&bytes[..length]) {
            Ok(trace) => trace,
            Err(error) => {
                assert!(
                    length < HEADER_LENGTH && matches!(error, TraceError::NotATrace { .. }),
                    "{error}"
                );
                continue;
            }
        };
        let before_cut =
            |chunk: &&trackway_trace::ChunkRef| chunk.offset + chunk.header.chunk_length() <= length as u64;
        assert_eq!(
            trace.chunks().len(),
            whole.chunks().iter().filter(before_cut).count()
        );
        read_all(&trace);
    }
}

#[test]
fn a_torn_chunk_is_named_by_its_offset() {
    let bytes = golden_bytes();
    let last = *open(&bytes).unwrap().chunks().last().unwrap();
    let cut = last.offset as usize + 70;
    let trace = open(&bytes[..cut]).unwrap();
    assert_eq!(trace.damage().len(), 1);
    assert_eq!(trace.damage()[0].offset, last.offset);
    assert!(matches!(trace.damage()[0].error, TraceError::TornChunk { .. }));
    assert_eq!(read_all(&trace).0, 10);
}

#[test]
fn every_changed_byte_behind_the_header_is_noticed() {
    let bytes = golden_bytes();
    for position in HEADER_LENGTH..bytes.len() {
        for change in [0x01, 0xff] {
            let mut changed = bytes.clone();
            changed[position] ^= change;
            let (_, errors) = read_all(&open(&changed).unwrap());
            assert!(errors > 0, "byte {position}");
        }
    }
}

#[test]
fn foreign_and_newer_files_are_refused_by_name() {
    let mut newer = golden_bytes();
    newer[8] = 3;
    let error = open(&newer).unwrap_err();
    assert!(matches!(error, TraceError::NewerVersion { version: 3, .. }));
    assert!(error.to_string().contains("newer Trackway"));
    assert!(matches!(open(&[b'x'; 4096]), Err(TraceError::NotATrace { .. })));
    assert!(matches!(
        Trace::open("/dev/null".as_ref()),
        Err(TraceError::NotATrace { .. })
    ));
    assert!(matches!(
        Trace::open("/no/such/file".as_ref()),
        Err(TraceError::Io { .. })
    ));
}

#[test]
fn every_changed_byte_of_a_table_is_refused() {
    let table = testing::golden::table();
    let bytes = table.encode();
    let reserved = 12..16;
    for position in (0..bytes.len()).filter(|position| !reserved.contains(position)) {
        let mut changed = bytes.clone();
        changed[position] ^= 0x81;
        assert_ne!(
            Table::parse(&changed).ok().as_ref(),
            Some(&table),
            "byte {position}"
        );
    }
}

#[test]
fn a_section_holds_tables_with_zeros_between_them() {
    let table = testing::golden::table().encode();
    let section = [&[0; 8][..], &table, &[0; 24], &table, &[0; 5]].concat();
    let program = Program::from_tables(&section).unwrap();
    assert_eq!((program.modules.len(), program.sites.len()), (2, 10));
    let error = Program::from_tables(&section[..section.len() - 40]).unwrap_err();
    assert_eq!(error.position as usize, 8 + table.len() + 24 + 32);
}

/// Reads all nodes, and evaluates their counters.
fn read_counts(trace: &Trace) {
    let program = trace.program();
    for thread in trace.counting_threads() {
        for node in trace.read_nodes(thread).0 {
            for id in trace.counting_modules(node.process, node.image) {
                let module = program.module(id);
                let counters = module.variables_of(&node.counters);
                let blocks = &program.blocks[module.blocks.start as usize..module.blocks.end as usize];
                let sums = blocks.iter().map(|block| block.executions.value(&counters));
                sums.fold(0, u64::wrapping_add);
            }
        }
    }
}

proptest! {
    #[test]
    fn hostile_tables_that_count_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in 0..40usize,
        first in any::<u32>(),
        payload in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut bytes = testing::counts::table().encode();
        for (position, value) in changes {
            let at = position.index(bytes.len() - 32) + 32;
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        testing::file::repair_table(&mut bytes);
        if let Ok(table) = Table::parse(&bytes) {
            prop_assert_eq!(Table::parse(&table.encode()), Ok(table.clone()));
            let node = NodeCounts { image: 1, ..NodeCounts::from_bytes(&payload) };
            let mut file = testing::file::FileBytes::new(trackway_trace::Codec::None);
            file.counting_module(0, 1, &table, ImageCounters { image: 1, first }).node(0, 0, 7, &node);
            let trace = file.open();
            read_all(&trace);
            read_counts(&trace);
        }
    }

    /// With right checksums, hostile content reaches the parsers.
    #[test]
    fn hostile_table_bodies_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in 0..40usize,
    ) {
        let mut bytes = testing::golden::table().encode();
        for (position, value) in changes {
            let at = position.index(bytes.len() - 32) + 32;
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        testing::file::repair_table(&mut bytes);
        if let Ok(table) = Table::parse(&bytes) {
            prop_assert_eq!(Table::parse(&table.encode()), Ok(table.clone()));
            let mut file = testing::file::FileBytes::new(trackway_trace::Codec::None);
            file.module(0, 1, &table);
            file.records(0, 1, &[0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 9, 9, 9, 9, 9, 9, 9, 2, 3, 3, 3]);
            read_all(&file.open());
        }
    }
}
