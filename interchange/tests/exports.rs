//! Exports of imported traces: nothing is lost on the way out and in again, and damage ends in no panic.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trackway_interchange::export::{
    export, export_drmemtrace, Din, Executed, Format, Lackey, LibCacheSim, Lines, Walk,
};
use trackway_interchange::{import, ImportOptions};
use trackway_trace::{InstructionKind, Stream, Trace};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/drmemtrace")
        .join(name)
}

fn imported(from: &Path, to: &Path) -> Trace {
    let options = ImportOptions {
        traces: vec![from.to_path_buf()],
        output: to.to_path_buf(),
        force: true,
        modules: None,
    };
    import(&options).unwrap();
    Trace::open(to).unwrap()
}

/// Takes notice of everything.
#[derive(Default, PartialEq, Eq, Debug)]
struct All {
    executed: Vec<(u32, u64, u8, InstructionKind)>,
    accesses: Vec<(u64, u64, bool, bool, bool)>,
    times: Vec<u64>,
}

impl Format for All {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        let code = executed.code;
        let stream = executed.thread.stream;
        self.executed.push((stream, code.address, code.length, code.kind));
        let accesses = executed.accesses.iter();
        self.accesses.extend(accesses.map(|access| {
            let size = (access.size, access.reads, access.writes);
            (access.address, size.0, size.1, size.2, access.unknown_size)
        }));
        Ok(())
    }

    fn time(&mut self, ns: u64) -> io::Result<()> {
        self.times.push(ns);
        Ok(())
    }
}

fn go(trace: &Trace, stream: Option<&Stream>, format: &mut dyn Format) -> u32 {
    let mut damaged = 0;
    let walk = Walk {
        trace,
        stream,
        progress: &|_, _| (),
        damage: &mut |_| damaged += 1,
    };
    export(walk, format).unwrap();
    damaged
}

#[test]
fn a_trace_that_goes_out_and_in_again_is_the_same() {
    for name in ["lz4", "zip"] {
        let folder = tempfile::tempdir().unwrap();
        let before = imported(&fixture(name), &folder.path().join("before"));
        let exported = folder.path().join("exported");
        let summary = export_drmemtrace(&before, None, &exported, false, &|_, _| (), &mut |error| {
            panic!("{error}")
        });
        assert_eq!(summary.unwrap().files, 3);
        let after = imported(&exported, &folder.path().join("after"));
        for (one, other) in before.streams().iter().zip(after.streams()) {
            let (mut first, mut second) = (All::default(), All::default());
            assert_eq!(go(&before, Some(one), &mut first), 0);
            assert_eq!(go(&after, Some(other), &mut second), 0);
            assert!(first == second, "stream {}", one.id);
        }
        let (mut first, mut second) = (All::default(), All::default());
        go(&before, None, &mut first);
        go(&after, None, &mut second);
        assert_eq!(first.times, second.times);
        assert!(first == second);
    }
}

/// The merged order is one of whole threads.
#[test]
fn threads_stand_whole_in_the_merged_order() {
    let folder = tempfile::tempdir().unwrap();
    let trace = imported(&fixture("zip"), &folder.path().join("x"));
    let mut merged = All::default();
    go(&trace, None, &mut merged);
    for stream in trace.streams() {
        let mut alone = All::default();
        go(&trace, Some(stream), &mut alone);
        let of_stream = merged.executed.iter().filter(|(id, ..)| *id == stream.id);
        assert!(of_stream.eq(&alone.executed));
    }
}

#[test]
fn damage_ends_in_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    imported(&fixture("lz4").join("drmemtrace.fx.03781.1854.trace.lz4"), &path);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = 0;
    for step in 0..40 {
        let mut bytes = whole.clone();
        let position = 40 + step * (bytes.len() - 41) / 40;
        bytes[position] ^= 0x5a;
        let Ok(trace) = Trace::from_bytes(&path, bytes) else {
            continue;
        };
        let lines = Lines { bytes: Some(64) };
        let mut sink = io::sink();
        damaged += go(
            &trace,
            None,
            &mut Din {
                output: &mut sink,
                lines,
            },
        );
        for stream in trace.streams() {
            damaged += go(&trace, Some(stream), &mut Lackey { output: &mut sink });
        }
        let mut requests = LibCacheSim::new(tempfile::tempfile().unwrap(), lines);
        damaged += go(&trace, None, &mut requests);
        requests.finish().unwrap();
    }
    assert!(damaged > 0);
}

/// A failed write is an error, wherever it happens.
#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = imported(&fixture("zip"), &folder.path().join("x"));
    let walk = Walk {
        trace: &trace,
        stream: None,
        progress: &|_, _| (),
        damage: &mut |_| (),
    };
    let error = export(walk, &mut Lackey { output: Full }).unwrap_err();
    assert_eq!(error.to_string(), "full");
}
