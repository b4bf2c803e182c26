//! What threads did, from the entries of a file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use trackway_trace::InstructionKind;

use super::entry::{file_type, kind, marker, Entry, EPOCH_MICROSECONDS, MAX_ENCODED, NEWEST_VERSION};
use super::opened::Entries;
use crate::ImportError;

/// Bytes of an instruction at most, on any processor.
const MAX_INSTRUCTION: usize = 15;

/// A thread of the traced program, by the system's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    pub process: u64,
    pub thread: u64,
}

/// What a thread did, or what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStep {
    Instruction {
        address: u64,
        /// Bytes.
        length: u8,
        kind: InstructionKind,
        /// Address to which a direct branch or call goes; 0 if unknown.
        target: u64,
    },
    /// An access by the instruction before it.
    Access {
        write: bool,
        address: u64,
        /// Bytes; 0: unknown, as drmemtrace leaves it for xsave and xrstor.
        size: u16,
    },
    /// A prefetch or a flush of caches, which is no access.
    Hint,
    /// The kernel interrupted the thread: what follows doesn't continue what was before.
    Interruption,
    /// The time, nanoseconds since 1970-01-01 UTC.
    Time(u64),
}

/// Calls `visit` with what the threads of one file did, in the order of the file.
pub fn read(
    path: &Path,
    visit: &mut dyn FnMut(Thread, ThreadStep) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut reader = Reader::open(path)?;
    while let Some(entry) = reader.entries.next_entry()? {
        if let Some(step) = reader.step(entry)? {
            visit(reader.thread, step)?;
        }
    }
    match reader.ended {
        true => Ok(()),
        false => Err(reader
            .entries
            .invalid_entry("the file ends without a footer, so that it is not whole")),
    }
}

struct Reader {
    entries: Entries,
    thread: Thread,
    process_of_thread: HashMap<u64, u64>,
    x86_64: bool,
    /// Bytes of the instruction that comes next, if they are new.
    encoding: Vec<u8>,
    /// Decoded instructions by address; their bytes stand in the file once.
    decoded: HashMap<u64, Decoded>,
    /// Whether the present thread has executed an instruction.
    has_instruction: bool,
    /// The threads that have executed an instruction.
    started: HashSet<u64>,
    ended: bool,
}

#[derive(Clone, Copy, Default)]
struct Decoded {
    calls_system: bool,
    target: u64,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader, ImportError> {
        let mut entries = Entries::open(path)?;
        match entries.next_entry()? {
            Some(header) if header.kind == kind::HEADER => check_version(&entries, header.value)?,
            _ => {
                return Err(entries.unsupported(
                    "it doesn't begin like a converted drmemtrace trace; raw files become one by `drraw2trace -indir \
                     FOLDER`",
                ))
            }
        }
        Ok(Reader {
            entries,
            thread: Thread::default(),
            process_of_thread: HashMap::new(),
            x86_64: false,
            encoding: Vec::new(),
            decoded: HashMap::new(),
            has_instruction: false,
            started: HashSet::new(),
            ended: false,
        })
    }

    fn step(&mut self, entry: Entry) -> Result<Option<ThreadStep>, ImportError> {
        Ok(match entry.kind {
            kind::READ | kind::WRITE => Some(self.access(entry)?),
            kind::FIRST_PREFETCH..=kind::LAST_PREFETCH
            | kind::FIRST_FLUSH..=kind::LAST_FLUSH
            | kind::HARDWARE_PREFETCH
            | kind::FIRST_LEVEL_PREFETCH..=kind::LAST_LEVEL_PREFETCH => Some(ThreadStep::Hint),
            kind::ENCODING => {
                self.add_encoding(entry)?;
                None
            }
            kind::MARKER => self.marked(entry)?,
            kind::THREAD => {
                self.thread.thread = entry.value;
                let process = self.process_of_thread.get(&entry.value);
                self.thread.process = process.copied().unwrap_or(self.thread.process);
                self.has_instruction = self.started.contains(&entry.value);
                self.encoding.clear();
                None
            }
            kind::PROCESS => {
                self.thread.process = entry.value;
                self.process_of_thread.insert(self.thread.thread, entry.value);
                None
            }
            kind::THREAD_EXIT => None,
            kind::FOOTER => {
                self.ended = true;
                None
            }
            kind::HEADER => {
                check_version(&self.entries, entry.value)?;
                None
            }
            _ => Some(self.instruction(entry)?),
        })
    }

