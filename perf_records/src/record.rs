//! Records: what happened.

use perf_event_open_sys::bindings as perf;
use trackway_trace::Protection;

use crate::fields::Fields;
use crate::sample::{PerfSample, SampleLayout};

/// Bytes before the content of a record.
pub const HEADER_LENGTH: usize = 8;

/// What the header of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// A number of `enum perf_event_type`.
    pub kind: u32,
    /// The bits `PERF_RECORD_MISC_*`.
    pub flags: u16,
    /// Bytes of the record with its header.
    pub length: usize,
}

impl RecordHeader {
    /// Reads the header of the record that begins with these bytes; none if no record can be as short as it says.
    pub fn read(bytes: &[u8]) -> Option<RecordHeader> {
        let mut fields = Fields::new(bytes);
        let kind = fields.u32()?;
        let flags = fields.u16()?;
        let length = usize::from(fields.u16()?);
        (length >= HEADER_LENGTH).then_some(RecordHeader { kind, flags, length })
    }
}

/// What happened, as far as traces of samples need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    Sample(Box<PerfSample>),
    Mapped(MappedRecord),
    /// A process was forked; threads are left out.
    Forked {
        pid: u32,
        parent: u32,
        time_ns: u64,
    },
    /// A process executed a program of that name.
    Executed {
        pid: u32,
        name: String,
        time_ns: u64,
    },
    /// So many records were lost before this one.
    Lost {
        count: u64,
    },
    /// A record that isn't used.
    Other,
}

/// What was mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedRecord {
    pub pid: u32,
    pub time_ns: u64,
    pub start: u64,
    pub length: u64,
    /// Bytes from the start of the file.
    pub file_offset: u64,
    pub protection: Protection,
    /// Empty if unknown.
    pub build_id: Vec<u8>,
    pub path: String,
}

/// Reads a whole record with its header. None if it is shorter than its fields.
pub fn parse(bytes: &[u8], layout: &SampleLayout) -> Option<Record> {
    let header = RecordHeader::read(bytes)?;
    let content = bytes.get(HEADER_LENGTH..header.length)?;
    let time_ns = layout
        .identity_of_other(content)
        .map_or(0, |identity| identity.time_ns);
    match header.kind {
        perf::PERF_RECORD_SAMPLE => {
            let sample = PerfSample::parse(content, layout, header.flags)?;
            Some(Record::Sample(Box::new(sample)))
        }
        perf::PERF_RECORD_MMAP => mapped(content, header, time_ns),
        perf::PERF_RECORD_MMAP2 => mapped_with_protection(content, header, time_ns),
        perf::PERF_RECORD_FORK => forked(content, time_ns),
        perf::PERF_RECORD_COMM => named(content, header, time_ns),
        perf::PERF_RECORD_LOST => {
            let mut fields = Fields::new(content);
            fields.u64()?; // the event's id
            Some(Record::Lost { count: fields.u64()? })
        }
        perf::PERF_RECORD_LOST_SAMPLES => Some(Record::Lost {
            count: Fields::new(content).u64()?,
        }),
        _ => Some(Record::Other),
    }
}

/// The older record: memory that is data is marked, other is code.
fn mapped(content: &[u8], header: RecordHeader, time_ns: u64) -> Option<Record> {
    let mut fields = Fields::new(content);
    let (pid, _tid) = (fields.u32()?, fields.u32()?);
    let (start, length, file_offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let is_data = u32::from(header.flags) & perf::PERF_RECORD_MISC_MMAP_DATA != 0;
    Some(Record::Mapped(MappedRecord {
        pid,
        time_ns,
        start,
        length,
        file_offset,
        protection: Protection {
            readable: true,
            executable: !is_data,
            ..Protection::default()
        },
        build_id: Vec::new(),
        path: fields.text(),
    }))
}

fn mapped_with_protection(content: &[u8], header: RecordHeader, time_ns: u64) -> Option<Record> {
    /// Device, inode and generation, or the build id.
    const IDENTITY: usize = 24;
    let mut fields = Fields::new(content);
    let (pid, _tid) = (fields.u32()?, fields.u32()?);
    let (start, length, file_offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let identity = fields.bytes(IDENTITY)?;
    let (protection, flags) = (fields.u32()?, fields.u32()?);
    let has_build_id = u32::from(header.flags) & perf::PERF_RECORD_MISC_MMAP_BUILD_ID != 0;
    let build_id = match has_build_id {
        true => identity.get(4..4 + usize::from(identity[0]))?.to_vec(),
        false => Vec::new(),
    };
    Some(Record::Mapped(MappedRecord {
        pid,
        time_ns,
        start,
        length,
        file_offset,
        protection: Protection {
            readable: protection & libc::PROT_READ as u32 != 0,
            writable: protection & libc::PROT_WRITE as u32 != 0,
            executable: protection & libc::PROT_EXEC as u32 != 0,
            shared: flags & libc::MAP_SHARED as u32 != 0,
        },
        build_id,
        path: fields.text(),
    }))
}

fn forked(content: &[u8], time_ns: u64) -> Option<Record> {
    let mut fields = Fields::new(content);
    let (pid, parent) = (fields.u32()?, fields.u32()?);
    Some(match pid == parent {
        true => Record::Other, // a thread
        false => Record::Forked { pid, parent, time_ns },
    })
}

fn named(content: &[u8], header: RecordHeader, time_ns: u64) -> Option<Record> {
    if u32::from(header.flags) & perf::PERF_RECORD_MISC_COMM_EXEC == 0 {
        return Some(Record::Other);
    }
    let mut fields = Fields::new(content);
    let (pid, _tid) = (fields.u32()?, fields.u32()?);
    Some(Record::Executed {
        pid,
        name: fields.text(),
        time_ns,
    })
}

#[cfg(test)]
mod tests;
