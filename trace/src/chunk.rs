//! Chunk headers (`docs/format.md`, section 1.2).
//!
//! ```text
//!  0 magic u32 | 4 kind u8 | 5 codec u8 | 6 flags u16 | 8 process u32 | 12 stream u32
//! 16 sequence u64 | 24 first_ns u64 | 32 last_ns u64 | 40 raw_length u32 | 44 stored_length u32
//! 48 payload_checksum u64 | 56 header_checksum u64
//! ```

use xxhash_rust::xxh3::{xxh3_64, Xxh3};

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::columns::has_compressed_columns;
use crate::table_enum::open_enum;

/// Bytes of a chunk header.
pub const HEADER_LENGTH: usize = 64;
/// The bytes `TWCK`.
pub const CHUNK_MAGIC: u32 = 0x4B43_5754;
/// Flag: the buffer was swept after the thread could no longer hand it over.
pub const FLAG_TAIL: u16 = 1;
/// Flag: the last chunk of its module or thread.
pub const FLAG_LAST: u16 = 2;

open_enum! {
    /// What a chunk's payload holds.
    ChunkKind: u8 {
        /// JSON, see [`crate::StartInfo`].
        Start = 1,
        /// A module's table and the run-time addresses of its symbols.
        Module = 2,
        /// A record stream.
        Records = 3,
        /// Number and hash of each stream's accesses, by the oracle.
        OracleSummary = 4,
        /// The oracle's accesses themselves.
        OracleRecords = 5,
        /// Records are missing here.
        Gap = 6,
        /// JSON, see [`crate::ProcessInfo`].
        Process = 7,
        /// JSON, see [`crate::EndInfo`].
        End = 8,
        /// Where the other chunks are.
        Index = 9,
        /// What a thread counted in one region.
        Counts = 10,
        /// What machine code is called in the source.
        Names = 12,
        /// What a thread's calls of allocators did.
        Allocations = 13,
        /// What was sampled of the program's instructions.
        Samples = 14,
        /// What processes had mapped where.
        Mappings = 15,
        /// When recording was on, and marks: JSON, a list of [`crate::MarkInfo`].
        Marks = 16,
        /// An address in the stack on which each stream began, see [`crate::encode_stacks`].
        Stacks = 17,
    }
}

open_enum! {
    /// How a chunk's payload is compressed.
    Codec: u8 {
        None = 0,
        /// One LZ4 block without a frame.
        Lz4 = 1,
        /// One Zstandard frame.
        Zstd = 2,
        /// Records split into columns.
        Columns = 3,
    }
}

/// What the writer of a chunk states; lengths and checksums follow from the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkFields {
    pub kind: ChunkKind,
    /// [`FLAG_TAIL`] and [`FLAG_LAST`].
    pub flags: u16,
    /// Number of the process in the trace.
    pub process: u32,
    /// Number of the stream in the trace.
    pub stream: u32,
    /// Position in the stream and kind, or in the kind, from 0 without holes.
    pub sequence: u64,
    /// CLOCK_MONOTONIC nanoseconds; 0 if unknown.
    pub first_ns: u64,
    /// CLOCK_MONOTONIC nanoseconds; 0 if unknown.
    pub last_ns: u64,
}

impl ChunkFields {
    /// Fields of a chunk that belongs to no process, stream or time.
    pub fn new(kind: ChunkKind) -> Self {
        ChunkFields {
            kind,
            flags: 0,
            process: 0,
            stream: 0,
            sequence: 0,
            first_ns: 0,
            last_ns: 0,
        }
    }
}

/// A chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    pub kind: ChunkKind,
    pub codec: Codec,
    pub flags: u16,
    pub process: u32,
    pub stream: u32,
    pub sequence: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// Bytes of the payload after decompression.
    pub raw_length: u32,
    /// Bytes of the payload in the file.
    pub stored_length: u32,
    /// XXH3-64 of the stored payload.
    pub payload_checksum: u64,
}

/// A chunk as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'c> {
    pub header: ChunkHeader,
    /// The stored payload.
    pub stored: &'c [u8],
}