    fn access(&self, entry: Entry) -> Result<ThreadStep, ImportError> {
        if !self.has_instruction {
            return Err(self.entries.invalid_entry("an access without an instruction"));
        }
        Ok(ThreadStep::Access {
            write: entry.kind == kind::WRITE,
            address: entry.value,
            size: entry.size,
        })
    }

    fn add_encoding(&mut self, entry: Entry) -> Result<(), ImportError> {
        let bytes = entry.value.to_le_bytes();
        let length = usize::from(entry.size);
        if length == 0 || length > MAX_ENCODED || self.encoding.len() + length > MAX_INSTRUCTION {
            return Err(self
                .entries
                .invalid_entry(format!("an encoding of {length} bytes")));
        }
        self.encoding.extend_from_slice(&bytes[..length]);
        Ok(())
    }

    fn marked(&mut self, entry: Entry) -> Result<Option<ThreadStep>, ImportError> {
        Ok(match entry.size {
            marker::KERNEL_EVENT | marker::KERNEL_TRANSFER | marker::RSEQ_ABORT => {
                Some(ThreadStep::Interruption)
            }
            marker::TIMESTAMP => {
                let since_1970 = entry.value.saturating_sub(EPOCH_MICROSECONDS);
                Some(ThreadStep::Time(since_1970.saturating_mul(1000)))
            }
            marker::VERSION => {
                check_version(&self.entries, entry.value)?;
                None
            }
            marker::FILE_TYPE => {
                self.x86_64 = entry.value & file_type::X86_64 != 0;
                if entry.value & (file_type::ARM | file_type::X86_32) != 0 {
                    return Err(self.entries.unsupported(
                        "a trace of a 32-bit program, whose addresses have 4 bytes; only 64-bit ones can be imported",
                    ));
                }
                None
            }
            _ => None,
        })
    }

    fn instruction(&mut self, entry: Entry) -> Result<ThreadStep, ImportError> {
        let length = usize::from(entry.size);
        if length == 0 || length > MAX_INSTRUCTION || entry.value.checked_add(length as u64).is_none() {
            return Err(self
                .entries
                .invalid_entry(format!("an instruction of {length} bytes at {:#x}", entry.value)));
        }
        if !self.encoding.is_empty() {
            let decoded = match self.x86_64 {
                true => decode(&self.encoding, entry.value),
                false => Decoded::default(),
            };
            self.decoded.insert(entry.value, decoded);
            self.encoding.clear();
        }
        let decoded = self.decoded.get(&entry.value).copied().unwrap_or_default();
        let kind = match entry.kind {
            kind::INSTRUCTION if decoded.calls_system => InstructionKind::SystemCall,
            kind::INSTRUCTION => InstructionKind::Other,
            kind::DIRECT_JUMP => InstructionKind::DirectJump,
            kind::INDIRECT_JUMP => InstructionKind::IndirectJump,
            kind::CONDITIONAL_JUMP | kind::TAKEN_JUMP | kind::UNTAKEN_JUMP => {
                InstructionKind::ConditionalBranch
            }
            kind::DIRECT_CALL => InstructionKind::DirectCall,
            kind::INDIRECT_CALL => InstructionKind::IndirectCall,
            kind::RETURN => InstructionKind::Return,
            kind::NOT_FETCHED => InstructionKind::Repetition,
            kind::SYSTEM_ENTRY => InstructionKind::SystemCall,
            other => {
                return Err(self.entries.invalid_entry(format!(
                    "unknown type {other} of an entry, perhaps of a newer DynamoRIO"
                )))
            }
        };
        if !self.has_instruction {
            self.has_instruction = true;
            self.started.insert(self.thread.thread);
        }
        Ok(ThreadStep::Instruction {
            address: entry.value,
            length: length as u8,
            kind,
            target: if kind.is_direct() { decoded.target } else { 0 },
        })
    }
}

fn check_version(entries: &Entries, version: u64) -> Result<(), ImportError> {
    match version <= NEWEST_VERSION {
        true => Ok(()),
        false => Err(entries.unsupported(format!(
            "a drmemtrace trace of version {version}, where this Trackway reads up to {NEWEST_VERSION}; use a \
             newer one"
        ))),
    }
}

fn decode(bytes: &[u8], address: u64) -> Decoded {
    let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
    Decoded {
        calls_system: matches!(
            instruction.mnemonic(),
            Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int
        ),
        target: instruction.near_branch_target(),
    }
}
