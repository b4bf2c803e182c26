//! Instructions and accesses of a stream of machine code, in one order.

use std::ops::Range;

use super::ExecutedBlocks;
use crate::decoder::Suspended;
use crate::merge::MergedTable;
use crate::table::{Operation, Segment};
use crate::{ChunkRef, Decoder, InstructionId, MachineBlockId, SiteId, Trace, TraceError};

/// How many accesses each instruction of each block makes, and for which of them that depends on the execution. Its
/// memory grows with the operations of the tables. It doesn't grow with the instructions of blocks, since many blocks
/// may share a few.
#[derive(Debug, Default)]
pub struct OperandCounts {
    /// For each block, where its instructions begin in `counts`.
    first: Vec<usize>,
    counts: Vec<Operands>,
}

/// The accesses of an instruction that makes some.
#[derive(Clone, Copy, Debug)]
struct Operands {
    instruction: u32,
    /// None if each execution makes its own number of accesses.
    count: Option<u32>,
}

impl OperandCounts {
    pub fn of(trace: &Trace) -> Self {
        let mut counts = OperandCounts::default();
        for table in &trace.loaded().tables {
            for (segment, block) in table.segments.iter().zip(table.machine_blocks.clone()) {
                counts.add_block(trace, table, segment, block);
            }
        }
        counts
    }

    /// Blocks come in the order of their numbers, as tables were merged.
    fn add_block(&mut self, trace: &Trace, table: &MergedTable, segment: &Segment, block: u32) {
        let start = self.counts.len();
        self.first.resize(block as usize + 1, start);
        // The last operation of a block that repeats stands for its further executions. Those are separate blocks here.
        let repeats = trace.program().machine_block(MachineBlockId(block)).repeats;
        let own = segment.operations.len() - usize::from(repeats);
        for operation in &segment.operations[..own] {
            let (site, count) = match operation {
                Operation::Access { site, .. } => (site, Some(1)),
                Operation::Masked { site, .. } | Operation::Gather { site, .. } => (site, None),
                Operation::Loop { body, .. } => match body.first() {
                    Some(Operation::Access { site, .. }) => (site, None),
                    _ => continue,
                },
                _ => continue,
            };
            let ordinal = trace.program().site(table.site(*site)).ordinal;
            let instruction = table.instructions.start + ordinal;
            match self.counts[start..].last_mut() {
                Some(last) if last.instruction == instruction => {
                    last.count = last.count.zip(count).map(|(all, one)| all + one);
                }
                _ => self.counts.push(Operands { instruction, count }),
            }
        }
    }

    fn range(&self, block: MachineBlockId) -> Range<usize> {
        let start = |block: usize| self.first.get(block).copied().unwrap_or(self.counts.len());
        start(block.index())..start(block.index() + 1)
    }
}

/// The instructions of one stream, chunk by chunk, for readers of its accesses.
#[derive(Debug)]
pub struct InstructionsInStep<'t> {
    trace: &'t Trace,
    counts: &'t OperandCounts,
    blocks: Option<ExecutedBlocks<'t>>,
    /// Instructions of the present block that are still to come.
    rest: Range<u32>,
    /// Those of them that make accesses, as indices into [`OperandCounts::counts`].
    operands: Range<usize>,
    /// Accesses that the present instruction has yet to make.
    accesses_left: u32,
    /// The present instruction, if the number of its accesses is unknown.
    makes_any: Option<InstructionId>,
}

impl<'t> InstructionsInStep<'t> {
    pub fn new(trace: &'t Trace, counts: &'t OperandCounts) -> Self {
        InstructionsInStep {
            trace,
            counts,
            blocks: None,
            rest: 0..0,
            operands: 0..0,
            accesses_left: 0,
            makes_any: None,
        }
    }

    /// Goes on with a chunk, at its beginning.
    pub fn begin_chunk(&mut self, chunk: &ChunkRef) -> Result<(), TraceError> {
        self.rest = 0..0;
        self.accesses_left = 0;
        self.makes_any = None;
        self.blocks = None;
        self.blocks = Some(ExecutedBlocks::of_chunk(self.trace, chunk)?);
        Ok(())
    }

    /// An instruction that was executed before the chunk's next access, which the instruction `accessing` makes. Before
    /// each access, call it until it returns none. The access belongs to the last instruction.
    pub fn next_before_access(
        &mut self,
        accessing: Option<InstructionId>,
    ) -> Result<Option<InstructionId>, TraceError> {
        if self.accesses_left > 0 {
            self.accesses_left -= 1;
            return Ok(None);
        }
        if self.makes_any.is_some() && self.makes_any == accessing {
            return Ok(None);
        }
        self.next_instruction()
    }

