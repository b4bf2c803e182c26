//! Which blocks are arrays of which structure: told by the fields that are accessed in them.

use std::collections::HashMap;
use std::sync::Mutex;

use trackway_trace::{Batch, Trace};

use super::blocks::{static_blocks, Blocks, Change, Numbering};
use crate::structures::Structures;
use crate::{Analysis, Findings, Order};

/// A site is asked so often about each block that it comes to.
const VOTES: u8 = 64;

/// What a block is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// No field of a known place was accessed in it.
    #[default]
    Unknown,
    /// Objects of that structure, one behind the other, from `phase` bytes (less than one object) on.
    Array { structure: u32, phase: u64 },
    /// Objects of several structures, or at odd places.
    Mixed,
}

/// The purposes of all blocks, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Purposes {
    list: Vec<Purpose>,
}

impl Purposes {
    pub fn of(&self, number: u64) -> Purpose {
        self.list.get(number as usize).copied().unwrap_or_default()
    }

    fn get_mut(&mut self, number: u64) -> &mut Purpose {
        let index = number as usize;
        if self.list.len() <= index {
            self.list.resize(index + 1, Purpose::Unknown);
        }
        &mut self.list[index]
    }

    #[cfg(test)]
    pub fn from_list(list: Vec<Purpose>) -> Purposes {
        Purposes { list }
    }

    pub fn all(&self) -> &[Purpose] {
        &self.list
    }
}

/// Goes once over the trace; what it finds is [`Survey::purposes`].
pub(super) struct Survey<'s> {
    trace: &'s Trace,
    structures: &'s Structures,
    found: Mutex<Purposes>,
}

pub(super) struct SurveyShard {
    numbering: Numbering,
    processes: HashMap<u32, Blocks<Candidate>>,
    purposes: Purposes,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    number: u64,
    /// The site that asked last, and how often.
    site: u32,
    votes: u8,
}

impl<'s> Survey<'s> {
    pub fn new(trace: &'s Trace, structures: &'s Structures) -> Self {
        Survey {
            trace,
            structures,
            found: Mutex::default(),
        }
    }

    pub fn purposes(self) -> Purposes {
        self.found
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn begin(&self, shard: &mut SurveyShard, batch: &Batch) {
        let program = self.trace.program();
        shard.processes.entry(batch.process).or_insert_with(|| {
            let mut blocks = Blocks::new(program.sites.len());
            for change in static_blocks(program) {
                apply(&mut blocks, change);
            }
            blocks
        });
    }

    fn vote(&self, purposes: &mut Purposes, candidate: &mut Candidate, site: u32, inside: u64) {
        let Some(field) = &self.structures.sites[site as usize] else {
            return;
        };
        if candidate.site == site {
            if candidate.votes == VOTES {
                return;
            }
            candidate.votes += 1;
        } else {
            candidate.site = site;
            candidate.votes = 0;
        }
        let purpose = purposes.get_mut(candidate.number);
        *purpose = judge(self.structures, *purpose, field.structure, field.offset, inside);
    }
}

/// What a block is for, given one more access `inside` bytes behind its start.
fn judge(
    structures: &Structures,
    purpose: Purpose,
    structure: usize,
    offset: Option<u64>,
    inside: u64,
) -> Purpose {
    let size = structures.list[structure].size;
    let phase = offset
        .map(|offset| inside.wrapping_sub(offset) as i64)
        .map(|start| start.rem_euclid(size as i64) as u64);
    let own = phase.map_or(Purpose::Unknown, |phase| Purpose::Array {
        structure: structure as u32,
        phase,
    });
    match purpose {
        Purpose::Mixed => Purpose::Mixed,
        Purpose::Unknown => own,
        Purpose::Array { structure: known, .. } if known as usize == structure => match own {
            Purpose::Unknown => purpose,
            _ if own == purpose => purpose,
            _ => Purpose::Mixed,
        },
        Purpose::Array { structure: known, .. } if structures.contains(known as usize, structure) => purpose,
        Purpose::Array { structure: known, .. } if structures.contains(structure, known as usize) => {
            match own {
                Purpose::Unknown => Purpose::Mixed,
                own => own,
            }
        }
        Purpose::Array { .. } => Purpose::Mixed,
    }
}

fn apply(blocks: &mut Blocks<Candidate>, change: Change) {
    match change {
        Change::Begins {
            number,
            start,
            length,
        } => {
            let candidate = Candidate {
                number,
                site: u32::MAX,
                votes: 0,
            };
            blocks.begin(start, length, candidate);
        }
        Change::Ends { start } => blocks.end(start),
    }
}

/// One shard for all: the order of allocations counts.
pub(super) fn order_of(trace: &Trace) -> Order {
    match trace.streams().len() {
        0 | 1 => Order::PerStream,
        _ => Order::AcrossThreads,
    }
}

impl Analysis for Survey<'_> {
    type Shard = SurveyShard;

    fn order(&self) -> Order {
        order_of(self.trace)
    }

    fn start_shard(&self) -> SurveyShard {
        SurveyShard {
            numbering: Numbering::new(self.trace.program()),
            processes: HashMap::new(),
            purposes: Purposes::default(),
        }
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        self.begin(shard, batch);
        let Some(blocks) = shard.processes.get_mut(&batch.process) else {
            return;
        };
        let mut marks = batch.marks.iter().peekable();
        for (index, (site, &address)) in batch.site.iter().zip(&batch.address).enumerate() {
            while let Some(mark) = marks.next_if(|mark| mark.before as usize <= index) {
                let changes = shard.numbering.changes(batch.event(*mark));
                changes
                    .into_iter()
                    .flatten()
                    .for_each(|change| apply(blocks, change));
            }
            if self.structures.sites[site.index()].is_some() {
                if let Some((start, candidate)) = blocks.at(site.index(), address) {
                    self.vote(&mut shard.purposes, candidate, site.0, address - start);
                }
            }
        }
        for mark in marks {
            let changes = shard.numbering.changes(batch.event(*mark));
            changes
                .into_iter()
                .flatten()
                .for_each(|change| apply(blocks, change));
        }
    }

    /// One of them took all batches.
    fn merge(&self, into: &mut SurveyShard, from: SurveyShard) {
        if into.processes.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, shard: SurveyShard, _: &Trace) -> Findings {
        let mut found = self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *found = shard.purposes;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structures::{test_structure, test_structures};

    #[test]
    fn fields_at_odd_places_are_of_no_array() {
        let structures = test_structures(test_structure(&[8, 8, 8]));
        let array = |phase| Purpose::Array { structure: 0, phase };
        let judged = |accesses: &[(Option<u64>, u64)]| {
            let next = |purpose, &(offset, inside): &(Option<u64>, u64)| {
                judge(&structures, purpose, 0, offset, inside)
            };
            accesses.iter().fold(Purpose::Unknown, next)
        };
        assert_eq!(judged(&[(Some(0), 0), (Some(8), 32), (Some(16), 64)]), array(0));
        assert_eq!(judged(&[(Some(8), 16), (Some(0), 32)]), array(8));
        assert_eq!(judged(&[(Some(0), 0), (Some(0), 8)]), Purpose::Mixed);
        assert_eq!(judged(&[(None, 4)]), Purpose::Unknown);
        assert_eq!(judged(&[(Some(0), 0), (None, 4)]), array(0));
    }
}
