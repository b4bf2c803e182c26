//! What options change.

use trackway_recorder::{record, Compression, Output, RecordError, RecordOptions, WhenFull};
use trackway_trace::{Codec, GapReason, Trace};

use crate::support::*;

#[test]
fn every_compression_and_several_workers() {
    for (compression, codecs) in [
        (Compression::None, &[Codec::None][..]),
        (Compression::Lz4, &[Codec::Lz4]),
        (Compression::Zstd, &[Codec::Zstd]),
        (Compression::Columns, &[Codec::Columns, Codec::Lz4]),
    ] {
        let recorded = record_player(&["count", "30000"], |options| {
            options.compression = compression;
            options.buffer_size = SMALL_BUFFER;
            options.workers = 3;
        });
        assert_eq!(all_addresses(&recorded.trace), [run(1, 30_000)]);
        let chunks = &recorded.trace.streams()[0].chunks;
        assert!(chunks.iter().all(|chunk| codecs.contains(&chunk.header.codec)));
        assert!(chunks.iter().any(|chunk| chunk.header.codec == codecs[0]));
    }
}

#[test]
fn a_small_ring_makes_the_program_wait() {
    let recorded = record_player(&["threads", "20000"], |options| {
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let expected: Vec<_> = (1..=8).map(|thread| run(thread << 32, 20_000)).collect();
    assert_eq!(all_addresses(&recorded.trace), expected);
    check_oracle(&recorded.trace);
    assert!(recorded.trace.gaps().is_empty());
}

#[test]
fn more_threads_than_full_buffers() {
    let recorded = record_player(&["many-threads", "10"], |options| {
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let expected: Vec<_> = (1..=200).map(|thread| run(thread << 32, 11)).collect();
    assert_eq!(all_addresses(&recorded.trace), expected);
    check_oracle(&recorded.trace);
}

#[test]
fn dropped_buffers_leave_gaps() {
    let recorded = record_player(&["count", "2000000"], |options| {
        options.when_full = WhenFull::Drop;
        options.buffer_size = SMALL_BUFFER;
        options.buffer_count = 2;
    });
    let gaps = recorded.trace.gaps();
    assert!(recorded.summary.dropped_buffers > 0);
    assert_eq!(
        gaps.iter().map(|gap| gap.dropped_buffers).sum::<u64>(),
        recorded.summary.dropped_buffers
    );
    assert!(gaps
        .iter()
        .all(|gap| gap.reason == GapReason::RingFull && gap.stream == 0));
    check_that_accesses_are_missing_only_at_gaps(&recorded.trace);
}

/// Addresses grow by 1 from access to access.
fn check_that_accesses_are_missing_only_at_gaps(trace: &Trace) {
    let mut next = 1;
    for chunk in &trace.streams()[0].chunks {
        let addresses = chunk_addresses(trace, chunk);
        let has_gap = trace
            .gaps()
            .iter()
            .any(|gap| gap.before_sequence == chunk.header.sequence);
        assert_eq!(addresses[0] != next, has_gap, "chunk {}", chunk.header.sequence);
        assert_eq!(addresses, run(addresses[0], addresses.len() as u64));
        next = addresses[0] + addresses.len() as u64;
    }
}

#[test]
fn the_oracle_dumps_its_records() {
    let recorded = record_player(&["threads", "3000"], |options| {
        options.dump_oracle = true;
        options.buffer_size = SMALL_BUFFER;
    });
    for stream in recorded.trace.streams() {
        let mut payload = Vec::new();
        let mut dumped = Vec::new();
        for chunk in &stream.oracle_chunks {
            recorded.trace.read_payload(chunk, &mut payload).unwrap();
            dumped.extend_from_slice(&payload);
        }
        let addresses = dumped
            .chunks_exact(32)
            .map(|entry| u64::from_le_bytes(entry[16..24].try_into().unwrap()));
        assert_eq!(
            addresses.collect::<Vec<_>>(),
            stream_addresses(&recorded.trace, stream.id)
        );
        let (what, size) = (&dumped[8..16], &dumped[24..32]);
        assert_eq!(
            (what, size),
            (
                &[0, 0, 0, 0, 0, STORE as u8, 0, 0][..],
                &[8, 0, 0, 0, 0, 0, 0, 0][..]
            )
        );
    }
}

#[test]
fn a_discarded_recording_still_counts() {
    let summary = record(options(Output::Discard, &["count", "100000"])).unwrap();
    assert_eq!((summary.raw_bytes / 12, summary.stored_bytes), (99_999, 0));
}

#[test]
fn a_program_that_cannot_be_started_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.trackway");
    let output = || Output::File {
        path: path.clone(),
        force: false,
    };
    let missing = record(RecordOptions::new("/nowhere/at-all", output())).unwrap_err();
    assert!(matches!(missing, RecordError::ProgramNotFound { .. }));
    let not_executable = record(RecordOptions::new("/etc/passwd", output())).unwrap_err();
    assert!(matches!(not_executable, RecordError::Start { .. }));
    assert!(!path.exists());
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    std::fs::write(&path, "precious").unwrap();
    let attempt = |force| {
        record(options(
            Output::File {
                path: path.clone(),
                force,
            },
            &["count"],
        ))
    };
    assert!(matches!(attempt(false), Err(RecordError::OutputExists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    attempt(true).unwrap();
    assert_eq!(all_addresses(&open(&path)), [run(1, 1000)]);
}

#[test]
fn impossible_options_are_refused() {
    let attempt = |adjust: fn(&mut RecordOptions)| {
        let mut options = options(Output::Discard, &["count"]);
        adjust(&mut options);
        record(options).unwrap_err().to_string()
    };
    assert!(attempt(|options| options.buffer_size = 5000).contains("buffer size is 5000"));
    assert!(attempt(|options| options.buffer_count = 1).contains("number of buffers is 1"));
    assert!(attempt(|options| options.workers = 0).contains("number of workers is 0"));
}
