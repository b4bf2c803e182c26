//! The second buffer of an event, into which the processor itself writes.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings as perf;

use crate::spe::TimerClock;

/// A mapped buffer whose positions stand in the event's control page.
pub struct AuxiliaryBuffer {
    base: *const u8,
    /// Bytes, a power of two.
    size: usize,
    control: *mut perf::perf_event_mmap_page,
}

impl AuxiliaryBuffer {
    /// Maps `size` bytes (a power of two of at least a page) behind the event's own buffer, which ends at `offset`.
    ///
    /// # Safety
    /// `control` is the event's control page, mapped for writing, and outlives this value.
    ///
    /// # Errors
    /// If the kernel gives none.
    pub unsafe fn map(
        event: RawFd,
        control: *mut perf::perf_event_mmap_page,
        offset: u64,
        size: usize,
    ) -> io::Result<Self> {
        // SAFETY: the page is mapped, and the kernel reads these members when the buffer is mapped.
        unsafe {
            (*control).aux_offset = offset;
            (*control).aux_size = size as u64;
        }
        // Writable: then the kernel doesn't overwrite what wasn't read.
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a descriptor that is open.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                access,
                libc::MAP_SHARED,
                event,
                offset as libc::off_t,
            )
        };
        match base {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            base => Ok(AuxiliaryBuffer {
                base: base.cast(),
                size,
                control,
            }),
        }
    }

    /// The bytes of a stretch that the kernel has told of. A stretch that is longer than the buffer has none.
    pub fn stretch(&self, offset: u64, length: u64) -> Vec<u8> {
        // SAFETY: mapped by `map`; the processor doesn't write to what was told of until `free` lets it.
        let data = unsafe { std::slice::from_raw_parts(self.base, self.size) };
        stretch_of(data, offset, length)
    }

    /// Lets the processor write to all that was told of up to the position.
    pub fn free(&self, end: u64) {
        // SAFETY: aligned, mapped, and accessed atomically by both sides.
        let tail = unsafe { AtomicU64::from_ptr(&raw mut (*self.control).aux_tail) };
        tail.store(end, Ordering::Release);
    }

    /// How the kernel makes times of the processor's ticks; none if it can't.
    pub fn clock(&self) -> Option<TimerClock> {
        // SAFETY: mapped; these members don't change while the event is open.
        let (multiplier, shift, zero_ns) = unsafe {
            let control = &*self.control;
            (control.time_mult, control.time_shift, control.time_zero)
        };
        (multiplier != 0).then_some(TimerClock {
            zero_ns,
            multiplier,
            shift,
        })
    }
}

impl Drop for AuxiliaryBuffer {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and nothing borrows from it.
        unsafe { libc::munmap(self.base.cast_mut().cast(), self.size) };
    }
}

/// Positions count on from the first byte ever written.
fn stretch_of(data: &[u8], offset: u64, length: u64) -> Vec<u8> {
    let size = data.len() as u64;
    if length > size {
        return Vec::new();
    }
    let start = (offset % size) as usize;
    let first = (length as usize).min(data.len() - start);
    let mut bytes = data[start..start + first].to_vec();
    bytes.extend_from_slice(&data[..length as usize - first]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_go_on_at_the_begin_of_the_buffer() {
        let data: Vec<u8> = (0..16).collect();
        assert_eq!(stretch_of(&data, 3, 4), [3, 4, 5, 6]);
        assert_eq!(stretch_of(&data, 16 * 9 + 14, 4), [14, 15, 0, 1]);
        assert_eq!(stretch_of(&data, 5, 16).len(), 16);
        assert!(stretch_of(&data, 0, 17).is_empty());
        assert!(stretch_of(&data, 7, 0).is_empty());
    }
}
