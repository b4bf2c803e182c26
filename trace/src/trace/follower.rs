//! Reads the chunks of a file while it is being written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::chunk::HEADER_LENGTH;
use crate::index::{check_file_header, ChunkProblem, FILE_HEADER_LENGTH};
use crate::{ChunkHeader, ChunkKind, TraceError};

/// Goes from chunk to chunk as they are completed, and skips records.
pub struct Follower {
    path: PathBuf,
    file: File,
    /// Position of the next chunk; 0 until the file's header has been read.
    position: u64,
    has_ended: bool,
}

impl Follower {
    /// `path` stands for the file in messages.
    pub fn new(path: &Path, file: File) -> Self {
        Follower {
            path: path.to_path_buf(),
            file,
            position: 0,
            has_ended: false,
        }
    }

    /// Header and all bytes of the next chunk that isn't records; none if it isn't there yet, or the trace has ended.
    pub fn next_chunk(&mut self) -> Result<Option<(ChunkHeader, Vec<u8>)>, TraceError> {
        while let Some(header) = self.next_header()? {
            let (at, length) = (self.position, header.chunk_length());
            if header.kind == ChunkKind::Index {
                self.has_ended = true;
            } else if !self.is_long_enough(at + length)? {
                return Ok(None);
            } else {
                self.position += length;
                if !matches!(header.kind, ChunkKind::Records | ChunkKind::OracleRecords) {
                    let mut chunk = vec![0; length as usize];
                    self.read(&mut chunk, at)?;
                    return Ok(Some((header, chunk)));
                }
            }
        }
        Ok(None)
    }

    fn next_header(&mut self) -> Result<Option<ChunkHeader>, TraceError> {
        if self.has_ended
            || !self.has_begun()?
            || !self.is_long_enough(self.position + HEADER_LENGTH as u64)?
        {
            return Ok(None);
        }
        let mut bytes = [0; HEADER_LENGTH];
        self.read(&mut bytes, self.position)?;
        let header = ChunkHeader::from_bytes(&bytes);
        let problem = |problem| ChunkProblem::Header(problem).into_error(&self.path, self.position);
        header.map(Some).map_err(problem)
    }

    fn has_begun(&mut self) -> Result<bool, TraceError> {
        if self.position == 0 && self.is_long_enough(FILE_HEADER_LENGTH as u64)? {
            let mut header = [0; FILE_HEADER_LENGTH];
            self.read(&mut header, 0)?;
            check_file_header(&self.path, &header)?;
            self.position = FILE_HEADER_LENGTH as u64;
        }
        Ok(self.position > 0)
    }

    fn is_long_enough(&self, length: u64) -> Result<bool, TraceError> {
        let metadata = self.file.metadata().map_err(self.error("inspect the file"))?;
        Ok(metadata.len() >= length)
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), TraceError> {
        let read = self.file.read_exact_at(bytes, at);
        read.map_err(self.error("read the file"))
    }

    fn error<'f>(&'f self, action: &'static str) -> impl FnOnce(io::Error) -> TraceError + 'f {
        TraceError::io(&self.path, action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChunkFields, Codec, EndInfo, TraceWriter};

    fn kinds(follower: &mut Follower) -> Vec<ChunkKind> {
        let chunks = std::iter::from_fn(|| follower.next_chunk().unwrap());
        chunks.map(|(header, _)| header.kind).collect()
    }

    #[test]
    fn chunks_come_as_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let mut writer = TraceWriter::create(&path, false, Codec::Lz4).unwrap();
        let mut follower = Follower::new(&path, File::open(&path).unwrap());
        assert_eq!(kinds(&mut follower), []);
        let mut write = |kind| writer.write_chunk(&ChunkFields::new(kind), &[7; 100]).unwrap();
        write(ChunkKind::Records);
        write(ChunkKind::Counts);
        write(ChunkKind::Records);
        assert_eq!(kinds(&mut follower), [ChunkKind::Counts]);
        assert_eq!(kinds(&mut follower), []);
        writer.finish(&EndInfo::default()).unwrap();
        assert_eq!(kinds(&mut follower), [ChunkKind::End]);
        assert_eq!(kinds(&mut follower), []);
    }

    #[test]
    fn a_chunk_that_is_being_written_waits() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, path) = (folder.path().join("whole"), folder.path().join("trace"));
        let mut writer = TraceWriter::create(&whole, false, Codec::None).unwrap();
        writer
            .write_chunk(&ChunkFields::new(ChunkKind::Counts), &[7; 100])
            .unwrap();
        let bytes = std::fs::read(&whole).unwrap();
        std::fs::write(&path, []).unwrap();
        let mut follower = Follower::new(&path, File::open(&path).unwrap());
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(follower.next_chunk().unwrap().is_none(), "{length}");
        }
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(
            follower.next_chunk().unwrap().unwrap().1,
            bytes[FILE_HEADER_LENGTH..]
        );
    }
}
