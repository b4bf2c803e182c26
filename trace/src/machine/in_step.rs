//! Instructions and accesses of a stream of machine code, in one order.

use std::ops::Range;

use super::ExecutedBlocks;
use crate::decoder::Suspended;
use crate::merge::MergedTable;
use crate::table::Operation;
use crate::{ChunkRef, Decoder, InstructionId, MachineBlockId, SiteId, Trace, TraceError};

/// How many accesses each instruction of each block makes. Operations whose number of accesses depends on the execution
/// count as none: no collector of machine code writes them.
#[derive(Debug, Default)]
pub struct OperandCounts {
    /// Of each block, where its instructions begin in `counts`.
    first: Vec<u32>,
    counts: Vec<u16>,
}

impl OperandCounts {
    pub fn of(trace: &Trace) -> Self {
        let program = trace.program();
        let lengths = program
            .machine_blocks
            .iter()
            .map(|block| block.instructions.len());
        let mut first = vec![0];
        for length in lengths {
            first.push(first.last().copied().unwrap_or(0) + length as u32);
        }
        let mut counts = OperandCounts {
            counts: vec![0; first.last().copied().unwrap_or(0) as usize],
            first,
        };
        for table in &trace.loaded().tables {
            counts.add_table(trace, table);
        }
        counts
    }

    fn add_table(&mut self, trace: &Trace, table: &MergedTable) {
        let program = trace.program();
        for (segment, block) in table.segments.iter().zip(table.machine_blocks.clone()) {
            let block = MachineBlockId(block);
            let first_instruction = program.machine_block(block).instructions.start;
            for operation in &segment.operations {
                let Operation::Access { site, .. } = operation else {
                    continue;
                };
                let ordinal = program.site(table.site(*site)).ordinal;
                let place = (table.instructions.start + ordinal).checked_sub(first_instruction);
                let range = self.range(block);
                let count = place.and_then(|place| self.counts[range].get_mut(place as usize));
                if let Some(count) = count {
                    *count = count.saturating_add(1);
                }
            }
        }
    }

    fn range(&self, block: MachineBlockId) -> Range<usize> {
        self.first[block.index()] as usize..self.first[block.index() + 1] as usize
    }
}

/// The instructions of one stream, chunk by chunk, for a reader who goes over its accesses.
#[derive(Debug)]
pub struct InstructionsInStep<'t> {
    trace: &'t Trace,
    counts: &'t OperandCounts,
    blocks: Option<ExecutedBlocks<'t>>,
    /// Of the present block, those to come.
    rest: Range<u32>,
    /// Where the counts of the first one of them stand.
    next_count: usize,
    /// That the present instruction has yet to make.
    accesses_left: u16,
}

impl<'t> InstructionsInStep<'t> {
    pub fn new(trace: &'t Trace, counts: &'t OperandCounts) -> Self {
        InstructionsInStep {
            trace,
            counts,
            blocks: None,
            rest: 0..0,
            next_count: 0,
            accesses_left: 0,
        }
    }

    /// Goes on with a chunk, at its beginning.
    pub fn begin_chunk(&mut self, chunk: &ChunkRef) -> Result<(), TraceError> {
        self.rest = 0..0;
        self.accesses_left = 0;
        self.blocks = None;
        self.blocks = Some(ExecutedBlocks::of_chunk(self.trace, chunk)?);
        Ok(())
    }

    /// To be called until it gives none, before each access of the chunk: an instruction that was executed before that
    /// access. The access is of the last one.
    pub fn next_before_access(&mut self) -> Result<Option<InstructionId>, TraceError> {
        if self.accesses_left > 0 {
            self.accesses_left -= 1;
            return Ok(None);
        }
        self.next_instruction()
    }

    /// The next instruction of the chunk, behind its last access.
    pub fn next_instruction(&mut self) -> Result<Option<InstructionId>, TraceError> {
        while self.rest.is_empty() {
            let Some(blocks) = &mut self.blocks else {
                return Ok(None);
            };
            match blocks.next_block() {
                Ok(Some(block)) => {
                    self.rest = self.trace.program().machine_block(block).instructions.clone();
                    self.next_count = self.counts.range(block).start;
                }
                end => {
                    self.blocks = None;
                    return end.map(|_| None);
                }
            }
        }
        let instruction = self.rest.start;
        self.accesses_left = self.counts.counts[self.next_count];
        self.rest.start += 1;
        self.next_count += 1;
        Ok(Some(InstructionId(instruction)))
    }
}

/// Something that a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeStep {
    Instruction(InstructionId),
    /// By the instruction before it.
    Access {
        site: SiteId,
        address: u64,
        /// Bytes.
        length: u64,
    },
}

/// What a stream of machine code did, one step at a time. Memory: one chunk, decompressed, and one batch.
pub struct CodeSteps<'t> {
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

    /// The next step; none after the last. An error is about one chunk, of which nothing more comes.
    pub fn next_step(&mut self) -> Result<Option<CodeStep>, TraceError> {
        loop {
            if let Some(instruction) = self.instructions.next_before_access()? {
                return Ok(Some(CodeStep::Instruction(instruction)));
            }
            if let Some(access) = self.next_of_batch()? {
                return Ok(Some(access));
            }
            // No access behind the last instruction: the chunk ends here.
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

    fn next_of_batch(&mut self) -> Result<Option<CodeStep>, TraceError> {
        while self.next_access >= self.decoder.last_batch().len() {
            let Some(suspended) = self.suspended.take() else {
                return Ok(None);
            };
            let mut batches = self.decoder.resume(suspended);
            self.next_access = 0;
            if batches.next_batch()?.is_some() {
                self.suspended = Some(batches.suspend());
            }
        }
        let batch = self.decoder.last_batch();
        let index = self.next_access;
        self.next_access += 1;
        Ok(Some(CodeStep::Access {
            site: batch.site[index],
            address: batch.address[index],
            length: batch.length(index),
        }))
    }
}
