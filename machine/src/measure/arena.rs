//! Memory that is measured.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{madvise, mmap_anonymous, munmap, Advice, MapFlags, ProtFlags};

/// Huge pages of x86-64, and of AArch64 with pages of 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Pages that the system is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Huge ones, so that translations cost nothing.
    Huge,
    /// The smallest.
    Small,
}

/// Zeroed memory that begins at a multiple of the size of a huge page.
#[derive(Debug)]
pub struct Arena {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    begin: NonNull<u8>,
    bytes: usize,
}

impl Arena {
    /// # Errors
    /// If the system doesn't give so much.
    pub fn new(bytes: usize, pages: Pages) -> io::Result<Arena> {
        let bytes = bytes.next_multiple_of(HUGE_PAGE_BYTES);
        let mapping_bytes = bytes + HUGE_PAGE_BYTES;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses where, so that no other memory is replaced.
        let mapping =
            unsafe { mmap_anonymous(ptr::null_mut(), mapping_bytes, protection, MapFlags::PRIVATE) }?;
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: less than a huge page is skipped, by which the mapping is longer.
        let begin = unsafe { mapping.add(mapping.as_ptr().align_offset(HUGE_PAGE_BYTES)) };
        let advice = match pages {
            Pages::Huge => Advice::LinuxHugepage,
            Pages::Small => Advice::LinuxNoHugepage,
        };
        // A kernel without huge pages refuses the advice, and that is all.
        // SAFETY: the range lies within the mapping, and the advice doesn't change what it holds.
        let _ = unsafe { madvise(begin.as_ptr().cast(), bytes, advice) };
        Ok(Arena {
            mapping,
            mapping_bytes,
            begin,
            bytes,
        })
    }

    /// All of it, as words.
    pub fn words(&self) -> &[u64] {
        // SAFETY: the mapping is readable, aligned, zeroed by the system, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr().cast(), self.bytes / 8) }
    }

    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above; and it is writable, and nobody else refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.begin.as_ptr().cast(), self.bytes / 8) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is this arena's, and all references to it have ended.
        let _ = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}
