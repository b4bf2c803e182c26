//! The collector against a sender that is written after docs/streaming.md alone, and against strangers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use trackway_recorder::{
    collect, Address, CollectError, CollectEvent, CollectOptions, CollectOutput, CollectSummary,
};
use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{ChunkFields, ChunkHeader, ChunkKind, Codec, Trace};
use xxhash_rust::xxh3::xxh3_64;

const FILE_HEADER: usize = 32;
const POSITION: u16 = 1;
const REFUSAL: u16 = 2;

/// The golden trace up to its end chunk, and the offsets after each of its pieces.
struct Golden {
    bytes: Vec<u8>,
    identity: [u8; 16],
    ends: Vec<u64>,
}

fn golden() -> Golden {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../trace/vectors/golden-v2.trackway");
    let trace = Trace::open(&path).unwrap();
    let ends = trace
        .chunks()
        .iter()
        .map(|chunk| chunk.offset + chunk.header.chunk_length());
    let ends: Vec<u64> = [FILE_HEADER as u64].into_iter().chain(ends).collect();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(*ends.last().unwrap() as usize);
    Golden {
        bytes,
        identity: trace.identity(),
        ends,
    }
}

struct Collector {
    port: u16,
    thread: JoinHandle<Result<CollectSummary, CollectError>>,
}

/// Takes one trace into the folder.
fn start(folder: &Path) -> Collector {
    let options = CollectOptions {
        listen: "tcp://127.0.0.1:0".parse().unwrap(),
        allow_remote: false,
        output: CollectOutput::Folder(folder.to_path_buf()),
        feed: None,
        count: Some(1),
        sync: false,
    };
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        collect(&options, &|event| {
            if let CollectEvent::Listening {
                address: Address::Tcp { port, .. },
            } = event
            {
                tell.send(*port).unwrap();
            }
        })
    });
    Collector {
        port: told.recv().unwrap(),
        thread,
    }
}

impl Collector {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    fn greet(&self, identity: [u8; 16], first: u64) -> TcpStream {
        let mut connection = self.connect();
        connection.write_all(&hello(1, identity, first, "list")).unwrap();
        connection
    }

    fn deliver(self, golden: &Golden) -> CollectSummary {
        let mut connection = self.greet(golden.identity, 0);
        let (kind, position, _) = reply(&mut connection);
        assert_eq!(kind, POSITION);
        connection.write_all(&golden.bytes[position as usize..]).unwrap();
        while reply(&mut connection).1 < golden.bytes.len() as u64 {}
        connection.write_all(b"TWFAREWL").unwrap();
        self.thread.join().unwrap().unwrap()
    }
}

fn hello(version: u16, identity: [u8; 16], first: u64, name: &str) -> Vec<u8> {
    let mut bytes = b"TWSTREAM".to_vec();
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&identity);
    bytes.extend_from_slice(&first.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Kind, position and text of the next reply.
fn reply(connection: &mut TcpStream) -> (u16, u64, String) {
    let mut bytes = vec![0; 16];
    connection.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes[..4], *b"TWRP");
    let length = u16::from_le_bytes([bytes[6], bytes[7]]) as usize;
    bytes.resize(16 + length + 8, 0);
    connection.read_exact(&mut bytes[16..]).unwrap();
    let (message, checksum) = bytes.split_at(16 + length);
    assert_eq!(xxh3_64(message).to_le_bytes(), *checksum);
    (
        u16::from_le_bytes([bytes[4], bytes[5]]),
        u64::from_le_bytes(bytes[8..16].try_into().unwrap()),
        String::from_utf8(message[16..].to_vec()).unwrap(),
    )
}

fn is_closed(connection: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    connection.read_to_end(&mut rest).is_err() || rest.is_empty()
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

fn check(folder: &Path, golden: &Golden) {
    let file = only_file(folder);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("list-") && name.ends_with(".trackway"), "{name}");
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(bytes[..golden.bytes.len()], golden.bytes);
    let trace = Trace::open(&file).unwrap();
    assert!(trace.damage().is_empty() && trace.end().is_some());
}

