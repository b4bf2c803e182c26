//! Which blocks are arrays of which structure: told by the fields that are accessed in them.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, BatchItem, Lane, Piece, SiteId, Trace};

use super::blocks::{static_blocks, Blocks, Change, Numbering};
use crate::engine::Observer;
use crate::model::structures::Structures;
use crate::{Analysis, Findings, Order};

/// A site's votes about a block stop after this many.
const VOTES: u8 = 64;

/// What a block is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::analyses) enum Purpose {
    /// No field of a known place was accessed in it.
    #[default]
    Unknown,
    /// Objects of that structure, one after the other, from `phase` bytes (less than one object) on.
    Array { structure: u32, phase: u64 },
    /// Objects of several structures, or at odd places.
    Mixed,
}

/// The purposes of all blocks, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::analyses) struct Purposes {
    list: Vec<Purpose>,
    /// Extents by block; none if no field was accessed in it.
    extents: Vec<Extent>,
}

/// How large a block is, and what is known of the objects in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    length: u64,
    /// Whether a field of another object than the first was accessed.
    has_several: bool,
}

impl Purposes {
    pub fn of(&self, number: u64) -> Purpose {
        self.list.get(number as usize).copied().unwrap_or_default()
    }

    fn get_mut(&mut self, number: u64) -> (&mut Purpose, &mut Extent) {
        let index = number as usize;
        if self.list.len() <= index {
            self.list.resize(index + 1, Purpose::Unknown);
            self.extents.resize(index + 1, Extent::default());
        }
        (&mut self.list[index], &mut self.extents[index])
    }

    #[cfg(test)]
    pub fn from_list(list: Vec<Purpose>) -> Purposes {
        let extents = vec![Extent::default(); list.len()];
        Purposes { list, extents }
    }

    pub fn all(&self) -> &[Purpose] {
        &self.list
    }

    /// How the objects of a structure of `size` bytes are allocated.
    pub fn objects(&self, structure: usize, size: u64) -> Objects {
        let mut objects = Objects::default();
        let mut single = BTreeSet::new();
        let (mut is_short, mut has_tail) = (false, false);
        for (purpose, extent) in self.list.iter().zip(&self.extents) {
            let phase = match purpose {
                Purpose::Array {
                    structure: known,
                    phase,
                } if *known as usize == structure => *phase,
                _ => continue,
            };
            let bytes = extent.length.saturating_sub(phase);
            objects.blocks += 1;
            objects.has_arrays |= extent.has_several;
            is_short |= bytes < size;
            if !extent.has_several && single.len() < 2 {
                single.insert(bytes);
            }
            has_tail |= !extent.has_several && !bytes.is_multiple_of(size);
        }
        objects.sizes_vary = is_short || (has_tail && single.len() > 1);
        objects
    }
}

/// How the objects of a structure are allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::analyses) struct Objects {
    pub blocks: u64,
    /// Some blocks have fewer bytes than the structure, or hold one object and more bytes after it, not always as many.
    pub sizes_vary: bool,
    /// Whether any block has several objects that are accessed.
    pub has_arrays: bool,
}

