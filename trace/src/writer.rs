//! Writes a trace file.

mod resume;

pub use resume::Resumption;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::index;
use crate::output_file::{Destination, Existing, OutputFile};
use crate::{Chunk, ChunkEncoder, ChunkFields, ChunkKind, ChunkRef, Codec, EndInfo, TraceError};

/// Writes the chunks of one trace. After an error the file ends with the last whole chunk, which is a valid trace
/// without a footer, and nothing more is written to it.
pub struct TraceWriter {
    chunks: ChunkFile,
    encoder: ChunkEncoder,
}

/// The file and what it holds.
struct ChunkFile {
    path: PathBuf,
    file: File,
    /// Whether it can be truncated and reread, which pipes and devices can't be.
    regular: bool,
    /// Whether it was created under a name that nothing had.
    is_new: bool,
    /// The file while it has no name yet, and when it gets that.
    unnamed: Option<(OutputFile, Naming)>,
    /// Bytes written so far; the end of the last whole chunk.
    offset: u64,
    refs: Vec<ChunkRef>,
    failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    AtFirstChunk,
    WhenWhole,
}

impl TraceWriter {
    /// Creates the file, which only its owner may read, and writes the header. An existing file is replaced only if
    /// `force` is set, and not before there is a first chunk; existing devices and pipes are written to in any case.
    pub fn create(path: &Path, force: bool, codec: Codec) -> Result<Self, TraceError> {
        Self::create_identified(path, force, codec, new_identity(path)?)
    }

    /// The same, for a trace that has an identity already.
    pub fn create_identified(
        path: &Path,
        force: bool,
        codec: Codec,
        identity: [u8; 16],
    ) -> Result<Self, TraceError> {
        let chunks = match Destination::of(path, Existing::with_force(force))? {
            // Others may follow it from its first byte.
            Destination::New => ChunkFile::new(path, create_new(path)?, None),
            _ => ChunkFile::create(path, force, Naming::AtFirstChunk)?,
        };
        Self::begin(chunks, codec, identity)
    }

    /// The same for a trace that is useless before it is whole: the file gets its name when it is closed.
    pub fn create_when_whole(path: &Path, force: bool, codec: Codec) -> Result<Self, TraceError> {
        let chunks = ChunkFile::create(path, force, Naming::WhenWhole)?;
        Self::begin(chunks, codec, new_identity(path)?)
    }

    fn begin(mut chunks: ChunkFile, codec: Codec, identity: [u8; 16]) -> Result<Self, TraceError> {
        chunks.write(&[&index::file_header(identity)])?;
        Ok(TraceWriter {
            chunks,
            encoder: ChunkEncoder::new(codec)?,
        })
    }

    /// Removes the new file of a trace to which no chunk was written. A file that it was to replace stays.
    pub fn discard(self) {
        if self.chunks.refs.is_empty() && self.chunks.is_new {
            // There is no caller to report an error to.
            let _ = std::fs::remove_file(&self.chunks.path);
        }
    }

    /// Compresses `payload` and writes it as a chunk.
    pub fn write_chunk(&mut self, fields: &ChunkFields, payload: &[u8]) -> Result<(), TraceError> {
        let chunk = self.encoder.encode(fields, payload)?;
        self.chunks.append(&chunk)
    }

    /// Writes a chunk that was encoded elsewhere.
    pub fn append(&mut self, chunk: &Chunk) -> Result<(), TraceError> {
        self.chunks.append(chunk)
    }

    /// Writes the end chunk, the index and the trailer. `end.chunks` is filled in.
    pub fn finish(mut self, end: &EndInfo) -> Result<(), TraceError> {
        let end = EndInfo {
            chunks: self.chunk_count(),
            ..end.clone()
        };
        let json = serde_json::to_vec(&end).map_err(|source| TraceError::BadInfo {
            file: self.chunks.path.clone(),
            offset: self.chunks.offset,
            source,
        })?;
        self.write_chunk(&ChunkFields::new(ChunkKind::End), &json)?;
        self.close()
    }

