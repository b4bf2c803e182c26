//! The mappings of the ring. They give access to atomics only, since another process may write to them at any time.

use std::io;
use std::mem::{align_of, size_of};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU64;
use std::sync::OnceLock;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

use super::layout::{Layout, WINDOWS};

/// A type that consists of atomics, for which all bytes are valid.
///
/// # Safety
///
/// It must be such a type.
pub unsafe trait Shared {}

// SAFETY: an atomic.
unsafe impl Shared for AtomicU64 {}

/// The length stays as it is.
const FIXED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

pub struct Memory {
    descriptor: OwnedFd,
    /// Header and tables.
    control: MmapRaw,
    /// None: it could not be mapped.
    windows: [OnceLock<Option<MmapRaw>>; WINDOWS],
    layout: Layout,
}

/// A step of making the memory, and why it failed.
pub type Failure = (&'static str, io::Error);

impl Memory {
    pub fn create(layout: Layout) -> Result<Self, Failure> {
        let descriptor = create(layout.total_size).map_err(|error| ("memfd", error))?;
        Self::map_all(descriptor, layout)
    }

    /// Uses an object that a program has made, and gives it its length if it has none yet.
    pub fn adopt(descriptor: OwnedFd, layout: Layout) -> Result<Self, Failure> {
        let length = rustix::fs::fstat(&descriptor)
            .map_err(|error| ("fstat", error.into()))?
            .st_size as u64;
        if length < layout.total_size {
            without_file_size_limit(|| rustix::fs::ftruncate(&descriptor, layout.total_size))
                .map_err(|error| ("ftruncate", error.into()))?;
        }
        // The program can't take the memory away from now on. Sealed already, it has the length that it has.
        let _ = rustix::fs::fcntl_add_seals(&descriptor, FIXED);
        let is_fixed = rustix::fs::fcntl_get_seals(&descriptor).is_ok_and(|seals| seals.contains(FIXED));
        let length = rustix::fs::fstat(&descriptor)
            .map_err(|error| ("fstat", error.into()))?
            .st_size as u64;
        if !is_fixed || length != layout.total_size {
            let damaged = io::Error::other("the program's page isn't as it made it");
            return Err(("seal", damaged));
        }
        Self::map_all(descriptor, layout)
    }

    fn map_all(descriptor: OwnedFd, layout: Layout) -> Result<Self, Failure> {
        let control = MmapOptions::new()
            .len(layout.data_offset as usize)
            .map_raw(&descriptor)
            .map_err(|error| ("mmap", error))?;
        Ok(Self {
            descriptor,
            control,
            windows: Default::default(),
            layout,
        })
    }

    /// Zeroes all buffers, and takes no memory for them until they are used again.
    pub fn empty_buffers(&self) -> io::Result<()> {
        let Layout {
            data_offset,
            total_size,
            ..
        } = self.layout;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.descriptor, flags, data_offset, total_size - data_offset)?;
        Ok(())
    }

    pub fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    pub fn raw_descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    /// An array in the control part.
    pub fn control<T: Shared>(&self, offset: u64, count: usize) -> &[T] {
        let end = size_of::<T>()
            .checked_mul(count)
            .map(|length| length as u64 + offset);
        assert!(end.is_some_and(|end| end <= self.layout.data_offset));
        assert!(offset.is_multiple_of(align_of::<T>() as u64));
        // SAFETY: within the mapping and aligned, as was just checked; `Shared` types may change at any time.
        unsafe { std::slice::from_raw_parts(self.control.as_ptr().add(offset as usize).cast(), count) }
    }

    /// A buffer's words; none if there is no address space for them.
    pub fn buffer(&self, index: u32) -> Option<&[AtomicU64]> {
        assert!(index < self.layout.buffer_count);
        let (window, place) = self.layout.window_of(index);
        let mapping = self.windows[window]
            .get_or_init(|| self.map(window).ok())
            .as_ref()?;
        let size = self.layout.buffer_size as usize;
        let offset = place as usize * size;
        assert!(offset + size <= mapping.len());
        // SAFETY: within the mapping and aligned to pages.
        unsafe {
            let words = mapping.as_ptr().add(offset).cast();
            Some(std::slice::from_raw_parts(words, size / size_of::<u64>()))
        }
    }

    fn map(&self, window: usize) -> io::Result<MmapRaw> {
        let (offset, length) = self.layout.window(window);
        MmapOptions::new()
            .offset(offset)
            .len(length as usize)
            .map_raw(&self.descriptor)
    }
}

/// A limit on the size of files is meant for files, but the kernel applies it to shared memory too. Returns how large
/// that may be, if the limit is lifted as far as we may.
pub fn most_bytes() -> u64 {
    getrlimit(Resource::Fsize).maximum.unwrap_or(u64::MAX)
}

/// A process may always raise its limit to the maximum and lower it again.
fn without_file_size_limit<T>(action: impl FnOnce() -> T) -> T {
    let limit = getrlimit(Resource::Fsize);
    let lifted = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Fsize, lifted);
    let result = action();
    let _ = setrlimit(Resource::Fsize, limit);
    result
}

fn create(size: u64) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create("trackway", flags)?;
    without_file_size_limit(|| rustix::fs::ftruncate(&memory, size))?;
    rustix::fs::fcntl_add_seals(&memory, FIXED)?;
    // Programs expect the lowest descriptors to be theirs.
    for lowest in [1000, 200, 20] {
        if let Ok(high) = rustix::io::fcntl_dupfd_cloexec(&memory, lowest) {
            return Ok(high);
        }
    }
    Ok(memory)
}
