//! The branches of programs that the compiler pass records. Each record says which pieces of code were executed. If
//! only one way without a record leads from a piece to the next, it shows how each branch on that way went.

mod entered;
mod follow;
mod leaves;
mod ways;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::num::NonZeroUsize;

use trackway_trace::flow::{ExecutedRecord, ExecutedRecords, FlowPiece};
use trackway_trace::table::PieceEnd;
use trackway_trace::{
    AllocationSiteId, ChunkRef, FunctionId, LocationId, Program, Stream, StringId, Trace, TraceError,
};

use super::event::{BranchEvent, BranchSource};
use super::unresolved::Unresolved;
use crate::Observer;
pub use follow::Caller;
use follow::Stack;

/// Bytes that an instruction is taken to have, as addresses of recorded programs are made up.
const INSTRUCTION_BYTES: u64 = 4;
const FUNCTION_ALIGNMENT: u64 = 16;

/// What all streams of a trace need to know of its functions.
#[derive(Debug)]
pub struct RecordedFlow<'p> {
    program: &'p Program,
    /// For each function, the addresses of its pieces' ends.
    ends: Vec<Vec<u64>>,
    /// Names of the functions that record whenever they are called.
    recording: HashSet<StringId>,
    /// Functions that other definitions may replace, but whose recording definition was entered, by name.
    entered: HashSet<StringId>,
    /// Pieces that the record of each function and segment stands for; none if it describes no flow.
    chains: Vec<Vec<Vec<u32>>>,
    /// The conditional branches by address.
    branches: HashMap<u64, (FunctionId, u32)>,
}

impl<'p> RecordedFlow<'p> {
    pub fn new(program: &'p Program) -> Self {
        let mut flow = RecordedFlow {
            program,
            ends: Vec::with_capacity(program.flows.len()),
            recording: HashSet::new(),
            entered: HashSet::new(),
            chains: Vec::with_capacity(program.flows.len()),
            branches: HashMap::new(),
        };
        let mut next = FUNCTION_ALIGNMENT;
        for number in 0..program.flows.len() {
            flow.add(FunctionId(number as u32), &mut next);
        }
        flow
    }

    /// Reads all records to learn which definitions the linker chose. A function that was entered once records whenever
    /// it is called by its name, as an object has one definition of a name.
    #[must_use]
    pub fn with_entered(mut self, trace: &Trace, threads: NonZeroUsize, observer: &dyn Observer) -> Self {
        let flows = self.program.flows.iter();
        let pieces = flows.flat_map(|flow| &flow.pieces);
        let replaceable = pieces.filter(|piece| piece.end == PieceEnd::CallsIndirectly);
        let mut names: HashSet<StringId> = replaceable.map(|piece| piece.callee).collect();
        names.retain(|name| !self.program.string(*name).is_empty());
        self.entered = entered::functions(trace, &names, threads, observer);
        self
    }

    /// Functions follow each other in memory, from `next` on.
    fn add(&mut self, function: FunctionId, next: &mut u64) {
        let pieces = &self.program.flows[function.index()].pieces;
        let mut ends = Vec::with_capacity(pieces.len());
        let mut chains = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            *next += u64::from(piece.instructions) * INSTRUCTION_BYTES;
            ends.push(*next - INSTRUCTION_BYTES);
            if piece.end == PieceEnd::Branches {
                self.branches
                    .insert(*next - INSTRUCTION_BYTES, (function, number as u32));
            }
            if let Some(segment) = piece.segment {
                let segment = segment as usize;
                if chains.len() <= segment {
                    chains.resize(segment + 1, Vec::new());
                }
                chains[segment] = chain(pieces, number as u32);
            }
        }
        *next = next.next_multiple_of(FUNCTION_ALIGNMENT) + FUNCTION_ALIGNMENT;
        if !pieces.is_empty() {
            self.recording
                .insert(self.program.function(function).linkage_name);
        }
        self.ends.push(ends);
        self.chains.push(chains);
    }

    /// Whether the piece ends with a call that enters exactly one function that records, of the callee's name.
    fn surely_enters(&self, piece: &FlowPiece) -> bool {
        match piece.end {
            PieceEnd::Calls => self.recording.contains(&piece.callee),
            PieceEnd::CallsIndirectly => self.entered.contains(&piece.callee),
            _ => false,
        }
    }

    /// Whether the piece ends with a call within which nothing that records is entered.
    fn enters_nothing(&self, piece: &FlowPiece) -> bool {
        matches!(piece.end, PieceEnd::Calls | PieceEnd::CallsIndirectly)
            && !self.recording.contains(&piece.callee)
            && leaves::is_leaf(self.program.string(piece.callee))
    }

    /// Whether any function's flow is described.
    pub fn is_known(program: &Program) -> bool {
        program.flows.iter().any(|flow| !flow.pieces.is_empty())
    }

    /// Conditional branches of the program.
    pub fn branch_count(&self) -> usize {
        self.branches.len()
    }

    /// The function and the place in the source of the conditional branch at an address that a source named.
    pub fn branch(&self, address: u64) -> Option<(FunctionId, u32, LocationId)> {
        let (function, piece) = *self.branches.get(&address)?;
        let location = self.program.flows[function.index()].pieces[piece as usize].location;
        Some((function, piece, location))
    }

    fn end_address(&self, function: FunctionId, piece: u32) -> u64 {
        self.ends[function.index()][piece as usize]
    }

    fn start_address(&self, function: FunctionId, piece: u32) -> u64 {
        let instructions = self.program.flows[function.index()].pieces[piece as usize].instructions;
        let before = u64::from(instructions.max(1) - 1) * INSTRUCTION_BYTES;
        self.end_address(function, piece).wrapping_sub(before)
    }

    /// The branches of a stream.
    pub fn branches<'a>(
        &'a self,
        trace: &'a Trace,
        stream: &'a Stream,
        observer: &'a dyn Observer,
    ) -> RecordedBranches<'a> {
        RecordedBranches {
            flow: self,
            trace,
            stream,
            observer,
            stack: Stack::new(self),
            damage: Vec::new(),
        }
    }
}

