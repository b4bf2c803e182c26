//! The entries of one file, decompressed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::{DeflateDecoder, MultiGzDecoder};
use lz4_flex::frame::FrameDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::entry::{Entry, ENTRY_LENGTH};
use crate::ImportError;

const BUFFER: usize = 1 << 18;

/// A file whose entries are read one by one. How it is compressed is seen from its first bytes, not from its name.
pub struct Entries {
    path: PathBuf,
    source: BufReader<Box<dyn Read>>,
    /// Decompressed bytes read so far.
    offset: u64,
}

impl Entries {
    pub fn open(path: &Path) -> Result<Entries, ImportError> {
        let error = |source| ImportError::Io {
            file: path.to_path_buf(),
            action: "open the file",
            source,
        };
        let mut file = File::open(path).map_err(error)?;
        let mut magic = Vec::new();
        (&mut file).take(4).read_to_end(&mut magic).map_err(error)?;
        file.seek(SeekFrom::Start(0)).map_err(error)?;
        let source: Box<dyn Read> = match magic[..] {
            [0x04, 0x22, 0x4d, 0x18] => Box::new(FrameDecoder::new(file)),
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
            [b'P', b'K', 3, 4] => Box::new(Members::of(path, file)?),
            _ => Box::new(file),
        };
        Ok(Entries {
            path: path.to_path_buf(),
            source: BufReader::with_capacity(BUFFER, source),
            offset: 0,
        })
    }

    /// The next entry; none at the end of the file.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ImportError> {
        let mut bytes = [0; ENTRY_LENGTH];
        let mut filled = 0;
        while filled < ENTRY_LENGTH {
            match self.source.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(self.invalid("the file ends within an entry")),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.invalid(format!("it cannot be decompressed further: {error}"))),
            }
        }
        self.offset += ENTRY_LENGTH as u64;
        Ok(Some(Entry::from_bytes(&bytes)))
    }

    /// An error at the bytes that come next.
    fn invalid(&self, what: impl Into<String>) -> ImportError {
        ImportError::Invalid {
            file: self.path.clone(),
            offset: self.offset,
            what: what.into(),
        }
    }

    /// An error at the entry that was read last.
    pub fn invalid_entry(&self, what: impl Into<String>) -> ImportError {
        ImportError::Invalid {
            file: self.path.clone(),
            offset: self.offset.saturating_sub(ENTRY_LENGTH as u64),
            what: what.into(),
        }
    }

    pub fn unsupported(&self, what: impl Into<String>) -> ImportError {
        ImportError::Unsupported {
            file: self.path.clone(),
            what: what.into(),
        }
    }
}

/// The members of an archive one after the other: a trace is split at every so many instructions.
struct Members {
    file: File,
    /// Start and length of the members that are still to be read, the next one last.
    rest: Vec<(u64, u64, CompressionMethod)>,
    present: Option<Box<dyn Read>>,
}

impl Members {
    fn of(path: &Path, file: File) -> Result<Members, ImportError> {
        let invalid = |what: String| ImportError::Unsupported {
            file: path.to_path_buf(),
            what: format!("this zip archive cannot be read: {what}; copy it again, or record it again"),
        };
        let own = file.try_clone().map_err(|source| ImportError::Io {
            file: path.to_path_buf(),
            action: "open the file",
            source,
        })?;
        let mut archive = ZipArchive::new(file).map_err(|error| invalid(error.to_string()))?;
        let mut rest = Vec::new();
        for index in 0..archive.len() {
            let member = archive
                .by_index_raw(index)
                .map_err(|error| invalid(error.to_string()))?;
            let method = member.compression();
            if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
                return Err(invalid(format!("{} is compressed by {method}", member.name())));
            }
            rest.push((member.data_start(), member.compressed_size(), method));
        }
        rest.reverse();
        Ok(Members {
            file: own,
            rest,
            present: None,
        })
    }

    /// Whether there is another member.
    fn advance(&mut self) -> io::Result<bool> {
        let Some((start, length, method)) = self.rest.pop() else {
            return Ok(false);
        };
        self.file.seek(SeekFrom::Start(start))?;
        let bytes = self.file.try_clone()?.take(length);
        self.present = Some(match method {
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(bytes)),
            _ => Box::new(bytes),
        });
        Ok(true)
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(present) = &mut self.present {
                let count = present.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
            }
            if !self.advance()? {
                return Ok(0);
            }
        }
    }
}
