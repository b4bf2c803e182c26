//! The memory that processes hold at a time, by the calls of their allocators.

use std::collections::{HashMap, VecDeque};

use trackway_trace::allocations::{AllocatingProcess, AllocationAction, AllocationEvent, Origin, StackId};

use super::intervals::Intervals;

/// Memory that a call gave the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub bytes: u64,
    /// Process that made the call. The process that holds the block may have it from that one.
    pub process: u32,
    pub stack: StackId,
    pub obtained_ns: u64,
    pub kind: BlockKind,
}

/// What kind of call gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// malloc, `operator new` and their like.
    Heap,
    /// mmap of no file.
    Pages,
    /// mmap of a file.
    File,
}

/// How much a call site holds changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Obtained(Block),
    Released(Block),
}

/// What one process holds.
#[derive(Clone, Debug, Default)]
struct Memory {
    blocks: Intervals<Block>,
    /// Pages that calls of the program mapped. Allocators may have made blocks of them.
    pages: Intervals<Block>,
    /// Addresses of blocks that are being reallocated, by stream. They stay until the reallocation has ended, since it
    /// copies them.
    moving: HashMap<u32, u64>,
    /// The latest released blocks, with time and address. A child that was forked meanwhile still holds them.
    released: VecDeque<(u64, u64, Block)>,
}

/// Number of latest released blocks that are kept, since a child that was forked meanwhile still holds them.
const MOST_RELEASED: usize = 4096;

/// Follows all processes of a trace; events come in the order of their times.
pub struct Holdings {
    origins: HashMap<u32, Origin>,
    processes: HashMap<u32, Memory>,
}

impl Holdings {
    pub fn new(processes: &[AllocatingProcess]) -> Self {
        let origin = |process: &AllocatingProcess| (process.number, process.origin);
        Holdings {
            origins: processes.iter().map(origin).collect(),
            processes: HashMap::new(),
        }
    }

    /// The block of the process that holds the address, and the block's start. An allocator's block comes before one of
    /// pages. A forked process holds what its parent holds until it shows itself.
    pub fn find(&self, process: u32, address: u64) -> Option<(u64, Block)> {
        let memory = self.memory(process)?;
        memory.blocks.find(address).or_else(|| memory.pages.find(address))
    }

    fn memory(&self, process: u32) -> Option<&Memory> {
        let mut process = process;
        // Each step goes to a parent; a trace that makes a circle of them has no more steps than processes.
        for _ in 0..=self.origins.len() {
            match (self.processes.get(&process), self.origins.get(&process)) {
                (Some(memory), _) => return Some(memory),
                (None, Some(Origin::Forked { parent })) => process = *parent,
                _ => return None,
            }
        }
        None
    }

    /// Follows an event; what the process's own call sites gained and lost goes to `changes`.
    pub fn apply(&mut self, event: &AllocationEvent, changes: &mut Vec<Change>) {
        if let AllocationAction::Forked { began_ns } = event.what {
            return self.fork(event.process, began_ns);
        }
        let memory = self.processes.entry(event.process).or_default();
        let block = |bytes, kind| Block {
            bytes,
            process: event.process,
            stack: event.stack,
            obtained_ns: event.time_ns,
            kind,
        };
        let before = changes.len();
        match event.what {
            AllocationAction::Allocated { address, size, .. } => {
                memory.obtain(address, block(size, BlockKind::Heap), changes)
            }
            AllocationAction::Freed { address } => memory.release(address, event.time_ns, changes),
            AllocationAction::Reallocating { address } => {
                memory.moving.insert(event.stream, address);
            }
            AllocationAction::Kept { .. } => {
                memory.moving.remove(&event.stream);
            }
            AllocationAction::Reallocated { old, address, size } => {
                memory.moving.remove(&event.stream);
                memory.release(old, event.time_ns, changes);
                if address != 0 {
                    memory.obtain(address, block(size, BlockKind::Heap), changes);
                }
            }
            AllocationAction::Mapped {
                address,
                length,
                descriptor,
                ..
            } => {
                let kind = match descriptor {
                    Some(_) => BlockKind::File,
                    None => BlockKind::Pages,
                };
                memory.map(address, block(length, kind), changes);
            }
            AllocationAction::Unmapped { address, length } => memory.unmap(address, length, changes),
            AllocationAction::Remapped {
                old,
                old_length,
                address,
                length,
            } => memory.remap((old, old_length), (address, length), event.time_ns, changes),
            _ => {}
        }
        // What a process has from its parent was the parent's call.
        let mut index = 0;
        changes.retain(|change| {
            index += 1;
            let (Change::Obtained(block) | Change::Released(block)) = change;
            index <= before || block.process == event.process
        });
    }

