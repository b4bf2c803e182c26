//! Copies of what stands in the ring: each shared word is read once.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::memory::Shared;
use crate::abi::{
    Buffer, Closings, FreeSide, FullSide, Holders, Ids, Life, Mark, Regions, Stop, StreamSlot, Windows,
};

// SAFETY: each consists of atomics.
unsafe impl Shared for Buffer {}
unsafe impl Shared for StreamSlot {}
unsafe impl Shared for Life {}
unsafe impl Shared for Regions {}
unsafe impl Shared for Holders {}
unsafe impl Shared for Ids {}
unsafe impl Shared for FullSide {}
unsafe impl Shared for FreeSide {}
unsafe impl Shared for Stop {}
unsafe impl Shared for Windows {}
unsafe impl Shared for Closings {}
unsafe impl Shared for Mark {}

/// `struct trackway_buffer`, as it was. Any value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferWords {
    pub state: u32,
    pub kind: u32,
    pub stream: u32,
    pub pid: u32,
    pub tid: u32,
    pub flags: u32,
    pub sequence: u64,
    pub first_ticks: u64,
    pub last_ticks: u64,
    pub length: u32,
    pub dropped_before: u32,
    pub parent_pid: u32,
    pub image: u32,
}

impl BufferWords {
    /// A thread that states the process or the state has written the rest before.
    pub fn read(buffer: &Buffer) -> Self {
        Self {
            state: buffer.state.load(Acquire),
            pid: buffer.pid.load(Acquire),
            kind: buffer.kind.load(Relaxed),
            stream: buffer.stream.load(Relaxed),
            tid: buffer.tid.load(Relaxed),
            flags: buffer.flags.load(Relaxed),
            sequence: buffer.sequence.load(Relaxed),
            first_ticks: buffer.first_ticks.load(Relaxed),
            last_ticks: buffer.last_ticks.load(Relaxed),
            length: buffer.length.load(Relaxed),
            dropped_before: buffer.dropped_before.load(Relaxed),
            parent_pid: buffer.parent_pid.load(Relaxed),
            image: buffer.image.load(Relaxed),
        }
    }
}

/// `struct trackway_stream`, as it was. Any value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotWords {
    pub oracle_count: u64,
    pub oracle_hash: u64,
    pub dropped: u64,
    pub pid: u32,
    pub image: u32,
}

impl SlotWords {
    pub fn read(slot: &StreamSlot) -> Self {
        Self {
            pid: slot.pid.load(Acquire),
            image: slot.image.load(Relaxed),
            oracle_count: slot.oracle_count.load(Relaxed),
            oracle_hash: slot.oracle_hash.load(Relaxed),
            dropped: slot.dropped.load(Relaxed),
        }
    }
}

const WORD: usize = size_of::<u64>();

/// Moves the first bytes of a buffer out and leaves zeros there.
pub fn move_out(shared: &[AtomicU64], length: usize, bytes: &mut Vec<u8>) {
    let words = length.div_ceil(WORD).min(shared.len());
    bytes.resize(words * WORD, 0);
    copy(&shared[..words], bytes);
    zero(&shared[..words]);
    bytes.truncate(length);
}

/// Zeroes so many bytes from the first one on.
pub fn clear(shared: &[AtomicU64], first: usize, length: usize) {
    let end = first.saturating_add(length).div_ceil(WORD).min(shared.len());
    zero(shared.get(first / WORD..end).unwrap_or_default());
}

/// A single instruction, opaque to the compiler, is as fast as memcpy, and may race with writes of another process.
#[cfg(target_arch = "x86_64")]
fn copy(shared: &[AtomicU64], bytes: &mut [u8]) {
    assert_eq!(shared.len() * WORD, bytes.len());
    // SAFETY: it reads the words and writes as many bytes; the direction flag is clear by the ABI.
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") shared.len() => _,
            inout("rsi") shared.as_ptr() => _,
            inout("rdi") bytes.as_mut_ptr() => _,
            options(nostack, preserves_flags)
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn zero(shared: &[AtomicU64]) {
    // SAFETY: it writes the words, which are atomics and so may be written; the direction flag is clear by the ABI.
    unsafe {
        std::arch::asm!(
            "rep stosq",
            inout("rcx") shared.len() => _,
            inout("rdi") shared.as_ptr() => _,
            in("rax") 0,
            options(nostack, preserves_flags)
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn copy(shared: &[AtomicU64], bytes: &mut [u8]) {
    for (bytes, word) in bytes.chunks_exact_mut(WORD).zip(shared) {
        bytes.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn zero(shared: &[AtomicU64]) {
    for word in shared {
        word.store(0, Relaxed);
    }
}

/// Bytes up to the last one that is not 0.
pub fn written(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|&byte| byte != 0);
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> Vec<AtomicU64> {
        (1..=4)
            .map(|word| AtomicU64::new(word * 0x0101_0101_0101_0101))
            .collect()
    }

    #[test]
    fn bytes_are_moved_and_zeros_are_left() {
        let shared = shared();
        let mut bytes = vec![9; 100];
        move_out(&shared, 11, &mut bytes);
        assert_eq!(bytes, [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
        move_out(&shared, 32, &mut bytes);
        assert_eq!((bytes[15], bytes[16], bytes.len()), (0, 3, 32));
        assert_eq!(written(&bytes), 32);
        move_out(&shared, 32, &mut bytes);
        assert_eq!(written(&bytes), 0);
    }

    #[test]
    fn clearing_ends_with_the_buffer() {
        let shared = shared();
        clear(&shared, 8, 8);
        let values: Vec<u64> = shared.iter().map(|word| word.load(Relaxed) & 0xff).collect();
        assert_eq!(values, [1, 0, 3, 4]);
        clear(&shared, 17, usize::MAX);
        clear(&shared, 1000, 8);
        let values: Vec<u64> = shared.iter().map(|word| word.load(Relaxed) & 0xff).collect();
        assert_eq!(values, [1, 0, 0, 0]);
    }
}
