//! The findings of [`Sharing`] on their way to another process.

use serde::{Deserialize, Serialize};
use trackway_trace::{Program, SiteId};

use super::lines::{Lines, PackedLine};
use super::passages::{Passage, Passages};
use super::{LineTransfers, Sharing, SharingShard};
use crate::engine::partial::{Division, LineDivision, PartialError, Portable};
use crate::WorkPart;

/// Cache lines are dealt out to at most this many parts.
const MOST_PARTS: u32 = 1 << 12;

/// What a shard of [`Sharing`] has found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackedSharing {
    /// Lines that threads took from each other, by address.
    lines: Vec<PackedLine>,
    /// How many lines no thread took from another one.
    other_lines: u64,
    /// Lines are numbered by their positions in `lines`.
    passages: Vec<([u32; 5], LineTransfers)>,
}

impl Portable for Sharing {
    type Packed = PackedSharing;

    fn division(&self) -> Division {
        Division {
            ranges: None,
            lines: Some(LineDivision {
                shift: self.line_bytes.trailing_zeros(),
                most_parts: MOST_PARTS,
                times: true,
            }),
        }
    }

    /// Ranges by themselves find nothing.
    fn start_range(&self) -> SharingShard {
        SharingShard::new(WorkPart::WHOLE)
    }

    fn start_lines(&self, part: WorkPart) -> SharingShard {
        SharingShard::new(part)
    }

    fn pack(&self, shard: SharingShard) -> PackedSharing {
        let shard = shard.in_order();
        let kept = shard.lines.all().len();
        PackedSharing {
            lines: (0..kept as u32).map(|line| shard.lines.pack(line)).collect(),
            other_lines: shard.lines.count() - kept as u64,
            passages: shard
                .passages
                .packed()
                .into_iter()
                .map(|(passage, counts)| (passage.into(), counts))
                .collect(),
        }
    }

    fn unpack(&self, packed: PackedSharing, program: &Program) -> Result<SharingShard, PartialError> {
        let (lines, sites) = (packed.lines.len(), program.sites.len());
        let passage = |(numbers, counts)| {
            let passage = Passage::from(numbers);
            let known =
                (passage.line as usize) < lines && passage.from.index().max(passage.to.index()) < sites;
            known
                .then_some((passage, counts))
                .ok_or(PartialError::DoesNotFit {
                    what: "it has sites or cache lines that aren't known",
                })
        };
        let passages: Result<Vec<_>, _> = packed.passages.into_iter().map(passage).collect();
        let lines = Lines::unpack(packed.lines, packed.other_lines);
        Ok(SharingShard {
            lines: lines.ok_or(PartialError::DoesNotFit {
                what: "it has a cache line without accesses",
            })?,
            passages: Passages::unpack(passages?),
            moments: None,
            part: WorkPart::WHOLE,
        })
    }
}

impl From<Passage> for [u32; 5] {
    fn from(passage: Passage) -> [u32; 5] {
        let Passage {
            line,
            from,
            to,
            from_thread,
            to_thread,
        } = passage;
        [line, from.0, to.0, from_thread, to_thread]
    }
}

impl From<[u32; 5]> for Passage {
    fn from([line, from, to, from_thread, to_thread]: [u32; 5]) -> Passage {
        Passage {
            line,
            from: SiteId(from),
            to: SiteId(to),
            from_thread,
            to_thread,
        }
    }
}