/// Goes once over the trace.
pub(in crate::analyses) fn purposes(
    structures: &Structures,
    trace: &Trace,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Purposes {
    let survey = Survey {
        trace,
        structures,
        names_field: structures.sites.iter().map(Option::is_some).collect(),
        found: Mutex::default(),
    };
    crate::run(&survey, trace, threads, observer);
    survey.found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Survey<'s> {
    trace: &'s Trace,
    structures: &'s Structures,
    /// Whether a site's accesses are to a known field.
    names_field: Vec<bool>,
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
    length: u64,
    /// The site that asked last, and how often.
    site: u32,
    votes: u8,
}

impl<'s> Survey<'s> {
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

    #[inline(always)]
    fn take(
        &self,
        purposes: &mut Purposes,
        blocks: &mut Blocks<Candidate>,
        site: SiteId,
        address: u64,
        length: impl Fn() -> u64,
    ) {
        if self.names_field[site.index()] {
            if let Some((start, candidate)) = blocks.at(site.index(), address) {
                self.vote(purposes, candidate, site.0, (address - start, length()));
            }
        }
    }

    /// A loop that names no field says nothing.
    fn take_run(&self, purposes: &mut Purposes, blocks: &mut Blocks<Candidate>, lanes: &[Lane], count: u64) {
        let names_field = |lane: &Lane| self.names_field[lane.site.index()];
        if !lanes.iter().any(names_field) {
            return;
        }
        for iteration in 0..count {
            for lane in lanes {
                let address = lane.address_in(iteration);
                self.take(purposes, blocks, lane.site, address, || lane.size.into());
            }
        }
    }

    /// Votes by an access of this many bytes, `inside` bytes past the block's start.
    fn vote(
        &self,
        purposes: &mut Purposes,
        candidate: &mut Candidate,
        site: u32,
        (inside, length): (u64, u64),
    ) {
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
        let (purpose, extent) = purposes.get_mut(candidate.number);
        if *purpose == Purpose::Mixed {
            return; // and remains so
        }
        let size = self.structures.list[field.structure].size;
        // Fills and copies of some of an object's members are named by the object.
        let is_whole = length > 0 && length.is_multiple_of(size);
        let offset = field.offset.filter(|_| !field.members.is_empty() || is_whole);
        extent.length = candidate.length;
        *purpose = judge(self.structures, *purpose, field.structure, offset, inside);
        let is_own =
            matches!(purpose, Purpose::Array { structure, .. } if *structure as usize == field.structure);
        let is_later = offset.is_some_and(|offset| inside >= offset.saturating_add(size));
        extent.has_several |= is_own && is_later;
    }
}

/// What a block is for, given one more access `inside` bytes after its start.
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
        .map(|start| match u64::try_from(start) {
            Ok(start) if start < size => start, // the first object; a division takes longer
            _ => start.rem_euclid(size as i64) as u64,
        });
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
                length,
                site: u32::MAX,
                votes: 0,
            };
            blocks.begin(start, length, candidate);
        }
        Change::Ends { start } => blocks.end(start),
    }
}

/// One shard for all: the order of allocations counts.
pub(in crate::analyses) fn order_of(trace: &Trace) -> Order {
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

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> SurveyShard {
        SurveyShard {
            numbering: Numbering::new(self.trace.program()),
            processes: HashMap::new(),
            purposes: Purposes::default(),
        }
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        self.begin(shard, batch);
        let Some(blocks) = shard.processes.get_mut(&batch.process) else {
            return;
        };
        for item in batch.items() {
            match item {
                BatchItem::Event(event) => {
                    let changes = shard.numbering.changes(event);
                    changes
                        .into_iter()
                        .flatten()
                        .for_each(|change| apply(blocks, change));
                }
                BatchItem::Accesses(Piece::Accesses(range)) => {
                    for index in range {
                        let (site, address) = (batch.site[index], batch.address[index]);
                        self.take(&mut shard.purposes, blocks, site, address, || batch.length(index));
                    }
                }
                BatchItem::Accesses(Piece::Run(run)) => {
                    self.take_run(&mut shard.purposes, blocks, batch.lanes(run), run.count);
                }
            }
        }
    }

    /// One of them took all batches.
    fn merge(&self, into: &mut SurveyShard, from: SurveyShard) {
        if into.processes.is_empty() {
            *into = from;
        }
    }

    fn finish(&self, shard: SurveyShard, _: &Trace) -> Findings {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *found = shard.purposes;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::structures::{test_structure, test_structures};

    /// Blocks of these lengths, each with whether several objects are in it; objects have 24 bytes.
    fn vary(blocks: &[(u64, bool)]) -> bool {
        let mut purposes = Purposes::default();
        for (number, (length, has_several)) in blocks.iter().enumerate() {
            let (purpose, extent) = purposes.get_mut(number as u64);
            *purpose = Purpose::Array {
                structure: 0,
                phase: 0,
            };
            *extent = Extent {
                length: *length,
                has_several: *has_several,
            };
        }
        purposes.objects(0, 24).sizes_vary
    }

    #[test]
    fn sizes_vary_with_tails_and_missing_ends() {
        assert!(vary(&[(24, false), (16, false)]), "less than the structure");
        assert!(vary(&[(30, false), (41, false)]), "tails");
        assert!(vary(&[(24, false), (41, false)]), "with and without a tail");
        assert!(!vary(&[(24, false), (240, true), (48, true)]), "arrays");
        assert!(
            !vary(&[(32, false), (32, false)]),
            "an allocation that is rounded up"
        );
        assert!(!vary(&[(4096, true), (8192, true)]), "pools");
    }

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