impl Chunk<'_> {
    /// Header and stored payload.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.header.to_bytes(), self.stored].concat()
    }

    /// Whether its payload was split into columns of which any is compressed.
    pub fn has_compressed_columns(&self) -> bool {
        self.header.codec == Codec::Columns && has_compressed_columns(self.stored)
    }
}

/// Why 64 bytes are not a chunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderProblem {
    Magic,
    Checksum,
}

/// Bytes that are prefetched while the bytes before them are hashed.
const FETCHED: usize = 4096;

/// XXH3-64. Another processor has mostly written the bytes, so each line comes from that processor's caches. Hashing
/// alone has few lines in flight at a time.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    let mut parts = bytes.chunks(FETCHED).peekable();
    while let Some(part) = parts.next() {
        if let Some(next) = parts.peek() {
            fetch(next);
        }
        hash.update(part);
    }
    hash.digest()
}

#[cfg(target_arch = "x86_64")]
fn fetch(bytes: &[u8]) {
    use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
    for line in bytes.chunks(64) {
        // SAFETY: a hint, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fetch(_: &[u8]) {}

impl ChunkHeader {
    /// Header of a chunk whose stored payload is `stored`.
    pub fn new(fields: &ChunkFields, codec: Codec, raw_length: u32, stored: &[u8]) -> Self {
        ChunkHeader {
            kind: fields.kind,
            codec,
            flags: fields.flags,
            process: fields.process,
            stream: fields.stream,
            sequence: fields.sequence,
            first_ns: fields.first_ns,
            last_ns: fields.last_ns,
            raw_length,
            stored_length: stored.len() as u32,
            payload_checksum: checksum(stored),
        }
    }

    /// Whether the buffer was swept from a thread that could no longer hand it over.
    pub fn is_tail(&self) -> bool {
        self.flags & FLAG_TAIL != 0
    }

    /// Bytes of the whole chunk in the file.
    pub fn chunk_length(&self) -> u64 {
        HEADER_LENGTH as u64 + u64::from(self.stored_length)
    }

    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        bytes[0..4].copy_from_slice(&CHUNK_MAGIC.to_le_bytes());
        bytes[4] = self.kind.into();
        bytes[5] = self.codec.into();
        bytes[6..8].copy_from_slice(&self.flags.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.process.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.stream.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.first_ns.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.last_ns.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.raw_length.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.stored_length.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.payload_checksum.to_le_bytes());
        let checksum = xxh3_64(&bytes[..56]);
        bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8; HEADER_LENGTH]) -> Result<Self, HeaderProblem> {
        if u32_at(bytes, 0) != CHUNK_MAGIC {
            return Err(HeaderProblem::Magic);
        }
        if u64_at(bytes, 56) != xxh3_64(&bytes[..56]) {
            return Err(HeaderProblem::Checksum);
        }
        Ok(ChunkHeader {
            kind: bytes[4].into(),
            codec: bytes[5].into(),
            flags: u16_at(bytes, 6),
            process: u32_at(bytes, 8),
            stream: u32_at(bytes, 12),
            sequence: u64_at(bytes, 16),
            first_ns: u64_at(bytes, 24),
            last_ns: u64_at(bytes, 32),
            raw_length: u32_at(bytes, 40),
            stored_length: u32_at(bytes, 44),
            payload_checksum: u64_at(bytes, 48),
        })
    }
}

/// A chunk of a file: its header and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    pub header: ChunkHeader,
    /// Offset of the header in the file, bytes.
    pub offset: u64,
}

impl ChunkRef {
    /// Bytes of the payloads of these chunks.
    pub fn raw_bytes<'c>(chunks: impl IntoIterator<Item = &'c ChunkRef>) -> u64 {
        chunks
            .into_iter()
            .map(|chunk| u64::from(chunk.header.raw_length))
            .sum()
    }

    /// Bytes that they take in the file.
    pub fn stored_bytes<'c>(chunks: impl IntoIterator<Item = &'c ChunkRef>) -> u64 {
        chunks
            .into_iter()
            .map(|chunk| u64::from(chunk.header.stored_length))
            .sum()
    }
}
