//! The branches of machine code: what was executed next says where one went.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use trackway_trace::machine::{ExecutedBlocks, ANONYMOUS};
use trackway_trace::{
    Instruction, InstructionId, InstructionKind, MachineBlockId, Program, Stream, StringId, Trace, TraceError,
};

use super::event::{BranchEvent, BranchKind, BranchSource};
use super::unresolved::Unresolved;
use crate::Observer;

/// Objects are this far apart in the address space that holds all of them.
const OBJECT_BITS: u32 = 48;

/// What all streams of a trace need to know of its blocks.
#[derive(Debug)]
pub struct MachineFlow {
    /// For each block its basic blocks, of which it has several if it goes on after branches that weren't taken.
    blocks: Vec<Range<usize>>,
    basic_blocks: Vec<BlockFlow>,
    /// The conditional branches, by address.
    instructions: HashMap<u64, InstructionId>,
}

/// A basic block without its accesses. Addresses are those of [`AddressSpace`].
#[derive(Debug, Clone, Copy, Default)]
struct BlockFlow {
    start: u64,
    /// Address of the last instruction.
    address: u64,
    fall_through: u64,
    kind: Option<BranchKind>,
    /// 0 if unknown.
    target: u64,
    /// Fetched ones.
    instructions: u32,
}

/// Puts all objects into one space: code from no file at its addresses, each file elsewhere.
#[derive(Debug, Default)]
struct AddressSpace {
    bases: HashMap<StringId, u64>,
}

impl AddressSpace {
    fn address(&mut self, program: &Program, instruction: &Instruction, offset: u64) -> u64 {
        let object = program.function(instruction.object).linkage_name;
        if program.string(object) == ANONYMOUS {
            return offset;
        }
        let next = self.bases.len() as u64 + 1;
        let base = *self.bases.entry(object).or_insert_with(|| base_of(next));
        base.wrapping_add(offset)
    }
}

/// Beginnings of pages that have no low bits in common beyond those, as where the system places objects.
fn base_of(object: u64) -> u64 {
    let page = object.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 36;
    (object << OBJECT_BITS) + (page << 12)
}

impl MachineFlow {
    pub fn new(program: &Program) -> Self {
        let mut space = AddressSpace::default();
        let mut flow = MachineFlow {
            blocks: Vec::with_capacity(program.machine_blocks.len()),
            basic_blocks: Vec::new(),
            instructions: HashMap::new(),
        };
        for number in 0..program.machine_blocks.len() {
            let first = flow.basic_blocks.len();
            flow.add_block(program, MachineBlockId(number as u32), &mut space);
            flow.blocks.push(first..flow.basic_blocks.len());
        }
        flow
    }

    /// Adds nothing for what says something of the thread only, and is never executed.
    fn add_block(&mut self, program: &Program, id: MachineBlockId, space: &mut AddressSpace) {
        let mut end = program.machine_block(id).instructions.start;
        for basic in program
            .instructions_of(id)
            .split_inclusive(|instruction| instruction.kind.ends_block())
        {
            end += basic.len() as u32;
            let Some(flow) = basic_block(program, basic, space) else {
                continue;
            };
            if flow.kind == Some(BranchKind::Conditional) {
                let branch = InstructionId(end - 1);
                self.instructions.entry(flow.address).or_insert(branch);
            }
            self.basic_blocks.push(flow);
        }
    }

    /// The conditional branch at an address that a source named.
    pub fn instruction(&self, address: u64) -> Option<InstructionId> {
        self.instructions.get(&address).copied()
    }

    /// The branches of a stream.
    pub fn branches<'a>(
        &'a self,
        trace: &'a Trace,
        stream: &'a Stream,
        observer: &'a dyn Observer,
    ) -> MachineBranches<'a> {
        MachineBranches {
            flow: self,
            trace,
            stream,
            observer,
            pending: None,
            instructions: 0,
            unresolved: Unresolved::default(),
            damage: Vec::new(),
        }
    }
}

/// None without instructions.
fn basic_block(
    program: &Program,
    instructions: &[Instruction],
    space: &mut AddressSpace,
) -> Option<BlockFlow> {
    let (first, last) = (instructions.first()?, instructions.last()?);
    let fetched = instructions
        .iter()
        .filter(|instruction| instruction.kind.is_fetched());
    Some(BlockFlow {
        start: space.address(program, first, first.offset),
        address: space.address(program, last, last.offset),
        fall_through: space.address(program, last, last.offset.wrapping_add(u64::from(last.length))),
        kind: branch_kind(last.kind),
        target: last
            .target
            .map_or(0, |target| space.address(program, last, target)),
        instructions: fetched.count() as u32,
    })
}

