//! Memory as a window sees it: the program's, read late, overlaid with the window's own stores.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Bytes that are read at once.
const BLOCK: u64 = 256;
/// Blocks that are kept.
const BLOCKS: usize = 256;

/// The source from which memory is read.
pub trait MemorySource {
    /// Whether memory may have changed since the window's begin.
    fn is_late(&self) -> bool {
        false
    }

    /// Fills `bytes` from the address on; false if they can't be read.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool;
}

/// The memory of another process.
pub struct ProcessMemory {
    pub pid: u32,
    /// Whether the process ran on.
    pub is_late: bool,
}

impl ProcessMemory {
    /// Memory of a process that runs on.
    pub fn late(pid: u32) -> Self {
        ProcessMemory { pid, is_late: true }
    }

    /// Memory of a process whose thread is stopped.
    pub fn stopped(pid: u32) -> Self {
        ProcessMemory { pid, is_late: false }
    }
}

impl MemorySource for ProcessMemory {
    fn is_late(&self) -> bool {
        self.is_late
    }

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

/// The part of a thread's stack next to the stack pointer. It holds spilled registers and return addresses, which no
/// other thread changes.
#[derive(Default)]
pub struct StackMemory {
    pid: u32,
    from: u64,
    to: u64,
}

/// Bytes from the stack pointer on.
const FRAMES: u64 = 4096;

impl StackMemory {
    pub fn of(pid: u32, stack_pointer: u64) -> Self {
        StackMemory {
            pid,
            // Functions that call nothing keep values below it.
            from: stack_pointer.saturating_sub(BLOCK) / BLOCK * BLOCK,
            to: stack_pointer.saturating_add(FRAMES),
        }
    }
}

impl MemorySource for StackMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        (self.from..self.to).contains(&address) && ProcessMemory::stopped(self.pid).read(address, bytes)
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

/// The words of 8 bytes in which a value of at most 8 bytes lies, and a bit for each of its bytes there.
struct Words {
    addresses: [u64; 2],
    bytes: [u8; 2],
    shift: u32,
}

impl Words {
    fn of(address: u64, size: u32) -> Self {
        let first = address & !7;
        let bytes = ((1u16 << size) - 1) << (address & 7);
        Words {
            addresses: [first, first.wrapping_add(8)],
            bytes: [bytes as u8, (bytes >> 8) as u8],
            shift: (address & 7) as u32 * 8,
        }
    }

    /// The value in the words.
    fn taken(&self, words: [u64; 2]) -> u64 {
        let both = u128::from(words[0]) | u128::from(words[1]) << 64;
        (both >> self.shift) as u64
    }

    /// The words with the value in them.
    fn placed(&self, value: u64) -> [u64; 2] {
        let both = u128::from(value) << self.shift;
        [both as u64, (both >> 64) as u64]
    }
}

/// All bits of these bytes.
fn spread(bytes: u8) -> u64 {
    (0..8)
        .filter(|lane| bytes >> lane & 1 != 0)
        .fold(0, |bits, lane| bits | 0xff << (lane * 8))
}

/// A process's memory with the stores of a window.
pub struct Memory<S> {
    source: S,
    /// Addresses of the kept blocks, by a hash of the address; 0 where there is none.
    addresses: Vec<u64>,
    blocks: Vec<[u8; BLOCK as usize]>,
    stored: HashMap<u64, Stored, RandomState>,
    /// A range that one instruction filled or copied; its content is unknown.
    unknown: Vec<(u64, u64)>,
}

impl<S: MemorySource + Default> Default for Memory<S> {
    fn default() -> Self {
        Memory::new(S::default())
    }
}

impl<S: MemorySource> Memory<S> {
    pub fn new(source: S) -> Self {
        Memory {
            source,
            addresses: vec![0; BLOCKS],
            blocks: vec![[0; BLOCK as usize]; BLOCKS],
            stored: HashMap::default(),
            unknown: Vec::new(),
        }
    }

    /// Begins a window: forgets what was read and stored. Memory is read from `source` from now on.
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
        let wanted = Words::of(address, size);
        let [first, second] = wanted.addresses;
        let mut stored = self.stored.get(&first).copied().unwrap_or_default();
        let behind = match wanted.bytes[1] {
            0 => None,
            _ => self.stored.get(&second).copied(),
        };
        let behind = behind.unwrap_or_default();
        stored.stored &= wanted.bytes[0];
        let here = [stored, behind];
        let of_stores = |bytes: fn(&Stored) -> u8| [0, 1].map(|word| bytes(&here[word]) & wanted.bytes[word]);
        let found = of_stores(|word| word.stored);
        if found == [0, 0] {
            return self.read(address, size);
        }
        let is_any = |bytes: [u8; 2]| bytes != [0, 0];
        let mut value = Value {
            bits: wanted.taken([stored.bits & spread(found[0]), behind.bits & spread(found[1])]),
            is_known: !is_any(of_stores(|word| word.stored & word.unknown)),
            is_late: is_any(of_stores(|word| word.stored & word.late)),
        };
        if found != wanted.bytes {
            let read = self.read(address, size);
            let rest = wanted.taken([0, 1].map(|word| spread(wanted.bytes[word] & !found[word])));
            value.bits |= read.bits & rest;
            value.is_known &= read.is_known;
            value.is_late |= read.is_late;
        }
        value
    }

    fn read(&mut self, address: u64, size: u32) -> Value {
        let mut bytes = [0; 8];
        let (start, length) = (address % BLOCK, u64::from(size));
        let here = length.min(BLOCK - start);
        let Some(slot) = self.block(address - start) else {
            return Value::UNKNOWN;
        };
        let (before, behind) = bytes.split_at_mut(here as usize);
        before.copy_from_slice(&self.blocks[slot][start as usize..(start + here) as usize]);
        if here < length {
            let Some(slot) = self.block((address - start).wrapping_add(BLOCK)) else {
                return Value::UNKNOWN;
            };
            let rest = (length - here) as usize;
            behind[..rest].copy_from_slice(&self.blocks[slot][..rest]);
        }
        Value {
            bits: u64::from_le_bytes(bytes),
            is_known: true,
            is_late: self.source.is_late(),
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

    /// Stores up to 8 bytes; the values of larger stores are unknown.
    pub fn store(&mut self, address: u64, size: u32, value: Value) {
        if size > 8 {
            return self.forget(address, size.into());
        }
        let words = Words::of(address, size);
        let parts = words.addresses.into_iter().zip(words.bytes);
        for ((address, bytes), bits) in parts.zip(words.placed(value.bits)) {
            if bytes == 0 {
                continue;
            }
            let word = self.stored.entry(address).or_default();
            word.stored |= bytes;
            word.unknown = word.unknown & !bytes | if value.is_known { 0 } else { bytes };
            word.late = word.late & !bytes | if value.is_late { bytes } else { 0 };
            word.bits = word.bits & !spread(bytes) | bits & spread(bytes);
        }
        // A later store may be to a place whose content wasn't known.
        self.unfill(address, size);
    }

    /// Makes so many bytes unknown.
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
