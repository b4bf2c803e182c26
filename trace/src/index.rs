//! The file's frame: header, index and trailer (`docs/format.md`, sections 1.1 and 1.4), and the scan that replaces a
//! missing index.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::chunk::{HeaderProblem, HEADER_LENGTH};
use crate::columns::ColumnReader;
use crate::payload::{decompress, MAX_RAW_LENGTH};
use crate::{ChunkHeader, ChunkKind, ChunkRef, TraceError, FORMAT_VERSION};

/// Bytes of a file's header.
pub const FILE_HEADER_LENGTH: usize = 32;
pub(crate) const TRAILER_LENGTH: usize = 24;
const FILE_MAGIC: &[u8; 8] = b"TRACKWAY";
const TRAILER_MAGIC: &[u8; 8] = b"YAWKCART";
const INDEX_ENTRY_LENGTH: usize = HEADER_LENGTH + 8;

/// The header of the file of a trace.
pub fn file_header(identity: [u8; 16]) -> [u8; FILE_HEADER_LENGTH] {
    let mut header = [0; FILE_HEADER_LENGTH];
    header[0..8].copy_from_slice(FILE_MAGIC);
    header[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(FILE_HEADER_LENGTH as u32).to_le_bytes());
    header[16..32].copy_from_slice(&identity);
    header
}

/// Payload of the index chunk; none if there are too many chunks for one.
pub(crate) fn index_payload(chunks: &[ChunkRef]) -> Option<Vec<u8>> {
    if chunks.len() > MAX_RAW_LENGTH as usize / INDEX_ENTRY_LENGTH {
        return None;
    }
    let mut payload = Vec::with_capacity(chunks.len() * INDEX_ENTRY_LENGTH);
    for chunk in chunks {
        payload.extend_from_slice(&chunk.header.to_bytes());
        payload.extend_from_slice(&chunk.offset.to_le_bytes());
    }
    Some(payload)
}

pub(crate) fn trailer(index_offset: u64) -> [u8; TRAILER_LENGTH] {
    let mut trailer = [0; TRAILER_LENGTH];
    let offset = index_offset.to_le_bytes();
    trailer[0..8].copy_from_slice(&offset);
    trailer[8..16].copy_from_slice(&xxh3_64(&offset).to_le_bytes());
    trailer[16..24].copy_from_slice(TRAILER_MAGIC);
    trailer
}

/// The trace's identity, if the file starts as a trace that this version reads.
pub fn check_file_header(file: &Path, bytes: &[u8]) -> Result<[u8; 16], TraceError> {
    let not_a_trace = |what| TraceError::NotATrace {
        file: file.to_path_buf(),
        what,
    };
    if bytes.len() < FILE_HEADER_LENGTH {
        return Err(not_a_trace("it is shorter than a trace's header"));
    }
    if bytes[..8] != *FILE_MAGIC {
        return Err(not_a_trace("it does not start with TRACKWAY"));
    }
    match u16_at(bytes, 8) {
        0 => return Err(not_a_trace("its version is 0")),
        1..=FORMAT_VERSION => {}
        version => {
            return Err(TraceError::NewerVersion {
                file: file.to_path_buf(),
                version,
            })
        }
    }
    if u32_at(bytes, 12) != FILE_HEADER_LENGTH as u32 {
        return Err(not_a_trace("its header's length is wrong"));
    }
    let mut identity = [0; 16];
    identity.copy_from_slice(&bytes[16..32]);
    Ok(identity)
}

/// The chunks of a file, by its index or else by a scan, and what is wrong with it.
pub(crate) fn find_chunks(file: &Path, bytes: &[u8]) -> (Vec<ChunkRef>, Option<TraceError>) {
    match from_trailer(bytes) {
        Some(chunks) => (chunks, None),
        None => scan(file, bytes),
    }
}

