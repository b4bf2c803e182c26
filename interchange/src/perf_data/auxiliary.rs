//! What processors wrote by themselves, as files of `perf record` hold it: Arm's Statistical Profiling Extension.

use std::ops::Range;

use trackway_sampler::record::{AuxiliaryRecord, PerfSample};
use trackway_sampler::spe::{DataSources, SpeReader, Stretch, TimerClock};

use super::file::{number, PerfData};
use crate::ImportError;

/// Kinds of perf's own records.
const INFO: u32 = 70;
pub const BLOCK: u32 = 71;
const TIME_CONVERSION: u32 = 79;
/// Whose content it is, in the record of kind [`INFO`].
const ARM_SPE: u64 = 4;
/// Begins what a newer perf says of each processor; its MIDR_EL1 is three words on.
const PROCESSOR_MARK: u64 = 0x1010_1010_1010_1010;
const NO_PROCESSOR: u32 = u32::MAX;

/// The content of the buffers, and how it is read.
#[derive(Debug, Default)]
pub struct AuxiliaryContent {
    is_spe: bool,
    clock: Option<TimerClock>,
    sources: DataSources,
    blocks: Vec<Block>,
}

/// A part of a processor's buffer, or of a thread's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    processor: u32,
    tid: u32,
    /// Of its first byte, from the first one ever written.
    offset: u64,
    /// In the file.
    bytes: Range<usize>,
}

impl AuxiliaryContent {
    /// Of the whole file.
    ///
    /// # Errors
    /// If a block is cut off.
    pub fn of(data: &PerfData) -> Result<Self, ImportError> {
        let mut content = AuxiliaryContent::default();
        data.each(|offset, header, record| {
            let word = |at: usize| record.get(at..at + 8).map_or(0, number);
            let half = |at: usize| record.get(at..at + 4).map_or(0, number) as u32;
            match header.kind {
                INFO => {
                    content.is_spe = word(8) & u64::from(u32::MAX) == ARM_SPE;
                    content.sources = sources(record);
                }
                TIME_CONVERSION => content.clock = clock(word(8), word(16), word(24)),
                BLOCK => {
                    let begin = offset + header.length;
                    let bytes = data.range(begin, word(8))?;
                    content.blocks.push(Block {
                        processor: half(40),
                        tid: half(36),
                        offset: word(16),
                        bytes,
                    });
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(content)
    }

    /// The samples of a stretch that a record tells of, each of which stands for `period` operations, and how many
    /// places can't be read. None if the file doesn't hold it, or holds it of another kind.
    pub fn samples(
        &self,
        data: &PerfData,
        told: &AuxiliaryRecord,
        period: u64,
    ) -> Option<(Vec<PerfSample>, u64)> {
        let block = self.blocks.iter().find(|block| block.holds(told))?;
        if !self.is_spe {
            return None;
        }
        let bytes = data.bytes_at(block.bytes.clone());
        let begin = usize::try_from(told.offset - block.offset).ok()?;
        let end = begin.saturating_add(usize::try_from(told.length).ok()?);
        let reader = SpeReader {
            clock: self.clock,
            has_perfs_clock: true,
            sources: self.sources,
            period,
        };
        // Without identities in records, the thread is that of the block.
        let (pid, tid) = match told.tid {
            0 => (block.tid, block.tid),
            tid => (told.pid, tid),
        };
        let stretch = Stretch {
            id: told.id,
            pid,
            tid,
            processor: told.processor,
            time_ns: told.time_ns,
        };
        Some(reader.samples(bytes.get(begin..end)?, &stretch))
    }
}

impl Block {
    fn holds(&self, told: &AuxiliaryRecord) -> bool {
        let is_of_it = match self.processor {
            NO_PROCESSOR => self.tid == told.tid,
            processor => processor == told.processor,
        };
        let end = self.offset.saturating_add(self.bytes.len() as u64);
        is_of_it && (self.offset..end).contains(&told.offset)
    }
}

fn clock(shift: u64, multiplier: u64, zero_ns: u64) -> Option<TimerClock> {
    let multiplier = u32::try_from(multiplier)
        .ok()
        .filter(|multiplier| *multiplier > 0)?;
    Some(TimerClock {
        zero_ns,
        multiplier,
        shift: u16::try_from(shift).ok()?,
    })
}

/// By the first processor that is described.
fn sources(record: &[u8]) -> DataSources {
    let words: Vec<u64> = record.chunks_exact(8).map(number).collect();
    let mark = words.iter().position(|word| *word == PROCESSOR_MARK);
    let midr = mark.and_then(|mark| words.get(mark + 3));
    midr.map_or(DataSources::Unknown, |midr| DataSources::of_processor(*midr))
}