#[test]
fn a_connection_may_be_cut_anywhere() {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    let collector = start(folder.path());
    for cut in (0..golden.bytes.len()).step_by(97) {
        let mut connection = collector.greet(golden.identity, 0);
        let (kind, position, _) = reply(&mut connection);
        assert_eq!(kind, POSITION);
        // All but the header alone is kept as long as the collector lives.
        let kept = golden
            .ends
            .iter()
            .rfind(|end| **end <= cut.saturating_sub(97) as u64);
        assert!(
            position == 0 || Some(&position) == kept,
            "{position} before {cut}"
        );
        if position as usize >= cut {
            continue;
        }
        connection
            .write_all(&golden.bytes[position as usize..cut])
            .unwrap();
        let last = golden.ends.iter().rfind(|end| **end <= cut as u64);
        let mut acknowledged = position;
        while acknowledged < *last.unwrap_or(&0) && *last.unwrap() > FILE_HEADER as u64 {
            acknowledged = reply(&mut connection).1;
        }
    }
    assert_eq!(collector.deliver(&golden).complete, 1);
    check(folder.path(), &golden);
}

#[test]
fn a_new_connection_for_a_trace_replaces_the_old_one() {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    let collector = start(folder.path());
    let mut old = collector.greet(golden.identity, 0);
    assert_eq!(reply(&mut old).1, 0);
    let second = golden.ends[1] as usize;
    old.write_all(&golden.bytes[..second]).unwrap();
    assert_eq!(reply(&mut old).1, golden.ends[1]);
    let mut new = collector.greet(golden.identity, golden.ends[1]);
    assert_eq!(reply(&mut new).1, golden.ends[1]);
    assert!(is_closed(&mut old));
    drop(new);
    collector.deliver(&golden);
    check(folder.path(), &golden);
}

#[test]
fn refusals_say_why() {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    let collector = start(folder.path());
    let mut newer = collector.connect();
    newer.write_all(&hello(2, golden.identity, 0, "list")).unwrap();
    let (kind, _, text) = reply(&mut newer);
    assert_eq!(kind, REFUSAL);
    assert!(text.contains("version 2"), "{text}");

    let mut forgetful = collector.greet(golden.identity, 500);
    let (kind, _, text) = reply(&mut forgetful);
    assert_eq!(kind, REFUSAL);
    assert!(text.contains("only 0 bytes"), "{text}");

    let mut liar = collector.greet([1; 16], 0);
    assert_eq!(reply(&mut liar).0, POSITION);
    liar.write_all(&golden.bytes).unwrap();
    let (kind, _, text) = reply(&mut liar);
    assert_eq!(kind, REFUSAL);
    assert!(text.contains("identity"), "{text}");

    collector.deliver(&golden);
    check(folder.path(), &golden);
}

#[test]
fn chunks_that_break_a_rule_end_only_their_connection() {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    let collector = start(folder.path());
    let header = |kind, stored: &[u8]| ChunkHeader::new(&ChunkFields::new(kind), Codec::None, 0, stored);
    let endless = ChunkHeader {
        stored_length: u32::MAX,
        ..header(ChunkKind::Records, b"")
    };
    let damaged = ChunkHeader {
        stored_length: 4,
        ..header(ChunkKind::Records, b"abcd")
    };
    let index = header(ChunkKind::Index, b"");
    for (bad, payload) in [(endless, &b""[..]), (damaged, b"abce"), (index, b"")] {
        let mut connection = collector.greet(golden.identity, 0);
        assert_eq!(reply(&mut connection).1, 0);
        connection.write_all(&golden.bytes[..FILE_HEADER]).unwrap();
        connection.write_all(&bad.to_bytes()).unwrap();
        connection.write_all(payload).unwrap();
        assert!(is_closed(&mut connection));
    }
    let mut torn = collector.greet(golden.identity, 0);
    reply(&mut torn);
    torn.write_all(&golden.bytes[..FILE_HEADER + HEADER_LENGTH + 3])
        .unwrap();
    drop(torn);
    collector.deliver(&golden);
    check(folder.path(), &golden);
}