/// The pieces that the record ending in this one stands for.
fn chain(pieces: &[FlowPiece], last: u32) -> Vec<u32> {
    let mut chain = vec![last];
    let mut piece = &pieces[last as usize];
    // A table may be damaged: no chain is longer than there are pieces.
    while let Some(before) = piece.continues.filter(|_| chain.len() < pieces.len()) {
        chain.push(before);
        piece = &pieces[before as usize];
    }
    chain.reverse();
    chain
}

/// The branches of one stream of recorded code, in order. Damaged chunks are left out.
pub struct RecordedBranches<'a> {
    flow: &'a RecordedFlow<'a>,
    trace: &'a Trace,
    stream: &'a Stream,
    observer: &'a dyn Observer,
    stack: Stack<'a>,
    damage: Vec<TraceError>,
}

impl RecordedBranches<'_> {
    /// The branches whose outcomes are unknown, after all have been passed on.
    pub fn unresolved(&self) -> Unresolved {
        self.stack.unresolved()
    }

    /// What could not be read.
    pub fn into_damage(self) -> Vec<TraceError> {
        self.damage
    }

    /// Passes on each allocation with its chunk and the callers of its function, from the inside out.
    pub fn for_each_allocation(
        &mut self,
        take: &mut dyn FnMut(&ChunkRef, AllocationSiteId, &mut dyn Iterator<Item = Caller>),
    ) {
        self.each_chunk(&mut |branches, chunk| {
            branches.read_chunk(chunk, &mut |_| (), &mut |stack, record| {
                for site in &record.allocations {
                    take(chunk, *site, &mut stack.callers(record.function));
                }
            })
        });
    }

    /// Calls `watch` for each record before its function is left.
    fn read_chunk(
        &mut self,
        chunk: &ChunkRef,
        take: &mut dyn FnMut(&BranchEvent),
        watch: &mut dyn FnMut(&Stack, &ExecutedRecord),
    ) -> Result<(), TraceError> {
        let mut records = ExecutedRecords::of_chunk(self.trace, chunk)?;
        let mut record = ExecutedRecord::default();
        while records.next_record(&mut record)? {
            let chains = &self.flow.chains[record.function.index()];
            match chains.get(record.segment as usize) {
                Some(chain) if !chain.is_empty() => {
                    self.stack.begin(&record, chain, take);
                    watch(&self.stack, &record);
                    self.stack.end(&record, take);
                }
                _ => {
                    self.stack.begin_elsewhere(&record);
                    watch(&self.stack, &record);
                    self.stack.end_elsewhere(&record);
                }
            }
        }
        Ok(())
    }

    fn each_chunk(&mut self, read: &mut dyn FnMut(&mut Self, &ChunkRef) -> Result<(), TraceError>) {
        let mut expected = None;
        let observer = self.observer;
        // Who called is known only if the stack was followed from the start, so a slice of the trace doesn't count here.
        let chunks = self.stream.chunks_from_start().iter();
        for chunk in chunks.take_while(|_| !observer.is_stopped()) {
            let sequence = chunk.header.sequence;
            let is_after_gap = self.trace.has_gap_before(self.stream.id, sequence);
            if expected.is_some_and(|expected| expected != sequence) || is_after_gap {
                self.stack.lose();
            }
            if let Err(error) = read(self, chunk) {
                self.damage.push(error);
                self.stack.lose();
            }
            if chunk.header.is_tail() {
                self.stack.lose();
            }
            expected = sequence.checked_add(1);
            self.observer.advance(0, chunk.header.raw_length.into());
        }
    }
}

impl BranchSource for RecordedBranches<'_> {
    type Error = Infallible;

    fn for_each(&mut self, take: &mut dyn FnMut(&BranchEvent)) -> Result<(), Infallible> {
        self.each_chunk(&mut |branches, chunk| branches.read_chunk(chunk, take, &mut |_, _| ()));
        Ok(())
    }
}
