//! Continues traces that were cut anywhere.

use std::path::Path;

use trackway_trace::{
    ChunkFields, ChunkKind, Codec, EndInfo, Resumption, Trace, TraceError, TraceWriter, FILE_HEADER_LENGTH,
};

const CHUNKS: u64 = 3;

fn payload(sequence: u64) -> Vec<u8> {
    vec![sequence as u8; 90]
}

fn write_from(mut writer: TraceWriter) {
    for sequence in writer.chunk_count()..CHUNKS {
        let fields = ChunkFields {
            sequence,
            ..ChunkFields::new(ChunkKind::Records)
        };
        writer.write_chunk(&fields, &payload(sequence)).unwrap();
    }
    writer.finish(&EndInfo::default()).unwrap();
}

fn whole_trace(path: &Path) -> Vec<u8> {
    write_from(TraceWriter::create_identified(path, false, Codec::None, [7; 16]).unwrap());
    std::fs::read(path).unwrap()
}

#[test]
fn a_trace_cut_anywhere_is_continued_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let whole = whole_trace(&path);
    for length in FILE_HEADER_LENGTH..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (resumption, identity) = TraceWriter::resume(&path, Codec::None).unwrap();
        assert_eq!(identity, [7; 16]);
        let Resumption::Unfinished(writer) = resumption else {
            panic!("finished at {length}");
        };
        assert!(writer.bytes_written() <= length as u64);
        match writer.has_end() {
            true => writer.close().unwrap(),
            false => write_from(*writer),
        }
        assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {length}");
    }
}

#[test]
fn a_damaged_chunk_is_cut_off_with_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let mut whole = whole_trace(&path);
    let second = Trace::open(&path).unwrap().chunks()[1].offset;
    let trailer = whole.len() - 24;
    whole.truncate(trailer);
    whole[second as usize + 64] ^= 1;
    std::fs::write(&path, whole).unwrap();
    let (resumption, _) = TraceWriter::resume(&path, Codec::None).unwrap();
    let Resumption::Unfinished(writer) = resumption else {
        panic!("finished");
    };
    assert_eq!((writer.bytes_written(), writer.chunk_count()), (second, 1));
}

#[test]
fn a_whole_trace_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let whole = whole_trace(&path);
    let index = {
        let trace = Trace::open(&path).unwrap();
        let last = trace.chunks().last().unwrap();
        last.offset + last.header.chunk_length()
    };
    let (resumption, _) = TraceWriter::resume(&path, Codec::None).unwrap();
    assert!(matches!(resumption, Resumption::Finished { end } if end == index));
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

#[test]
fn only_traces_are_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    for content in [&b""[..], b"TRACKWAY", &[0; 100]] {
        std::fs::write(&path, content).unwrap();
        let refused = TraceWriter::resume(&path, Codec::None);
        assert!(matches!(refused, Err(TraceError::NotATrace { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
    assert!(TraceWriter::resume(folder.path(), Codec::None).is_err());
}