    fn fork(&mut self, process: u32, began_ns: u64) {
        let Some(Origin::Forked { parent }) = self.origins.get(&process) else {
            return;
        };
        if let Some(memory) = self.memory(*parent).map(|memory| memory.at_fork(began_ns)) {
            self.processes.insert(process, memory);
        }
    }
}

impl Memory {
    fn obtain(&mut self, address: u64, block: Block, changes: &mut Vec<Change>) {
        let replaced = self.blocks.replace(address, block.bytes, block);
        changes.extend(replaced.into_iter().map(Change::Released));
        changes.push(Change::Obtained(block));
    }

    fn release(&mut self, address: u64, time_ns: u64, changes: &mut Vec<Change>) {
        let Some(block) = self.blocks.remove(address) else {
            return;
        };
        changes.push(Change::Released(block));
        if self.released.len() == MOST_RELEASED {
            self.released.pop_front();
        }
        self.released.push_back((time_ns, address, block));
    }

    fn map(&mut self, address: u64, block: Block, changes: &mut Vec<Change>) {
        self.unmap(address, block.bytes, changes);
        self.pages.replace(address, block.bytes, block);
        changes.push(Change::Obtained(block));
    }

    /// A mapping of which only a part goes gives back that many bytes.
    fn unmap(&mut self, address: u64, length: u64, changes: &mut Vec<Change>) {
        let end = address.saturating_add(length);
        let touched: Vec<(u64, u64, Block)> = self.pages.overlaps(address, end).collect();
        for (start, last, block) in touched {
            let bytes = last.min(end) - start.max(address);
            changes.push(Change::Released(Block { bytes, ..block }));
        }
        self.pages.cut(address, length);
    }

    /// The pages remain those of the call that mapped them.
    fn remap(&mut self, old: (u64, u64), new: (u64, u64), time_ns: u64, changes: &mut Vec<Change>) {
        let Some((_, block)) = self.pages.find(old.0) else {
            return;
        };
        self.unmap(old.0, old.1, changes);
        let block = Block {
            bytes: new.1,
            obtained_ns: time_ns,
            ..block
        };
        self.map(new.0, block, changes);
    }

    /// The memory of a child that was forked after `began_ns`. The child still holds what the parent has released
    /// since, and has nothing of what the parent has obtained since.
    fn at_fork(&self, began_ns: u64) -> Memory {
        let mut memory = Memory {
            blocks: self.blocks.clone(),
            pages: self.pages.clone(),
            ..Memory::default()
        };
        let since = |block: &Block| block.obtained_ns > began_ns;
        let later: Vec<u64> = self
            .blocks
            .values()
            .filter(|(_, block)| since(block))
            .map(|(start, _)| start)
            .collect();
        later
            .into_iter()
            .for_each(|start| _ = memory.blocks.remove(start));
        for (time_ns, address, block) in &self.released {
            if *time_ns >= began_ns && !since(block) {
                memory.blocks.replace(*address, block.bytes, *block);
            }
        }
        memory
    }
}

#[cfg(test)]
mod tests;
