//! Rings of programs that ran without a recorder: one comes, records a session, and leaves.
//!
//! The program has made the first page of the ring. Threads of a former session may still hold buffers, and write to
//! them: these are theirs until they hand them over, and nobody reads them then.

use std::io;
use std::mem::offset_of;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::layout::Layout;
use super::memory::{Failure, Memory};
use super::{Ring, Session};
use crate::abi::{self, FreeSide, RingHeader, StreamSlot, Windows};
use crate::options::RecordOptions;
use crate::ring::BufferWords;
use crate::RecordError;

impl Ring {
    /// Takes the ring over that a program has made. Its descriptor is locked for this recorder.
    pub fn attach(file: OwnedFd, options: &RecordOptions) -> Result<Self, RecordError> {
        let layout = Layout::of_sessions(options.buffer_count);
        let memory = Memory::adopt(file, layout).map_err(|failure| failed(&layout, failure))?;
        let mut ring = Self::over(memory, layout);
        ring.begin_session();
        ring.leave_former_session()
            .map_err(|source| failed(&layout, ("fallocate", source)))?;
        ring.prepare_latencies(options);
        ring.forget_regions(); // of a recorder that was killed
        ring.constants = ring.write_header(&super::new_header(options, &layout));
        Ok(ring)
    }

    /// First of all: what threads that wait for the former recorder do from now on is none of ours.
    fn begin_session(&mut self) {
        let windows: &Windows = self.part(offset_of!(RingHeader, windows));
        windows.window.store(0, SeqCst);
        let session = Session {
            number: windows.session.fetch_add(1, SeqCst).wrapping_add(1),
            windows_before: windows.windows.load(Relaxed),
            marks_before: windows.marks.load(Relaxed),
        };
        self.session = session;
    }

    /// A recorder that was killed may have left anything.
    fn leave_former_session(&self) -> io::Result<()> {
        let windows: &Windows = self.part(offset_of!(RingHeader, windows));
        for index in 0..self.used() {
            let state = self.buffer(index).state.load(Acquire);
            if matches!(state, abi::FULL | abi::TAKEN) {
                self.give_back(index);
            }
        }
        let begun = self
            .ids()
            .next_stream
            .swap(0, Relaxed)
            .min(self.layout.stream_count);
        let slots: &[StreamSlot] = self
            .memory
            .control(self.layout.stream_table_offset, begun as usize);
        for slot in slots {
            slot.forget();
        }
        for stack in self.stacks(begun as usize) {
            stack.store(0, Relaxed);
        }
        self.ids().pending_forks.store(0, Relaxed);
        let free: &FreeSide = self.free_side();
        free.waited_ns.store(0, Relaxed);
        self.full_side().wake_at.store(0, Relaxed);
        self.stop_side().stopped.store(0, Relaxed);
        windows.mark_offset.store(self.layout.mark_offset as u32, Relaxed);
        windows
            .stack_offset
            .store(self.layout.stack_offset as u32, Relaxed);
        self.memory.empty_buffers()
    }

    /// Whether it records a session of a program that goes on afterwards.
    pub fn is_session(&self) -> bool {
        self.session.number != 0
    }

    /// Whether a buffer was taken for this recorder.
    pub fn is_ours(&self, words: &BufferWords) -> bool {
        words.flags >> abi::SESSION_SHIFT == self.session.number & (u32::MAX >> abi::SESSION_SHIFT)
    }

    /// Frees what was recorded for recorders that have left.
    pub fn forget_strangers(&self) {
        if !self.is_session() {
            return;
        }
        for (index, words) in self.every_words() {
            let is_full = self.buffer(index).state.load(Acquire) == abi::FULL;
            if is_full && !self.is_ours(&words) && self.take(index) {
                self.discard(index, self.buffer_size());
            }
        }
    }

    /// What a thread has written so far to a buffer that it keeps; none if it has handed it over meanwhile.
    ///
    /// It is read from its end on: what stands before a byte that is seen was written before, and is seen as well.
    pub fn copied(&self, index: usize, words: &BufferWords, size: usize) -> Option<Vec<u8>> {
        let shared = self.memory.buffer(index as u32)?;
        let count = size.min(self.buffer_size()) / size_of::<u64>();
        let mut bytes = vec![0; count * size_of::<u64>()];
        for (word, bytes) in shared[..count]
            .iter()
            .zip(bytes.chunks_exact_mut(size_of::<u64>()))
            .rev()
        {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        let now = self.words(index);
        let is_kept = now.state == abi::OWNED && now.sequence == words.sequence && now.stream == words.stream;
        bytes.truncate(super::words::written(&bytes));
        is_kept.then_some(bytes)
    }

    /// Gives memory back that the program doesn't need without a recorder.
    pub fn leave(&self) {
        if self.is_session() {
            // It costs memory only.
            let _ = self.memory.empty_buffers();
        }
    }
}

fn failed(layout: &Layout, (step, source): Failure) -> RecordError {
    RecordError::Ring {
        size: layout.total_size,
        step,
        source,
    }
}

impl StreamSlot {
    fn forget(&self) {
        self.pid.store(0, Release);
        self.image.store(0, Relaxed);
        self.dropped.store(0, Relaxed);
        self.oracle_count.store(0, Relaxed);
        self.oracle_hash.store(0, Relaxed);
    }
}
