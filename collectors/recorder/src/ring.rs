//! The shared memory that the recorder lends to the program.

use std::ffi::OsString;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::thread::futex;

use crate::abi::{self, Buffer, RingHeader, StreamSlot};
use crate::options::{RecordOptions, WhenFull};
use crate::RecordError;

/// Buffers beside those that may wait for the recorder: as many threads may record at a time. Memory is taken only
/// for those that are used.
const BUFFERS_IN_USE: u32 = 4096;
/// Streams of which dropped buffers and the oracle's hash are kept.
const STREAM_SLOTS: u32 = 1 << 16;
const PAGE: u64 = 4096;
/// The recorder sleeps until one in so many of the buffers that may wait for it are full.
const WAKE_PART: u32 = 4;

pub struct Ring {
    descriptor: OwnedFd,
    memory: MmapRaw,
    layout: Layout,
}

/// Kept apart from the shared header, which the program could overwrite.
#[derive(Clone, Copy)]
struct Layout {
    buffer_size: u32,
    buffer_count: u32,
    stream_table_offset: u64,
    buffer_table_offset: u64,
    data_offset: u64,
    total_size: u64,
}

impl Layout {
    fn new(buffer_size: u32, buffer_count: u32) -> Self {
        let buffer_table_offset = PAGE;
        let stream_table_offset = buffer_table_offset + u64::from(buffer_count) * size_of::<Buffer>() as u64;
        let streams_end = stream_table_offset + u64::from(STREAM_SLOTS) * size_of::<StreamSlot>() as u64;
        let data_offset = streams_end.next_multiple_of(PAGE);
        let total_size = data_offset + u64::from(buffer_count) * u64::from(buffer_size);
        Self {
            buffer_size,
            buffer_count,
            stream_table_offset,
            buffer_table_offset,
            data_offset,
            total_size,
        }
    }
}

impl Ring {
    pub fn create(options: &RecordOptions) -> Result<Self, RecordError> {
        let layout = Layout::new(options.buffer_size, options.buffer_count + BUFFERS_IN_USE);
        let failed = |step| {
            move |source: io::Error| RecordError::Ring {
                size: layout.total_size,
                step,
                source,
            }
        };
        let descriptor = create_memory(layout.total_size).map_err(failed("memfd"))?;
        let memory = MmapOptions::new()
            .len(layout.total_size as usize)
            .map_raw(&descriptor)
            .map_err(failed("mmap"))?;
        let ring = Self {
            descriptor,
            memory,
            layout,
        };
        // SAFETY: the mapping is page-aligned, larger than the header and shared with nobody yet.
        unsafe {
            ring.memory
                .as_mut_ptr()
                .cast::<RingHeader>()
                .write(new_header(options, &layout))
        };
        Ok(ring)
    }

    pub fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    /// Value of TRACKWAY_RING.
    pub fn name(&self) -> io::Result<OsString> {
        let file = rustix::fs::fstat(&self.descriptor)?;
        let recorder = std::process::id();
        Ok(format!("{}:{}:{}:{recorder}", self.descriptor(), file.st_dev, file.st_ino).into())
    }

    pub fn header(&self) -> &RingHeader {
        // SAFETY: `create` wrote the header; its fields that change are atomic, the others nobody may change.
        unsafe { &*self.memory.as_ptr().cast() }
    }

    /// For the recorder's sign of life, which only the kernel reads.
    pub fn recorder_thread(&self) -> &AtomicU32 {
        &self.header().life.recorder_thread
    }

    /// The buffers that were ever taken.
    pub fn buffers(&self) -> &[Buffer] {
        let used = self
            .header()
            .full
            .buffers_used
            .load(Acquire)
            .min(self.layout.buffer_count);
        // SAFETY: the table lies within the mapping, is aligned, and consists of atomics.
        unsafe {
            let table = self
                .memory
                .as_ptr()
                .add(self.layout.buffer_table_offset as usize)
                .cast();
            std::slice::from_raw_parts(table, used as usize)
        }
    }

    /// The slots of the streams that have begun.
    pub fn streams(&self) -> &[StreamSlot] {
        let begun = self.header().ids.next_stream.load(Acquire).min(STREAM_SLOTS);
        // SAFETY: as for `buffers`.
        unsafe {
            let table = self
                .memory
                .as_ptr()
                .add(self.layout.stream_table_offset as usize)
                .cast();
            std::slice::from_raw_parts(table, begun as usize)
        }
    }

    fn data(&self, index: usize) -> *mut u8 {
        assert!(index < self.layout.buffer_count as usize);
        let offset = self.layout.data_offset as usize + index * self.layout.buffer_size as usize;
        // SAFETY: within the mapping, by the assertion and the layout.
        unsafe { self.memory.as_mut_ptr().add(offset) }
    }

    /// The first `length` bytes of a buffer. By the protocol nobody writes to a buffer that was handed over; a buffer
    /// of a living thread that is read nevertheless, when the user ends the recording, may be torn at its end.
    pub fn bytes(&self, index: usize, length: usize) -> &[u8] {
        let length = length.min(self.layout.buffer_size as usize);
        // SAFETY: the buffer lies within the mapping.
        unsafe { std::slice::from_raw_parts(self.data(index), length) }
    }

    pub fn buffer_size(&self) -> usize {
        self.layout.buffer_size as usize
    }