    /// Writes the index and the trailer of a trace whose end chunk was appended like any other.
    pub fn close(mut self) -> Result<(), TraceError> {
        // A trace with more chunks than an index can hold gets no index: readers scan it.
        if let Some(payload) = index::index_payload(&self.chunks.refs) {
            let offset = self.bytes_written();
            self.write_chunk(&ChunkFields::new(ChunkKind::Index), &payload)?;
            self.chunks.write(&[&index::trailer(offset)])?;
        }
        self.chunks.take_name()
    }

    /// Bytes of the file so far.
    pub fn bytes_written(&self) -> u64 {
        self.chunks.offset
    }

    /// Chunks written so far.
    pub fn chunk_count(&self) -> u64 {
        self.chunks.refs.len() as u64
    }
}

impl ChunkFile {
    /// A regular file.
    fn new(path: &Path, file: File, unnamed: Option<(OutputFile, Naming)>) -> ChunkFile {
        ChunkFile {
            path: path.to_path_buf(),
            file,
            regular: true,
            is_new: unnamed.is_none(),
            unnamed,
            offset: 0,
            refs: Vec::new(),
            failed: false,
        }
    }

    fn create(path: &Path, force: bool, naming: Naming) -> Result<ChunkFile, TraceError> {
        let output = OutputFile::create(path, Existing::with_force(force))?;
        let regular = output.random_access().is_some();
        let file = output.file().try_clone();
        let file = file.map_err(TraceError::io(path, "open the file once more"))?;
        Ok(ChunkFile {
            regular,
            ..ChunkFile::new(path, file, Some((output, naming)))
        })
    }

    fn take_name(&mut self) -> Result<(), TraceError> {
        match self.unnamed.take() {
            Some((output, _)) => Ok(output.finish()?),
            None => Ok(()),
        }
    }

    fn append(&mut self, chunk: &Chunk) -> Result<(), TraceError> {
        debug_assert_eq!(chunk.stored.len(), chunk.header.stored_length as usize);
        let offset = self.offset;
        self.write(&[&chunk.header.to_bytes(), chunk.stored])?;
        self.refs.push(ChunkRef {
            header: chunk.header,
            offset,
        });
        match self.unnamed {
            Some((_, Naming::AtFirstChunk)) => self.take_name(),
            _ => Ok(()),
        }
    }

    /// Writes all parts, or else none.
    fn write(&mut self, parts: &[&[u8]]) -> Result<(), TraceError> {
        if self.failed {
            let source = io::Error::other("an earlier write failed");
            return Err(self.write_error(source));
        }
        let mut end = self.offset;
        for part in parts {
            let written = if self.regular {
                self.file.write_all_at(part, end)
            } else {
                self.file.write_all(part)
            };
            written.map_err(|source| self.give_up(source))?;
            end += part.len() as u64;
        }
        self.offset = end;
        Ok(())
    }

    /// Cuts a torn chunk off. Should that fail too, a reader still finds all chunks before it.
    fn give_up(&mut self, source: io::Error) -> TraceError {
        self.failed = true;
        let source = match self.regular.then(|| self.file.set_len(self.offset)) {
            Some(Err(truncation)) => io::Error::new(
                source.kind(),
                format!("{source} (and cannot cut off the torn chunk: {truncation})"),
            ),
            _ => source,
        };
        self.write_error(source)
    }

    fn write_error(&self, source: io::Error) -> TraceError {
        TraceError::WriteFailed {
            file: self.path.clone(),
            offset: self.offset,
            source,
        }
    }
}

fn create_new(path: &Path) -> Result<File, TraceError> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .mode(0o600)
        .create_new(true)
        .open(path)
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => TraceError::AlreadyExists {
                file: path.to_path_buf(),
            },
            _ => TraceError::io(path, "create the file")(error),
        })
}

fn new_identity(path: &Path) -> Result<[u8; 16], TraceError> {
    random_identity().map_err(|error| TraceError::io(path, "draw the trace's random identity")(error))
}

/// A fresh identity for a trace.
pub fn random_identity() -> io::Result<[u8; 16]> {
    let mut identity = [0; 16];
    getrandom::fill(&mut identity).map_err(io::Error::other)?;
    Ok(identity)
}