    /// The next instruction of the chunk, after its last access.
    pub fn next_instruction(&mut self) -> Result<Option<InstructionId>, TraceError> {
        while self.rest.is_empty() {
            let Some(blocks) = &mut self.blocks else {
                return Ok(None);
            };
            match blocks.next_block() {
                Ok(Some(block)) => {
                    self.rest = self.trace.program().machine_block(block).instructions.clone();
                    self.operands = self.counts.range(block);
                }
                end => {
                    self.blocks = None;
                    return end.map(|_| None);
                }
            }
        }
        let instruction = self.rest.start;
        self.rest.start += 1;
        let operands = self.counts.counts[self.operands.clone()].first();
        let own = operands.filter(|operands| operands.instruction == instruction);
        self.operands.start += usize::from(own.is_some());
        let count = own.map_or(Some(0), |operands| operands.count);
        self.accesses_left = count.unwrap_or(0);
        self.makes_any = count.is_none().then_some(InstructionId(instruction));
        Ok(Some(InstructionId(instruction)))
    }
}

/// Something that a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeStep {
    Instruction(InstructionId),
    /// An access by the instruction before it.
    Access {
        site: SiteId,
        address: u64,
        /// Bytes.
        length: u64,
    },
}

/// What a stream of machine code did, one step at a time. Memory: one chunk, decompressed, and one batch.
pub struct CodeSteps<'t> {
    trace: &'t Trace,
    chunks: &'t [ChunkRef],
    decoder: Decoder<'t>,
    suspended: Option<Suspended>,
    /// The next access of the decoder's batch.
    next_access: usize,
    instructions: InstructionsInStep<'t>,
}

impl<'t> CodeSteps<'t> {
    pub fn new(trace: &'t Trace, chunks: &'t [ChunkRef], counts: &'t OperandCounts) -> Self {
        CodeSteps {
            trace,
            chunks,
            decoder: Decoder::new(trace),
            suspended: None,
            next_access: 0,
            instructions: InstructionsInStep::new(trace, counts),
        }
    }

    /// Chunks that have not begun yet.
    pub fn chunks_left(&self) -> &'t [ChunkRef] {
        self.chunks
    }

    /// The next step; none after the last. An error concerns one chunk, and ends that chunk.
    pub fn next_step(&mut self) -> Result<Option<CodeStep>, TraceError> {
        let step = self.step();
        if step.is_err() {
            self.suspended = None;
            self.next_access = self.decoder.last_batch().len();
        }
        step
    }

    fn step(&mut self) -> Result<Option<CodeStep>, TraceError> {
        loop {
            if self.has_access()? {
                let site = self.decoder.last_batch().site[self.next_access];
                let accessing = self.trace.program().instruction_of_site(site);
                let instruction = self.instructions.next_before_access(accessing)?;
                return Ok(Some(match instruction {
                    Some(instruction) => CodeStep::Instruction(instruction),
                    None => self.access(),
                }));
            }
            // No access after the last instruction: the chunk ends here.
            if let Some(instruction) = self.instructions.next_instruction()? {
                return Ok(Some(CodeStep::Instruction(instruction)));
            }
            let Some((chunk, rest)) = self.chunks.split_first() else {
                return Ok(None);
            };
            self.chunks = rest;
            self.instructions.begin_chunk(chunk)?;
            self.suspended = Some(self.decoder.decode(chunk)?.suspend());
            self.next_access = 0;
        }
    }

    /// Whether the chunk has one to come, at `next_access` of the decoder's batch.
    fn has_access(&mut self) -> Result<bool, TraceError> {
        while self.next_access >= self.decoder.last_batch().len() {
            let Some(suspended) = self.suspended.take() else {
                return Ok(false);
            };
            let mut batches = self.decoder.resume(suspended);
            self.next_access = 0;
            if batches.next_batch()?.is_some() {
                self.suspended = Some(batches.suspend());
            }
        }
        Ok(true)
    }

    fn access(&mut self) -> CodeStep {
        let batch = self.decoder.last_batch();
        let index = self.next_access;
        self.next_access += 1;
        CodeStep::Access {
            site: batch.site[index],
            address: batch.address[index],
            length: batch.length(index),
        }
    }
}
