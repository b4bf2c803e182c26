use super::*;
use std::time::Duration;
use trackway_trace::{plain_chunk, Trace};

/// What a chunk of 1000 bytes takes.
const CHUNK: u64 = memory::HELD_COST + memory::BLOCK_COST;
/// The same of one that stays.
const LASTING: u64 = LASTING_COST + 1000;

fn sink(most_bytes: u64, longest: Option<Duration>) -> FlightSink {
    let limits = Flight {
        most_bytes,
        longest,
        slower_than: None,
    };
    FlightSink::new(limits, false, Codec::None, |_| ())
}

fn append(sink: &mut FlightSink, kind: ChunkKind, stream: u32, sequence: u64, last_ns: u64) {
    let fields = ChunkFields {
        stream,
        sequence,
        first_ns: last_ns,
        last_ns,
        ..ChunkFields::new(kind)
    };
    let bytes = vec![sequence as u8; 1000];
    sink.append(&plain_chunk(&fields, &bytes).unwrap()).unwrap();
}

fn request(path: &Path, end_ns: u64) -> SnapshotRequest {
    SnapshotRequest {
        path: path.to_path_buf(),
        cause: "control".into(),
        reason: "why".into(),
        begin_ns: 5,
        end_ns,
        exit_status: None,
        signal: Some(11),
    }
}

/// Kind, stream and sequence of the file's chunks.
fn chunks(path: &Path) -> Vec<(ChunkKind, u32, u64)> {
    let trace = Trace::open(path).unwrap();
    let of =
        |chunk: &trackway_trace::ChunkRef| (chunk.header.kind, chunk.header.stream, chunk.header.sequence);
    trace.chunks().iter().map(of).collect()
}

#[test]
fn a_copy_goes_when_the_whole_comes() {
    let mut sink = sink(100 * CHUNK, None);
    let fields = |stream, sequence, flags| ChunkFields {
        stream,
        sequence,
        flags,
        ..ChunkFields::new(ChunkKind::Records)
    };
    for (stream, sequence, flags) in [
        (0, 0, 0),
        (0, 1, FLAG_TAIL),
        (1, 0, FLAG_TAIL),
        (0, 1, FLAG_TAIL), // another snapshot
        (0, 1, 0),
        (0, 2, 0),
    ] {
        let chunk = plain_chunk(&fields(stream, sequence, flags), &[1; 1000]);
        sink.append(&chunk.unwrap()).unwrap();
    }
    let key = |held: &Arc<Held>| (held.header.stream, held.header.sequence, held.header.flags);
    let kept: Vec<_> = sink.newest.iter().map(key).collect();
    assert_eq!(kept, [(0, 0, 0), (1, 0, FLAG_TAIL), (0, 1, 0), (0, 2, 0)]);
    assert_eq!(
        (sink.newest_bytes, sink.memory.held_bytes()),
        (4 * CHUNK, 4 * CHUNK)
    );
}

#[test]
fn the_newest_stay_as_far_as_there_is_room() {
    let mut sink = sink(3 * CHUNK, None);
    for sequence in 0..10 {
        append(&mut sink, ChunkKind::Records, 0, sequence, 10 + sequence);
        assert!(sink.memory.held_bytes() <= 3 * CHUNK);
    }
    let kept: Vec<u64> = sink.newest.iter().map(|held| held.header.sequence).collect();
    assert_eq!(kept, [7, 8, 9]);
    assert_eq!(sink.let_go_ns, 16);
}

#[test]
fn what_all_records_need_counts_as_well() {
    let mut sink = sink(10 * CHUNK, None);
    for sequence in 0..20 {
        append(&mut sink, ChunkKind::Records, 0, sequence, 10 + sequence);
    }
    for sequence in 0..7 {
        append(&mut sink, ChunkKind::Module, 0, sequence, 0);
        append(&mut sink, ChunkKind::Records, 0, 20 + sequence, 30 + sequence);
        assert!(sink.lasting_bytes + sink.newest_bytes < 11 * CHUNK);
    }
    assert_eq!(
        sink.newest_bytes.div_ceil(CHUNK),
        (10 * CHUNK - 7 * LASTING).div_ceil(CHUNK)
    );
    // One stays, whatever there is.
    for sequence in 7..20 {
        append(&mut sink, ChunkKind::Module, 0, sequence, 0);
        append(&mut sink, ChunkKind::Records, 0, 20 + sequence, 30 + sequence);
    }
    assert_eq!(sink.newest.len(), 1);
}

