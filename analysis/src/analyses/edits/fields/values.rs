//! The range of the values that a program was recorded to load and store.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use trackway_trace::{Batch, BatchItem, Piece, SiteId, Trace, Value, ValueForm};

use crate::analyses::edits::elements::{apply, Begun, ProgramBlocks};
use crate::analyses::edits::shrunk::Arrays;
use crate::analyses::edits::Subject;
use crate::analyses::whatif::{order_of, Blocks, Numbering};
use crate::model::site_counts::group;
use crate::model::structures::Structures;
use crate::model::Names;
use crate::{Analysis, Findings, Order};

const NO_KEY: u32 = u32::MAX;

/// What has values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A structure and a member of it.
    Member(usize, usize),
    /// A variable of numbers.
    Variable(String),
}

/// The values of a member or variable: all that were loaded or stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Range {
    pub least: i128,
    pub most: i128,
    /// Size of one value, in bytes.
    pub bytes: u64,
    pub sites: Vec<SiteId>,
    /// The blocks that hold nothing else.
    pub arrays: Arrays,
}

impl Range {
    /// Fewer bytes that do, and a type that has them.
    pub fn smaller(&self, bytes: u64) -> Option<(u64, &'static str)> {
        let unsigned = [(1, "uint8_t"), (2, "uint16_t"), (4, "uint32_t")];
        let signed = [(1, "int8_t"), (2, "int16_t"), (4, "int32_t")];
        let types = if self.least < 0 { signed } else { unsigned };
        let holds = |bytes: u64| {
            let bits = bytes as u32 * 8;
            match self.least < 0 {
                true => self.least >= -(1i128 << (bits - 1)) && self.most < 1i128 << (bits - 1),
                false => self.most < 1i128 << bits,
            }
        };
        types
            .into_iter()
            .find(|(fewer, _)| *fewer < bytes && holds(*fewer))
    }
}

/// Ranges of what has a value for each of its accesses. Goes over the trace once.
pub(super) fn ranges(
    subject: &Subject,
    structures: &Structures,
    program: &ProgramBlocks,
) -> HashMap<Key, Range> {
    let (keys, by_site) = keys(subject, structures);
    let survey = Survey {
        trace: subject.trace,
        keys: &keys,
        by_site,
        program,
        found: Mutex::default(),
    };
    crate::run(&survey, subject.trace, subject.threads, subject.observer);
    let found = survey.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let complete = |seen: &Seen, key: u32| {
        let own = survey.by_site.iter().enumerate().filter(|(_, of)| **of == key);
        let accesses = own.map(|(site, _)| subject.counters.get(site).map_or(0, |of| of.accesses));
        seen.values > 0 && !seen.is_other && seen.values == accesses.sum::<u64>()
    };
    let mut ranges = HashMap::new();
    for ((number, key), seen) in (0u32..).zip(&keys).zip(found.seen) {
        if !complete(&seen, number) {
            continue;
        }
        let own = survey.by_site.iter().enumerate().filter(|(_, of)| **of == number);
        let sites: Vec<SiteId> = own.map(|(site, _)| SiteId(site as u32)).collect();
        let bytes = sites
            .iter()
            .map(|site| u64::from(subject.trace.program().site(*site).size));
        let arrays = found
            .holders
            .iter()
            .filter(|(_, holds)| **holds == BTreeSet::from([number]));
        ranges.insert(
            key.clone(),
            Range {
                least: seen.least,
                most: seen.most,
                bytes: bytes.min().unwrap_or_default(),
                sites,
                arrays: arrays.map(|(block, _)| (*block, 0)).collect(),
            },
        );
    }
    ranges
}

/// What each site accesses, by a number.
fn keys(subject: &Subject, structures: &Structures) -> (Vec<Key>, Vec<u32>) {
    let program = subject.trace.program();
    let names = Names::new(program);
    let mut numbers: HashMap<Key, u32> = HashMap::new();
    let mut keys = Vec::new();
    let by_site = program.sites.iter().enumerate().map(|(number, site)| {
        let key = match &structures.sites[number] {
            Some(field) => match field.members[..] {
                [member] => Key::Member(field.structure, member),
                _ => return NO_KEY,
            },
            None => Key::Variable(group::field_name(&names, group::field_key(program, site))),
        };
        *numbers.entry(key.clone()).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    });
    let by_site = by_site.collect();
    (keys, by_site)
}

