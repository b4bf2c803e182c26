//! libCacheSim's oracleGeneral: u32 time, u64 object, u32 size, i64 number of the object's next request; 24 bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::{Executed, Format, Lines};

/// Bytes of a request.
pub const RECORD_LENGTH: usize = 24;
/// Offset in a request of the number of its object's next one.
const NEXT: usize = 16;
/// Requests that are looked at together on the way back.
const BACKWARD: usize = 1 << 16;
const NONE: i64 = -1;

/// Requests for cache lines (or for addresses, if there are no lines), in order. The next request for each object is
/// found on the way back over the file. That takes memory for each object, but not for each request.
pub struct LibCacheSim {
    output: BufWriter<File>,
    lines: Lines,
    requests: u64,
    first_ns: Option<u64>,
}

impl LibCacheSim {
    pub fn new(file: File, lines: Lines) -> Self {
        LibCacheSim {
            output: BufWriter::with_capacity(1 << 20, file),
            lines,
            requests: 0,
            first_ns: None,
        }
    }

    fn request(&mut self, seconds: u32, object: u64, size: u32) -> io::Result<()> {
        let mut record = [0; RECORD_LENGTH];
        record[..4].copy_from_slice(&seconds.to_le_bytes());
        record[4..12].copy_from_slice(&object.to_le_bytes());
        record[12..16].copy_from_slice(&size.to_le_bytes());
        record[NEXT..].copy_from_slice(&NONE.to_le_bytes());
        self.requests += 1;
        self.output.write_all(&record)
    }

    /// Fills in when each object is asked for again. Requests are numbered from 0.
    pub fn finish(self) -> io::Result<u64> {
        let requests = self.requests;
        let file = self.output.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut next_of: HashMap<u64, i64> = HashMap::new();
        let mut bytes = Vec::new();
        let mut end = requests;
        while end > 0 {
            let start = end.saturating_sub(BACKWARD as u64);
            bytes.resize((end - start) as usize * RECORD_LENGTH, 0);
            let offset = start * RECORD_LENGTH as u64;
            file.read_exact_at(&mut bytes, offset)?;
            for (index, record) in bytes.chunks_exact_mut(RECORD_LENGTH).enumerate().rev() {
                let mut object = [0; 8];
                object.copy_from_slice(&record[4..12]);
                let number = (start + index as u64) as i64;
                let next = next_of.insert(u64::from_le_bytes(object), number).unwrap_or(NONE);
                record[NEXT..].copy_from_slice(&next.to_le_bytes());
            }
            file.write_all_at(&bytes, offset)?;
            end = start;
        }
        let mut file = file;
        file.seek(SeekFrom::End(0))?;
        Ok(requests)
    }
}

impl Format for LibCacheSim {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        let first_ns = *self.first_ns.get_or_insert(executed.time_ns);
        let seconds = (executed.time_ns.saturating_sub(first_ns) / 1_000_000_000) as u32;
        for access in executed.accesses {
            match self.lines.bytes {
                Some(line) => {
                    for address in self.lines.addresses(access.address, access.size) {
                        self.request(seconds, address / line, line as u32)?;
                    }
                }
                None => self.request(seconds, access.address, access.size.min(u32::MAX.into()) as u32)?,
            }
        }
        Ok(())
    }
}
