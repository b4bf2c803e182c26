//! Dealing accesses out to the parts of the lines.

use trackway_trace::{Batch, Piece};

use super::block::{Origin, Writer};
use super::Partitioned;

/// A block is passed on with the segment that brings it to this many bytes. It is large enough for an engine's rows,
/// and small enough for its buffers.
const BLOCK_BYTES: usize = 256 << 10;

/// Deals out the accesses of a task. An access goes to all parts whose lines it touches, a run to all.
pub(super) struct Sieve {
    shift: u32,
    mask: u64,
    times: bool,
    parts: Vec<Writer>,
    /// Stream of all blocks of the task; 0 if they hold several streams.
    stream: u32,
    /// Number of the next block.
    number: u64,
    /// What the open segments hold.
    open: Option<(u32, Origin)>,
}

impl Sieve {
    /// `first`: the position of the first chunk in its stream.
    pub fn new(shift: u32, parts: u32, times: bool, sites: usize, stream: u32, first: u64) -> Sieve {
        Sieve {
            shift,
            mask: u64::from(parts) - 1,
            times,
            parts: (0..parts).map(|_| Writer::new(sites)).collect(),
            stream,
            number: first << 32,
            open: None,
        }
    }

    pub fn take(&mut self, batch: &Batch, emit: &mut dyn FnMut(Partitioned)) {
        match self.times {
            true => self.take_intervals(batch),
            false => self.take_pieces(batch),
        }
        if self.parts.iter().any(|part| part.open_len() >= BLOCK_BYTES) {
            self.end_segments();
            self.emit_from(BLOCK_BYTES, emit);
        }
    }

    /// Takes the accesses of a merged batch, which has no runs.
    fn take_intervals(&mut self, batch: &Batch) {
        let mut first = 0;
        for (_, interval) in batch.intervals() {
            self.come_to(batch, (interval.first_ns, interval.last_ns));
            let accesses = std::mem::replace(&mut first, interval.end)..interval.end;
            accesses.for_each(|index| self.access(batch, index as usize));
        }
    }

    fn take_pieces(&mut self, batch: &Batch) {
        self.come_to(batch, (0, 0));
        for piece in batch.pieces() {
            match piece {
                Piece::Accesses(range) => range.for_each(|index| self.access(batch, index)),
                Piece::Run(run) => {
                    let lanes = batch.lanes(run);
                    self.parts.iter_mut().for_each(|part| part.run(lanes, run.count));
                }
            }
        }
    }

    /// Ends the open segments if what comes next has another origin.
    fn come_to(&mut self, batch: &Batch, (first_ns, last_ns): (u64, u64)) {
        let origin = Origin {
            process: batch.process,
            first_ns,
            last_ns,
        };
        if self.open.is_some_and(|open| open != (batch.stream, origin)) {
            self.end_segments();
        }
        self.open = Some((batch.stream, origin));
    }

    #[inline(always)]
    fn access(&mut self, batch: &Batch, index: usize) {
        let (site, address, length) = (batch.site[index].0, batch.address[index], batch.length(index));
        let last_byte = address.saturating_add(length.saturating_sub(1));
        let (first, last) = (address >> self.shift, last_byte >> self.shift);
        if first == last {
            return self.parts[(first & self.mask) as usize].access(site, address, length);
        }
        for line in first..=last.min(first.saturating_add(self.mask)) {
            self.parts[(line & self.mask) as usize].access(site, address, length);
        }
    }

    fn end_segments(&mut self) {
        if let Some((stream, origin)) = self.open.take() {
            self.parts
                .iter_mut()
                .for_each(|part| part.end_segment(stream, origin));
        }
    }

    /// Passes on the blocks that have this many bytes.
    fn emit_from(&mut self, bytes: usize, emit: &mut dyn FnMut(Partitioned)) {
        for (number, part) in (0u32..).zip(&mut self.parts) {
            if part.len() >= bytes {
                emit(Partitioned {
                    part: number,
                    stream: self.stream,
                    number: self.number,
                    block: part.take(),
                });
                self.number += 1;
            }
        }
    }

    pub fn finish(mut self, emit: &mut dyn FnMut(Partitioned)) {
        self.end_segments();
        self.emit_from(1, emit);
    }
}
