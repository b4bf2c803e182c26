//! Marks in a trace's file.

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

use testing::file::FileBytes;
use trackway_trace::{
    encode_marks, ChunkFields, ChunkKind, Codec, GrowingTrace, MarkInfo, MarkKind, StartInfo, Trace,
};

fn marks() -> [MarkInfo; 3] {
    let mark = |ns, kind, window| MarkInfo {
        ns,
        kind,
        window,
        cause: "program".into(),
        ..MarkInfo::default()
    };
    [
        mark(900, MarkKind::Opens, Some(2)),
        mark(600, MarkKind::Opens, Some(1)),
        mark(700, MarkKind::Closes, Some(1)),
    ]
}

fn fields(kind: ChunkKind, sequence: u64) -> ChunkFields {
    ChunkFields {
        sequence,
        ..ChunkFields::new(kind)
    }
}

fn file() -> FileBytes {
    let start = StartInfo {
        start_monotonic_ns: 500,
        ..StartInfo::default()
    };
    let mut file = FileBytes::new(Codec::Lz4);
    let json = serde_json::to_vec(&start).unwrap();
    file.chunk(&fields(ChunkKind::Start, 0), &json);
    file
}

fn windows(trace: &Trace) -> Vec<(u64, u64, u64)> {
    let windows = trace.windows();
    let bounds = windows
        .iter()
        .map(|window| (window.number, window.begin_ns, window.end_ns));
    bounds.collect()
}

#[test]
fn a_trace_has_the_marks_and_windows_of_all_its_chunks() {
    let [second, first, closing] = marks();
    let mut file = file();
    file.chunk(&fields(ChunkKind::Marks, 0), &encode_marks(&[second]))
        .chunk(&fields(ChunkKind::Marks, 1), &encode_marks(&[first, closing]))
        .records(0, 0, &[]);
    let trace = file.open();
    assert!(trace.damage().is_empty(), "{:?}", trace.damage());
    assert_eq!(trace.span_ns(), (500, 1009));
    let times: Vec<_> = trace.marks().iter().map(|mark| mark.ns).collect();
    assert_eq!(times, [600, 700, 900]);
    assert_eq!(windows(&trace), [(1, 600, 700), (2, 900, 1009)]);
}

#[test]
fn a_trace_without_marks_has_no_windows() {
    let trace = file().open();
    assert!(trace.marks().is_empty() && trace.windows().is_empty());
}

#[test]
fn a_growing_trace_has_the_marks_so_far() {
    let whole = file()
        .chunk(&fields(ChunkKind::Marks, 0), &encode_marks(&marks()))
        .open();
    let bytes = file()
        .chunk(&fields(ChunkKind::Marks, 0), &encode_marks(&marks()))
        .bytes
        .clone();
    let mut growing = GrowingTrace::new("memory".as_ref());
    for chunk in whole.chunks() {
        let begin = chunk.offset as usize;
        let end = begin + chunk.header.chunk_length() as usize;
        growing.push(&chunk.header, &bytes[begin..end]);
    }
    assert_eq!(growing.trace().marks(), whole.marks());
    assert_eq!(windows(growing.trace()), [(1, 600, 700), (2, 900, 900)]);
}

#[test]
fn marks_that_cannot_be_read_are_damage_and_nothing_else() {
    let [second, ..] = marks();
    let trace = file()
        .chunk(&fields(ChunkKind::Marks, 0), b"[{\"ns\":\"soon\"}]")
        .chunk(
            &fields(ChunkKind::Marks, 1),
            &encode_marks(std::slice::from_ref(&second)),
        )
        .open();
    assert_eq!(trace.damage().len(), 1);
    assert_eq!(trace.marks(), [second]);
}

/// A payload of many megabytes, of which LZ4 leaves little.
#[test]
fn more_marks_than_a_trace_may_have_are_damage() {
    let many = format!("[{}{{}}]", "{},".repeat((2 << 20) + 10));
    let trace = file().chunk(&fields(ChunkKind::Marks, 0), many.as_bytes()).open();
    assert_eq!(trace.damage().len(), 1);
    assert_eq!(trace.marks().len(), 2 << 20);
}