pub(crate) fn from_trailer(bytes: &[u8]) -> Option<Vec<ChunkRef>> {
    let at = bytes.len().checked_sub(TRAILER_LENGTH)?;
    let trailer = &bytes[at..];
    if trailer[16..24] != *TRAILER_MAGIC || xxh3_64(&trailer[..8]) != u64_at(trailer, 8) {
        return None;
    }
    let index_offset = usize::try_from(u64_at(trailer, 0)).ok()?;
    let (header, stored) = chunk_at(bytes, index_offset).ok()?;
    if header.kind != ChunkKind::Index || xxh3_64(stored) != header.payload_checksum {
        return None;
    }
    let mut payload = Vec::new();
    decompress(&header, stored, &ColumnReader::default(), 0, &mut payload).ok()?;
    index_entries(bytes, &payload)
}

fn index_entries(bytes: &[u8], payload: &[u8]) -> Option<Vec<ChunkRef>> {
    if !payload.len().is_multiple_of(INDEX_ENTRY_LENGTH) {
        return None;
    }
    let entry = |entry: &[u8]| {
        let header = ChunkHeader::from_bytes(entry[..HEADER_LENGTH].try_into().ok()?).ok()?;
        let offset = u64_at(entry, HEADER_LENGTH);
        let end = offset.checked_add(header.chunk_length())?;
        let inside = offset >= FILE_HEADER_LENGTH as u64 && end <= bytes.len() as u64;
        inside.then_some(ChunkRef { header, offset })
    };
    payload.chunks_exact(INDEX_ENTRY_LENGTH).map(entry).collect()
}

/// Why there is no chunk at an offset.
pub(crate) enum ChunkProblem {
    Torn { missing: u64 },
    Header(HeaderProblem),
}

impl ChunkProblem {
    pub(crate) fn into_error(self, file: &Path, offset: u64) -> TraceError {
        let file = file.to_path_buf();
        match self {
            ChunkProblem::Torn { missing } => TraceError::TornChunk {
                file,
                offset,
                missing,
            },
            ChunkProblem::Header(HeaderProblem::Magic) => TraceError::BadChunk {
                file,
                offset,
                what: "it does not start with TWCK",
            },
            ChunkProblem::Header(HeaderProblem::Checksum) => TraceError::BadChunk {
                file,
                offset,
                what: "its header's checksum is wrong",
            },
        }
    }
}

/// Header and stored payload of the chunk at `offset`. The payload's checksum is not looked at.
pub(crate) fn chunk_at(bytes: &[u8], offset: usize) -> Result<(ChunkHeader, &[u8]), ChunkProblem> {
    let rest = bytes.get(offset..).unwrap_or(&[]);
    let Some((header, payload)) = rest.split_first_chunk::<HEADER_LENGTH>() else {
        return Err(ChunkProblem::Torn {
            missing: (HEADER_LENGTH - rest.len()) as u64,
        });
    };
    let header = ChunkHeader::from_bytes(header).map_err(ChunkProblem::Header)?;
    let stored_length = header.stored_length as usize;
    match payload.get(..stored_length) {
        Some(stored) => Ok((header, stored)),
        None => Err(ChunkProblem::Torn {
            missing: (stored_length - payload.len()) as u64,
        }),
    }
}

/// Walks from chunk to chunk up to the first invalid one, or up to an index. A valid index would have been used before.
fn scan(file: &Path, bytes: &[u8]) -> (Vec<ChunkRef>, Option<TraceError>) {
    let mut chunks = Vec::new();
    let mut offset = FILE_HEADER_LENGTH;
    while offset < bytes.len() {
        match chunk_at(bytes, offset) {
            Ok((
                ChunkHeader {
                    kind: ChunkKind::Index,
                    ..
                },
                _,
            )) => {
                let what = "the index or the trailer after it is damaged (the chunks were found without it)";
                let file = file.to_path_buf();
                return (
                    chunks,
                    Some(TraceError::BadChunk {
                        file,
                        offset: offset as u64,
                        what,
                    }),
                );
            }
            Ok((header, stored)) => {
                chunks.push(ChunkRef {
                    header,
                    offset: offset as u64,
                });
                offset += HEADER_LENGTH + stored.len();
            }
            Err(problem) => return (chunks, Some(problem.into_error(file, offset as u64))),
        }
    }
    (chunks, None)
}