struct Survey<'s> {
    trace: &'s Trace,
    keys: &'s [Key],
    by_site: Vec<u32>,
    program: &'s ProgramBlocks,
    found: Mutex<Found>,
}

/// What was seen of each key, and which keys each block holds, by its number.
#[derive(Debug, Default)]
struct Found {
    seen: Vec<Seen>,
    holders: HashMap<u64, BTreeSet<u32>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    values: u64,
    least: i128,
    most: i128,
    /// Whether any value was no integer.
    is_other: bool,
}

struct SurveyShard {
    numbering: Numbering,
    processes: HashMap<u32, Blocks<Begun>>,
    found: Found,
    /// By site: the block that it accessed last.
    held: Vec<u64>,
}

impl Seen {
    fn take(&mut self, value: Value) {
        let shape = value.shape;
        let is_integer = matches!(
            shape.form,
            ValueForm::Unsigned | ValueForm::Signed | ValueForm::Bits
        );
        self.is_other |= !is_integer || shape.bits > 64;
        if self.is_other {
            return;
        }
        for lane in 0..shape.lanes {
            let bits = value.element(lane).first().copied().unwrap_or_default();
            let number = match shape.form {
                ValueForm::Signed => i128::from((bits << (64 - shape.bits)) as i64 >> (64 - shape.bits)),
                _ => i128::from(bits),
            };
            self.least = self.least.min(number);
            self.most = self.most.max(number);
        }
        self.values += 1;
    }
}

impl Analysis for Survey<'_> {
    type Shard = SurveyShard;

    fn order(&self) -> Order {
        order_of(self.trace)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn start_shard(&self) -> SurveyShard {
        SurveyShard {
            numbering: self.program.numbering(),
            processes: HashMap::new(),
            found: Found {
                seen: vec![Seen::default(); self.keys.len()],
                holders: HashMap::new(),
            },
            held: vec![u64::MAX; self.by_site.len()],
        }
    }

    fn take_batch(&self, shard: &mut SurveyShard, batch: &Batch) {
        for value in &batch.values {
            let key = self.by_site[batch.site[value.index as usize].index()];
            if let Some(seen) = shard.found.seen.get_mut(key as usize) {
                seen.take(batch.value_of(value));
            }
        }
        let live = shard
            .processes
            .entry(batch.process)
            .or_insert_with(|| self.program.begin(|block| block));
        let (holders, held) = (&mut shard.found.holders, &mut shard.held);
        let mut hold = |live: &mut Blocks<Begun>, site: SiteId, address: u64| {
            let Some((_, block)) = live.at(site.index(), address) else {
                return;
            };
            if std::mem::replace(&mut held[site.index()], block.number) != block.number {
                let holder = holders.entry(block.number).or_default();
                holder.insert(self.by_site[site.index()]);
            }
        };
        for item in batch.items() {
            match item {
                BatchItem::Event(event) => {
                    let changes = shard.numbering.changes(event).into_iter().flatten();
                    changes.for_each(|change| apply(live, change, |block| block));
                }
                BatchItem::Accesses(Piece::Accesses(range)) => {
                    range.for_each(|index| hold(live, batch.site[index], batch.address[index]));
                }
                BatchItem::Accesses(Piece::Run(run)) => {
                    let last = run.count - 1;
                    for lane in batch.lanes(run) {
                        hold(live, lane.site, lane.address);
                        hold(live, lane.site, lane.address_in(last));
                    }
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
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = shard.found;
        Findings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaller(least: i128, most: i128, bytes: u64) -> Option<u64> {
        let range = Range {
            least,
            most,
            ..Range::default()
        };
        range.smaller(bytes).map(|(bytes, _)| bytes)
    }

    #[test]
    fn types_hold_their_ranges() {
        assert_eq!(smaller(0, 255, 8), Some(1));
        assert_eq!(smaller(0, 256, 8), Some(2));
        assert_eq!(smaller(-1, 127, 4), Some(1));
        assert_eq!(smaller(-1, 128, 4), Some(2));
        assert_eq!(smaller(-129, 0, 2), None);
        assert_eq!(smaller(0, 1 << 32, 8), None);
        assert_eq!(smaller(0, 70_000, 4), None);
    }
}
