//! Memory as a window sees it: that of the program, read late, under what the window itself stored.

use std::collections::HashMap;

/// Bytes that are read at once.
const BLOCK: u64 = 256;
/// Blocks that are kept.
const BLOCKS: usize = 256;

/// Where memory is read.
pub trait MemorySource {
    /// Fills `bytes` from the address on; false if they can't be read.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool;
}

/// The memory of another process.
pub struct ProcessMemory {
    pub pid: u32,
}

impl MemorySource for ProcessMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let local = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: bytes.len(),
        };
        let remote = libc::iovec {
            iov_base: address as *mut libc::c_void,
            iov_len: bytes.len(),
        };
        // SAFETY: writes to `bytes`; the other process's addresses are checked by the kernel.
        let read = unsafe { libc::process_vm_readv(self.pid as libc::pid_t, &local, 1, &remote, 1, 0) };
        usize::try_from(read).is_ok_and(|read| read == bytes.len())
    }
}

/// None at all: only what registers say is followed.
pub struct NoMemory;

impl MemorySource for NoMemory {
    fn read(&mut self, _address: u64, _bytes: &mut [u8]) -> bool {
        false
    }
}

/// A value in memory or in a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    pub bits: u64,
    pub is_known: bool,
    /// It rests on memory that was read after the sample.
    pub is_late: bool,
}

impl Value {
    pub const UNKNOWN: Value = Value {
        bits: 0,
        is_known: false,
        is_late: false,
    };

    pub fn known(bits: u64) -> Self {
        Value {
            bits,
            is_known: true,
            is_late: false,
        }
    }
}

/// What the window stored in 8 bytes.
#[derive(Clone, Copy, Default)]
struct Stored {
    bits: u64,
    /// A bit for each byte that was stored, and for each of those that has an unknown or a late value.
    stored: u8,
    unknown: u8,
    late: u8,
}

/// A process's memory with the stores of a window.
pub struct Memory<S> {
    source: S,
    /// By a hash of the address; 0 where there is none.
    addresses: Vec<u64>,
    blocks: Vec<[u8; BLOCK as usize]>,
    stored: HashMap<u64, Stored>,
    /// What was filled or copied by one instruction: unknown from here to there.
    unknown: Vec<(u64, u64)>,
}

impl<S: MemorySource> Memory<S> {
    pub fn new(source: S) -> Self {
        Memory {
            source,
            addresses: vec![0; BLOCKS],
            blocks: vec![[0; BLOCK as usize]; BLOCKS],
            stored: HashMap::new(),
            unknown: Vec::new(),
        }
    }

    /// Begins a window: forgets what was read and stored. What is read from now on is that of `source`.
    pub fn begin(&mut self, source: S) {
        self.source = source;
        self.addresses.fill(0);
        self.stored.clear();
        self.unknown.clear();
    }

    /// The value of up to 8 bytes; unknown if they can't be read.
    pub fn load(&mut self, address: u64, size: u32) -> Value {
        if size == 0 || size > 8 || self.is_filled(address, size) {
            return Value::UNKNOWN;
        }
        if self.stored.is_empty() {
            return self.read(address, size);
        }
        self.load_through_stores(address, size)
    }

    fn load_through_stores(&mut self, address: u64, size: u32) -> Value {
        let mut value = Value::known(0);
        let mut read = None;
        for byte in 0..size {
            let at = address.wrapping_add(byte.into());
            let (word, lane) = (self.stored.get(&(at & !7)).copied(), at & 7);
            let bits = match word.filter(|word| word.stored >> lane & 1 != 0) {
                Some(word) => {
                    value.is_known &= word.unknown >> lane & 1 == 0;
                    value.is_late |= word.late >> lane & 1 != 0;
                    word.bits >> (lane * 8)
                }
                None => {
                    let read: Value = *read.get_or_insert_with(|| self.read(address, size));
                    value.is_known &= read.is_known;
                    value.is_late |= read.is_late;
                    read.bits >> (byte * 8)
                }
            };
            value.bits |= (bits & 0xff) << (byte * 8);
        }
        value
    }

    fn read(&mut self, address: u64, size: u32) -> Value {
        let mut bytes = [0; 8];
        for index in 0..u64::from(size) {
            let at = address.wrapping_add(index);
            match self.block(at / BLOCK * BLOCK) {
                Some(slot) => bytes[index as usize] = self.blocks[slot][(at % BLOCK) as usize],
                None => return Value::UNKNOWN,
            }
        }
        Value {
            bits: u64::from_le_bytes(bytes),
            is_known: true,
            is_late: true,
        }
    }

    /// Where the block of that address is kept.
    fn block(&mut self, address: u64) -> Option<usize> {
        let slot = (address / BLOCK) as usize % BLOCKS;
        if self.addresses[slot] != address || address == 0 {
            self.addresses[slot] = 0;
            if !self.source.read(address, &mut self.blocks[slot]) {
                return None;
            }
            self.addresses[slot] = address;
        }
        Some(slot)
    }

    /// Stores up to 8 bytes; of more, their values are unknown.
    pub fn store(&mut self, address: u64, size: u32, value: Value) {
        if size > 8 {
            return self.forget(address, size.into());
        }
        for byte in 0..size {
            let at = address.wrapping_add(byte.into());
            let (word, lane) = (self.stored.entry(at & !7).or_default(), at & 7);
            let (bit, shift) = (1 << lane, lane * 8);
            word.stored |= bit;
            word.unknown = word.unknown & !bit | if value.is_known { 0 } else { bit };
            word.late = word.late & !bit | if value.is_late { bit } else { 0 };
            word.bits = word.bits & !(0xff << shift) | (value.bits >> (byte * 8) & 0xff) << shift;
        }
        // A later store may be to a place whose content wasn't known.
        self.unfill(address, size);
    }

    /// Nothing is known of so many bytes any more.
    pub fn forget(&mut self, address: u64, length: u64) {
        self.unknown.push((address, address.saturating_add(length)));
    }

    fn is_filled(&self, address: u64, size: u32) -> bool {
        let end = address.saturating_add(size.into());
        self.unknown.iter().any(|(from, to)| *from < end && address < *to)
    }

    fn unfill(&mut self, address: u64, size: u32) {
        let end = address.saturating_add(size.into());
        let Some(position) = self
            .unknown
            .iter()
            .position(|(from, to)| *from <= address && end <= *to)
        else {
            return;
        };
        let (from, to) = self.unknown.swap_remove(position);
        let rests = [(from, address), (end, to)];
        self.unknown
            .extend(rests.into_iter().filter(|(from, to)| from < to));
    }
}