#[test]
fn old_marks_go_with_the_records_around_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.trackway");
    let mut sink = sink(4 * CHUNK, None);
    for sequence in 0..10 {
        append(&mut sink, ChunkKind::Marks, 0, sequence, 0);
        append(&mut sink, ChunkKind::Records, 0, sequence, 10 + sequence);
    }
    assert_eq!(sink.let_go_ns, 17);
    sink.snapshot(request(&path, 100));
    sink.finish().unwrap();
    let expected = [
        (ChunkKind::Marks, 0, 0),
        (ChunkKind::Records, 0, 0),
        (ChunkKind::Marks, 0, 1),
        (ChunkKind::Records, 0, 1),
        (ChunkKind::Marks, 0, 2), // the snapshot's own
        (ChunkKind::End, 0, 0),
    ];
    assert_eq!(chunks(&path), expected);
}

#[test]
fn old_ones_go() {
    let mut sink = sink(1 << 30, Some(Duration::from_nanos(100)));
    for sequence in 0..10 {
        append(&mut sink, ChunkKind::Records, 0, sequence, 1000 + 50 * sequence);
    }
    let kept: Vec<u64> = sink.newest.iter().map(|held| held.header.sequence).collect();
    assert_eq!(kept, [7, 8, 9]);
    // Marks have no times of their own, and go with the records before them.
    append(&mut sink, ChunkKind::Marks, 0, 0, 0);
    append(&mut sink, ChunkKind::Records, 0, 10, 2000);
    assert_eq!(sink.newest.len(), 1);
}

#[test]
fn a_snapshot_has_what_its_records_need_and_numbers_them_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.trackway");
    let mut sink = sink(4 * CHUNK + 2 * LASTING, None); // with start and module
    append(&mut sink, ChunkKind::Start, 0, 0, 0);
    for sequence in 0..9 {
        append(
            &mut sink,
            ChunkKind::Records,
            (sequence % 2) as u32,
            sequence / 2,
            10 + sequence,
        );
    }
    append(&mut sink, ChunkKind::OracleSummary, 0, 0, 0);
    append(&mut sink, ChunkKind::Module, 0, 0, 0);
    sink.snapshot(request(&path, 100));
    let length = sink.finish().unwrap();
    assert_eq!(length, std::fs::metadata(&path).unwrap().len());
    let expected = [
        (ChunkKind::Start, 0, 0),
        (ChunkKind::Module, 0, 0),
        (ChunkKind::Records, 1, 0),
        (ChunkKind::Records, 0, 0),
        (ChunkKind::Records, 1, 1),
        (ChunkKind::Records, 0, 1),
        (ChunkKind::Marks, 0, 0),
        (ChunkKind::End, 0, 0),
    ];
    assert_eq!(chunks(&path), expected);
    let [snapshot] = &sink.board.done()[..] else {
        panic!("one was written");
    };
    // The last record that was let go ended at 14.
    assert_eq!((snapshot.covered_ns, &snapshot.written), (86, &Ok(length)));
}

#[test]
fn what_is_written_is_kept_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [1, 2].map(|number| numbered(&folder.path().join("s.trackway"), number));
    let mut sink = sink(4 * CHUNK, None);
    for sequence in 0..20 {
        append(&mut sink, ChunkKind::Records, 0, sequence, 10 + sequence);
    }
    for path in &paths {
        sink.snapshot(request(path, 100));
    }
    sink.finish().unwrap();
    assert_eq!(chunks(&paths[0]), chunks(&paths[1]));
    assert_eq!(sink.memory.held_bytes(), 4 * CHUNK);
}

#[test]
fn memory_is_limited_while_a_snapshot_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = sink(8 * CHUNK, None);
    for sequence in 0..1000 {
        append(&mut sink, ChunkKind::Records, 0, sequence, 10 + sequence);
        if sequence % 100 == 99 {
            sink.snapshot(request(
                &numbered(&folder.path().join("s"), sequence as u32),
                10 + sequence,
            ));
        }
        assert!(sink.memory.held_bytes() <= 9 * CHUNK);
    }
    sink.finish().unwrap();
    assert_eq!(sink.board.done().len(), 10);
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let mut sink = sink(1 << 20, None);
    append(&mut sink, ChunkKind::Records, 0, 0, 10);
    sink.snapshot(request(Path::new("/proc/self/s.trackway"), 100));
    assert_eq!(sink.finish().unwrap(), 0);
    let done = sink.board.done();
    assert!(done[0]
        .written
        .as_ref()
        .unwrap_err()
        .contains("/proc/self/s.trackway"));
    assert!(!sink.board.is_writing());
}

#[test]
fn names() {
    assert_eq!(
        numbered(Path::new("a/b.trackway"), 3),
        Path::new("a/b-3.trackway")
    );
    assert_eq!(numbered(Path::new("b"), 1), Path::new("b-1"));
}
