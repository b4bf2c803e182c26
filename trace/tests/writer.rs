//! What the writer leaves on disk.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use trackway_trace::{ChunkFields, ChunkKind, Codec, EndInfo, OutputError, Trace, TraceError, TraceWriter};

/// Set in the process whose files may not grow beyond a limit.
const LIMITED_FILE: &str = "TRACKWAY_TEST_LIMITED_FILE";
const LIMIT_BYTES: u64 = 8 * 512;

fn records(sequence: u64) -> ChunkFields {
    ChunkFields {
        sequence,
        ..ChunkFields::new(ChunkKind::Records)
    }
}

fn payload(sequence: u64) -> Vec<u8> {
    (0..1000u64)
        .map(|index| (index * index + sequence * 7) as u8)
        .collect()
}

fn write(path: &Path, force: bool, codec: Codec) -> Result<(), TraceError> {
    let mut writer = TraceWriter::create(path, force, codec)?;
    for sequence in 0..5 {
        writer.write_chunk(&records(sequence), &payload(sequence))?;
    }
    writer.finish(&EndInfo {
        exit_status: Some(3),
        ..EndInfo::default()
    })
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
        let path = directory.path().join(format!("{codec:?}.trackway"));
        write(&path, false, codec).unwrap();
        let trace = Trace::open(&path).unwrap();
        assert!(trace.damage().is_empty());
        let end = trace.end().unwrap();
        assert_eq!((end.exit_status, end.chunks), (Some(3), 5));
        let mut bytes = Vec::new();
        for (sequence, chunk) in trace.streams()[0].chunks.iter().enumerate() {
            trace.read_payload(chunk, &mut bytes).unwrap();
            assert_eq!(bytes, payload(sequence as u64));
        }
        assert_eq!(trace.streams()[0].chunks.len(), 5);
    }
}

#[test]
fn only_the_owner_may_read_and_nothing_is_overwritten_unasked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.trackway");
    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(
        write(&path, false, Codec::Lz4),
        Err(TraceError::AlreadyExists { .. })
    ));
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    write(&path, true, Codec::Lz4).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let link = directory.path().join("link.trackway");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(
        write(&link, false, Codec::Lz4),
        Err(TraceError::Output(OutputError::Link { .. }))
    ));
    write(&link, true, Codec::Lz4).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Trace::open(&link).unwrap().end().is_some());
}

#[test]
fn devices_are_written_to() {
    write("/dev/null".as_ref(), false, Codec::Lz4).unwrap();
    let error = write("/dev/full".as_ref(), false, Codec::Lz4).unwrap_err();
    assert!(
        matches!(error, TraceError::WriteFailed { offset: 0, .. }),
        "{error}"
    );
}

/// Runs itself in a process whose files may not exceed the limit, to fill one up.
#[test]
fn a_full_disk_leaves_all_whole_chunks() {
    if let Some(path) = std::env::var_os(LIMITED_FILE).map(PathBuf::from) {
        return fill_up(&path);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("limited.trackway");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact a_full_disk_leaves_all_whole_chunks";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(LIMITED_FILE, &path)
        // Ours may be a file that is longer than the limit.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let trace = Trace::open(&path).unwrap();
    assert!(trace.damage().is_empty() && trace.end().is_none());
    assert_eq!(trace.streams()[0].chunks.len() as u64, (LIMIT_BYTES - 32) / 1064);
    assert_eq!(trace.file_length(), 32 + 3 * 1064);
}

fn fill_up(path: &Path) {
    let mut writer = TraceWriter::create(path, false, Codec::None).unwrap();
    let mut sequence = 0;
    let error = loop {
        match writer.write_chunk(&records(sequence), &payload(sequence)) {
            Ok(()) => sequence += 1,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, TraceError::WriteFailed { offset: 3224, .. }),
        "{error}"
    );
    assert!(matches!(
        writer.write_chunk(&records(9), b"more"),
        Err(TraceError::WriteFailed { .. })
    ));
    assert!(writer.finish(&EndInfo::default()).is_err());
}
