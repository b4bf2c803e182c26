//! The buffer through which the kernel hands over the records of a processor.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings as perf;
use trackway_perf_records::{RecordHeader, HEADER_LENGTH};

const PAGE: usize = 4096;

/// A mapped buffer of an event, and the event.
pub struct Ring {
    /// Its records come as long as it is open.
    _event: OwnedFd,
    base: *mut u8,
    /// Bytes of the data, a power of two.
    size: usize,
    /// A record that is split by the end of the buffer.
    joined: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone, whichever thread has it.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a buffer of `size` bytes (a power of two of at least a page) for the event.
    ///
    /// # Errors
    /// If the kernel gives none, with the event.
    pub fn map(event: OwnedFd, size: usize) -> Result<Self, (OwnedFd, io::Error)> {
        let length = PAGE + size;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a descriptor that is ours.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                access,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match base {
            libc::MAP_FAILED => Err((event, io::Error::last_os_error())),
            base => Ok(Ring {
                _event: event,
                base: base.cast(),
                size,
                joined: Vec::new(),
            }),
        }
    }

    fn control(&self, field: usize) -> &AtomicU64 {
        // SAFETY: the first page is a perf_event_mmap_page, whose two positions are aligned and only accessed
        // atomically.
        unsafe { AtomicU64::from_ptr(self.base.add(field).cast()) }
    }

    /// Gives all records to `take`, then frees their room.
    pub fn drain(&mut self, take: impl FnMut(&[u8])) {
        let head_field = std::mem::offset_of!(perf::perf_event_mmap_page, data_head);
        let tail_field = std::mem::offset_of!(perf::perf_event_mmap_page, data_tail);
        let head = self.control(head_field).load(Ordering::Acquire);
        let tail = self.control(tail_field).load(Ordering::Relaxed);
        if head == tail {
            return;
        }
        let mut joined = std::mem::take(&mut self.joined);
        // SAFETY: what lies between tail and head isn't written to until the tail moves on.
        let data = unsafe { std::slice::from_raw_parts(self.base.add(PAGE), self.size) };
        records_between(data, tail, head, &mut joined, take);
        self.joined = joined;
        self.control(tail_field).store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and nothing borrows from it.
        unsafe { libc::munmap(self.base.cast(), PAGE + self.size) };
    }
}

/// Gives each record between two positions of a buffer to `take`; one that is split by the buffer's end is joined
/// first. What can't be a record ends it.
fn records_between(data: &[u8], tail: u64, head: u64, joined: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
    let size = data.len() as u64;
    let mut position = tail;
    while head.wrapping_sub(position) >= HEADER_LENGTH as u64 {
        let start = (position % size) as usize;
        // Records begin at multiples of 8, so that a header is never split.
        let Some(header) = RecordHeader::read(&data[start..]) else {
            return;
        };
        if header.length as u64 > head.wrapping_sub(position) {
            return;
        }
        match data.get(start..start + header.length) {
            Some(record) => take(record),
            None => {
                joined.clear();
                joined.extend_from_slice(&data[start..]);
                joined.extend_from_slice(&data[..header.length - (data.len() - start)]);
                take(joined);
            }
        }
        position = position.wrapping_add(header.length as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: u8, length: usize) -> Vec<u8> {
        let mut bytes = vec![value; length];
        bytes[..4].copy_from_slice(&9u32.to_le_bytes());
        bytes[6..8].copy_from_slice(&(length as u16).to_le_bytes());
        bytes
    }

    /// Writes the records from a position on, as the kernel does, and drains them.
    fn through_a_ring(position: u64, records: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut data = vec![0u8; 128];
        let bytes = records.concat();
        for (index, byte) in bytes.iter().enumerate() {
            data[(position as usize + index) % 128] = *byte;
        }
        let (mut taken, mut joined) = (Vec::new(), Vec::new());
        let head = position + bytes.len() as u64;
        records_between(&data, position, head, &mut joined, |record| {
            taken.push(record.to_vec())
        });
        taken
    }

    #[test]
    fn records_come_whole_wherever_the_buffer_ends() {
        let records = [record(1, 24), record(2, 40), record(3, 8)];
        for position in (0..1024).step_by(8) {
            assert_eq!(through_a_ring(position, &records), records, "{position}");
        }
    }

    #[test]
    fn what_is_no_record_ends_the_drain() {
        let mut records = [record(1, 24), record(2, 24)];
        records[1][6..8].copy_from_slice(&0u16.to_le_bytes());
        assert_eq!(through_a_ring(0, &records), [record(1, 24)]);
        records[1][6..8].copy_from_slice(&64u16.to_le_bytes());
        assert_eq!(through_a_ring(0, &records), [record(1, 24)]);
    }
}