    /// Bytes of a buffer up to its last one that is not 0.
    pub fn written_length(&self, index: usize) -> usize {
        let bytes = self.bytes(index, self.buffer_size());
        bytes
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |last| last + 1)
    }

    /// Buffers that are full and not freed yet, and how many may be.
    pub fn full_buffers(&self) -> (u32, u32) {
        let header = self.header();
        (header.full.full_count.load(Relaxed), header.full_limit)
    }

    /// Gives a taken buffer back to the program. `length` of its bytes were used.
    pub fn free(&self, index: usize, length: usize) {
        let zeroed = (length + abi::SLACK).min(self.buffer_size());
        // SAFETY: within the buffer, which belongs to the recorder until the state below says otherwise.
        unsafe { std::ptr::write_bytes(self.data(index), 0, zeroed) };
        let header = self.header();
        let buffer = &self.buffers()[index];
        buffer.pid.store(0, Relaxed);
        buffer.state.store(abi::FREE, Release);
        header.full.full_count.fetch_sub(1, Relaxed);
        header.free.free_events.fetch_add(1, SeqCst);
        if header.free.free_waiters.load(SeqCst) != 0 {
            wake_all(&header.free.free_events);
        }
    }

    /// Hands over an owned or claimed buffer in the stead of a thread that is gone. False if it is neither any more.
    pub fn claim(&self, index: usize) -> bool {
        let buffer = &self.buffers()[index];
        let claim = |state| match state {
            abi::OWNED | abi::CLAIMED => Some(abi::CLAIMED),
            _ => None,
        };
        if buffer.state.fetch_update(AcqRel, Acquire, claim).is_err() {
            return false;
        }
        let clock = buffer.flags.load(Relaxed) & abi::FLAG_MONOTONIC;
        buffer.flags.store(clock | abi::FLAG_ABANDONED, Relaxed);
        self.header().full.full_count.fetch_add(1, Relaxed);
        buffer.state.store(abi::FULL, Release);
        true
    }

    /// Waits until `poke` is called or buffers are handed over after `seen` was read: some, so that the program needn't
    /// wake us for each, which costs it microseconds. At most `timeout`.
    pub fn wait_for_full(&self, seen: u32, timeout: Duration) {
        let side = &self.header().full;
        let timeout = futex::Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let some = (self.header().full_limit / WAKE_PART).max(1);
        side.wake_at.store(seen.wrapping_add(some).max(1), SeqCst);
        // Whatever ends the wait, the caller looks for itself.
        let _ = futex::wait(&side.full_events, futex::Flags::empty(), seen, Some(&timeout));
        side.wake_at.store(0, Relaxed);
    }

    /// Ends the recorder's wait.
    pub fn poke(&self) {
        self.header().full.full_events.fetch_add(1, SeqCst);
        wake_all(&self.header().full.full_events);
    }

    /// From now on the program's threads write to private memory and wait for nothing.
    pub fn stop(&self) {
        self.header().stop.stopped.store(1, SeqCst);
        wake_all(&self.header().free.free_events);
    }
}

fn wake_all(word: &AtomicU32) {
    // It fails only for an unmapped address.
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

/// A limit on the size of files is meant for files, but the kernel applies it to shared memory too. It is lifted as far
/// as we may while the ring is made.
fn without_file_size_limit<T>(action: impl FnOnce() -> T) -> T {
    let limit = getrlimit(Resource::Fsize);
    let lifted = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // A process may always raise its limit to the maximum and lower it again.
    let _ = setrlimit(Resource::Fsize, lifted);
    let result = action();
    let _ = setrlimit(Resource::Fsize, limit);
    result
}

fn create_memory(size: u64) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = rustix::fs::memfd_create("trackway", flags)?;
    without_file_size_limit(|| rustix::fs::ftruncate(&memory, size))?;
    rustix::fs::fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    // Programs expect the lowest descriptors to be theirs.
    for lowest in [1000, 200, 20] {
        if let Ok(high) = rustix::io::fcntl_dupfd_cloexec(&memory, lowest) {
            return Ok(high);
        }
    }
    Ok(memory)
}

fn new_header(options: &RecordOptions, layout: &Layout) -> RingHeader {
    let drop_flag = if options.when_full == WhenFull::Drop {
        abi::DROP_WHEN_FULL
    } else {
        0
    };
    let dump_flag = if options.dump_oracle { abi::DUMP_ORACLE } else { 0 };
    // SAFETY: the header consists of integers and atomic integers, for all of which 0 is valid.
    let mut header: RingHeader = unsafe { std::mem::zeroed() };
    header.magic = abi::RING_MAGIC;
    header.abi = abi::ABI;
    header.flags = drop_flag | dump_flag;
    header.total_size = layout.total_size;
    header.buffer_size = layout.buffer_size;
    header.buffer_count = layout.buffer_count;
    header.buffer_table_offset = layout.buffer_table_offset;
    header.stream_table_offset = layout.stream_table_offset;
    header.data_offset = layout.data_offset;
    header.stream_count = STREAM_SLOTS;
    header.full_limit = options.buffer_count;
    header.count_every = options.count_every;
    header.count_cost = options.count_cost_millionths;
    header.stack_frames = options.allocations.as_ref().map_or(0, |tracer| tracer.frames);
    for (place, event) in header.hardware.iter_mut().zip(&options.hardware) {
        *place = event.for_ring();
        header.hardware_count += 1;
    }
    header.ids.next_segment_id = 1.into();
    header
}