fn branch_kind(kind: InstructionKind) -> Option<BranchKind> {
    match kind {
        InstructionKind::ConditionalBranch => Some(BranchKind::Conditional),
        InstructionKind::DirectJump => Some(BranchKind::Jump),
        InstructionKind::IndirectJump => Some(BranchKind::IndirectJump),
        InstructionKind::DirectCall => Some(BranchKind::Call),
        InstructionKind::IndirectCall => Some(BranchKind::IndirectCall),
        InstructionKind::Return => Some(BranchKind::Return),
        InstructionKind::Other | InstructionKind::SystemCall | InstructionKind::Repetition => None,
    }
}

/// The branches of one stream of machine code, in order. Damaged chunks are left out.
pub struct MachineBranches<'a> {
    flow: &'a MachineFlow,
    trace: &'a Trace,
    stream: &'a Stream,
    observer: &'a dyn Observer,
    /// The last block, if it ends with a branch and what follows it isn't known yet.
    pending: Option<BlockFlow>,
    /// Instructions since the last event.
    instructions: u32,
    unresolved: Unresolved,
    damage: Vec<TraceError>,
}

impl MachineBranches<'_> {
    /// The branches whose outcomes are unknown, after all have been passed on.
    pub fn unresolved(&self) -> Unresolved {
        self.unresolved
    }

    /// What could not be read.
    pub fn into_damage(self) -> Vec<TraceError> {
        self.damage
    }

    fn read_chunks(&mut self, take: &mut dyn FnMut(&BranchEvent)) {
        let mut expected = None;
        let observer = self.observer;
        for chunk in self.stream.chunks.iter().take_while(|_| !observer.is_stopped()) {
            let sequence = chunk.header.sequence;
            if expected.is_some_and(|expected| expected != sequence) || self.is_behind_gap(sequence) {
                self.lose_pending(take);
            }
            if let Err(error) = self.read_chunk(chunk, take) {
                self.damage.push(error);
                self.lose_pending(take);
            }
            // At the end of a swept buffer, it isn't known whether the last block was executed to its end.
            if chunk.header.is_tail() {
                self.lose_pending(take);
            }
            expected = sequence.checked_add(1);
            self.observer.advance(0, chunk.header.raw_length.into());
        }
    }

    fn is_behind_gap(&self, sequence: u64) -> bool {
        let here =
            |gap: &trackway_trace::Gap| gap.stream == self.stream.id && gap.before_sequence == sequence;
        self.trace.gaps().iter().any(here)
    }

    fn read_chunk(
        &mut self,
        chunk: &trackway_trace::ChunkRef,
        take: &mut dyn FnMut(&BranchEvent),
    ) -> Result<(), TraceError> {
        let mut blocks = ExecutedBlocks::of_chunk(self.trace, chunk)?;
        while let Some(id) = blocks.next_block()? {
            let flow = self.flow;
            let basic_blocks = flow.blocks.get(id.index()).cloned().unwrap_or_default();
            for block in &flow.basic_blocks[basic_blocks] {
                self.execute(*block, take);
            }
        }
        Ok(())
    }

    fn execute(&mut self, block: BlockFlow, take: &mut dyn FnMut(&BranchEvent)) {
        if let Some(branch) = self.pending.take() {
            self.follow(&branch, block.start, take);
        }
        self.instructions = self.instructions.saturating_add(block.instructions);
        self.pending = block.kind.map(|_| block);
    }

    /// The branch, now that it is known what came after it.
    fn follow(&mut self, branch: &BlockFlow, next: u64, take: &mut dyn FnMut(&BranchEvent)) {
        if branch.kind != Some(BranchKind::Conditional) {
            return self.emit(branch, true, next, take);
        }
        if branch.target == branch.fall_through {
            self.unresolved.indistinct += 1;
        } else if next == branch.fall_through {
            self.emit(branch, false, branch.target, take);
        } else if branch.target == 0 {
            self.unresolved.assumed_taken += 1;
            self.emit(branch, true, next, take);
        } else if next == branch.target {
            self.emit(branch, true, next, take);
        } else {
            // A signal's handler, or what the kernel made the thread do otherwise.
            self.unresolved.interrupted += 1;
        }
    }

    /// Nothing is known to follow the last block.
    fn lose_pending(&mut self, take: &mut dyn FnMut(&BranchEvent)) {
        match self.pending.take() {
            Some(branch) if branch.kind == Some(BranchKind::Conditional) => self.unresolved.cut_off += 1,
            Some(branch) => self.emit(&branch, true, branch.target, take),
            None => {}
        }
    }

    fn emit(&mut self, branch: &BlockFlow, taken: bool, target: u64, take: &mut dyn FnMut(&BranchEvent)) {
        if let Some(kind) = branch.kind {
            take(&BranchEvent {
                address: branch.address,
                kind,
                taken,
                target,
                instructions: std::mem::take(&mut self.instructions),
            });
        }
    }
}

impl BranchSource for MachineBranches<'_> {
    type Error = Infallible;

    fn for_each(&mut self, take: &mut dyn FnMut(&BranchEvent)) -> Result<(), Infallible> {
        self.read_chunks(take);
        self.lose_pending(take);
        self.unresolved.instructions_behind = u64::from(std::mem::take(&mut self.instructions));
        Ok(())
    }
}
