//! Continues a trace whose writer was stopped.

use std::fs::{File, OpenOptions};
use std::path::Path;

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::{ChunkFile, TraceWriter};
use crate::index::{self, FILE_HEADER_LENGTH};
use crate::{ChunkEncoder, ChunkKind, ChunkRef, Codec, TraceError};

/// How far an existing trace has come.
pub enum Resumption {
    /// It can be continued.
    Unfinished(Box<TraceWriter>),
    /// It has its end, index and trailer.
    Finished {
        /// Offset of the first byte after the end chunk.
        end: u64,
    },
}

impl TraceWriter {
    /// Opens an existing trace to continue it, and checks all of its chunks. The first chunk that is torn or damaged is
    /// cut off, together with everything after it; so is an index without a valid trailer. Also returns the trace's
    /// identity.
    pub fn resume(path: &Path, codec: Codec) -> Result<(Resumption, [u8; 16]), TraceError> {
        let (file, map) = open(path)?;
        let identity = index::check_file_header(path, &map)?;
        let finished = index::from_trailer(&map).and_then(|chunks| chunks.last().copied());
        if let Some(last) = finished.filter(|last| last.header.kind == ChunkKind::End) {
            let end = last.offset + last.header.chunk_length();
            return Ok((Resumption::Finished { end }, identity));
        }
        let refs = whole_chunks(&map);
        let offset = refs.last().map_or(FILE_HEADER_LENGTH as u64, |last| {
            last.offset + last.header.chunk_length()
        });
        drop(map);
        file.set_len(offset)
            .map_err(TraceError::io(path, "cut off a torn chunk"))?;
        let chunks = ChunkFile {
            is_new: false,
            offset,
            refs,
            ..ChunkFile::new(path, file, None)
        };
        let encoder = ChunkEncoder::new(codec)?;
        let writer = TraceWriter { chunks, encoder };
        Ok((Resumption::Unfinished(Box::new(writer)), identity))
    }

    /// Whether the last chunk is the end chunk, so that only index and trailer are missing.
    pub fn has_end(&self) -> bool {
        let last = self.chunks.refs.last();
        last.is_some_and(|last| last.header.kind == ChunkKind::End)
    }

    /// Waits until the disk has everything that was written.
    pub fn sync(&self) -> Result<(), TraceError> {
        let synced = self.chunks.file.sync_data();
        synced.map_err(|source| self.chunks.write_error(source))
    }
}

fn open(path: &Path) -> Result<(File, Mmap), TraceError> {
    let found = std::fs::symlink_metadata(path).map_err(TraceError::io(path, "inspect the file"))?;
    if !found.is_file() || found.len() < FILE_HEADER_LENGTH as u64 {
        return Err(TraceError::NotATrace {
            file: path.to_path_buf(),
            what: "it is no file, or shorter than a trace's header",
        });
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(TraceError::io(path, "open the file for writing"))?;
    // SAFETY: the map is only read, and gone before the file is shortened here. That nobody else shortens it meanwhile
    // is a condition of every mapping.
    let map = unsafe { Mmap::map(&file) }.map_err(TraceError::io(path, "map the file"))?;
    Ok((file, map))
}

/// The chunks before the first invalid one, or before the index.
fn whole_chunks(bytes: &[u8]) -> Vec<ChunkRef> {
    let mut chunks = Vec::new();
    let mut offset = FILE_HEADER_LENGTH;
    while let Ok((header, stored)) = index::chunk_at(bytes, offset) {
        if header.kind == ChunkKind::Index || xxh3_64(stored) != header.payload_checksum {
            break;
        }
        chunks.push(ChunkRef {
            header,
            offset: offset as u64,
        });
        offset += header.chunk_length() as usize;
    }
    chunks
}
