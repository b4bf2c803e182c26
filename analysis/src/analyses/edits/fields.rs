//! Fields that could be left out or have a smaller type.

mod recorded;
mod values;

use std::collections::HashMap;
use std::sync::Arc;

use trackway_trace::{SiteId, StructureKind};

use self::values::{Key, Range};
use super::elements::ProgramBlocks;
use super::shrunk::{Arrays, Part, Shrinking, Shrunk};
use super::{Edit, Kind, Rewriting, Subject, LEAST_PART, LEAST_WAITING};
use crate::analyses::whatif::{purposes, Purpose, Purposes};
use crate::model::site_counts::{stores, SiteCounters};
use crate::model::structures::{Structure, Structures};

pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    let structures = Structures::of(subject.trace.program());
    let search = Search {
        subject,
        structures: &structures,
        blocks: Arc::new(ProgramBlocks::of(subject.trace.program())),
        stores: Arc::new(stores_of(subject)),
    };
    search.edits()
}

fn stores_of(subject: &Subject) -> Vec<bool> {
    let sites = subject.trace.program().sites.iter();
    sites.map(|site| stores(site.kind)).collect()
}

struct Search<'s> {
    subject: &'s Subject<'s>,
    structures: &'s Structures,
    blocks: Arc<ProgramBlocks>,
    stores: Arc<Vec<bool>>,
}

/// A structure with smaller or fewer members.
struct Smaller {
    structure: usize,
    kind: Kind,
    /// The members, with the bytes that are left of each: none if it is left out.
    members: Vec<(usize, u64)>,
    reason: String,
    definition: Vec<String>,
}

impl Search<'_> {
    fn edits(&self) -> Vec<Edit> {
        let ranges = match recorded::are_recorded(self.subject) {
            true => values::ranges(self.subject, self.structures, &self.blocks),
            false => HashMap::new(),
        };
        let mut smaller = self.unread();
        smaller.extend(self.narrow(&ranges));
        smaller.retain(|smaller| self.may_save(smaller));
        let mut edits = match smaller.is_empty() {
            true => Vec::new(),
            false => self.of_structures(smaller),
        };
        edits.extend(self.of_variables(ranges));
        edits
    }

    /// Structures whose accesses take enough time, and that may be changed.
    fn structures(&self) -> impl Iterator<Item = (usize, &Structure)> {
        let all = self.structures.list.iter().enumerate();
        all.filter(|(index, structure)| {
            structure.kind != StructureKind::Union
                && structure.shared_prefix == 0
                && structure.size > 0
                && self.subject.part_of_time(&self.sites_of(*index)) >= LEAST_PART
        })
    }

    fn sites_of(&self, structure: usize) -> Vec<SiteId> {
        let sites = self.structures.sites.iter().enumerate();
        let own = sites.filter(|(_, field)| field.as_ref().is_some_and(|field| field.structure == structure));
        own.map(|(site, _)| SiteId(site as u32)).collect()
    }

    /// Whether enough time may be saved: smaller objects are waited for less, and what is left out takes no time.
    fn may_save(&self, smaller: &Smaller) -> bool {
        let is_kept = |member: &usize| smaller.members.iter().any(|(kept, _)| kept == member);
        let sites = self.sites_of(smaller.structure);
        let is_left_out = |site: &&SiteId| {
            let field = self.structures.sites[site.index()].as_ref();
            field.is_some_and(|field| !field.members.is_empty() && !field.members.iter().any(is_kept))
        };
        let left_out: Vec<SiteId> = sites.iter().filter(is_left_out).copied().collect();
        self.subject.part_waited(sites) + self.subject.part_of_time(&left_out) >= LEAST_WAITING
    }

    /// Those of the members that lose bytes.
    fn sites_of_changed(&self, smaller: &Smaller) -> Vec<SiteId> {
        let members = &self.structures.list[smaller.structure].members;
        let left = |member: usize| smaller.members.iter().find(|kept| kept.0 == member);
        let loses = |member: &usize| left(*member).map_or(0, |kept| kept.1) < members[*member].size;
        let mut sites = self.sites_of(smaller.structure);
        sites.retain(|site| {
            let field = self.structures.sites[site.index()].as_ref();
            field.is_some_and(|field| field.members.iter().any(loses))
        });
        sites
    }

    /// Members that are written and that no site reads, of each structure.
    fn unread(&self) -> Vec<Smaller> {
        self.structures()
            .filter_map(|(index, structure)| self.unread_of(index, structure))
            .collect()
    }

    fn unread_of(&self, index: usize, structure: &Structure) -> Option<Smaller> {
        let mut loads = vec![0u64; structure.members.len()];
        let mut written = loads.clone();
        for (site, field) in self.structures.sites.iter().enumerate() {
            let Some(field) = field.as_ref().filter(|field| field.structure == index) else {
                continue;
            };
            let counters: &SiteCounters = self.subject.counters.get(site)?;
            let reads = self.subject.trace.program().sites[site].kind.reads();
            if field.members.is_empty() && reads && counters.accesses > 0 {
                return None; // whole objects are read
            }
            for &member in &field.members {
                match reads {
                    true => loads[member] += counters.accesses,
                    false => written[member] += counters.accesses,
                }
            }
        }
        let unread = |member: &usize| {
            !structure.members[*member].is_fixed && loads[*member] == 0 && written[*member] > 0
        };
        let unread: Vec<usize> = structure.own_order().into_iter().filter(unread).collect();
        if unread.is_empty() || loads.iter().all(|loads| *loads == 0) {
            return None;
        }
        let names: Vec<&str> = unread
            .iter()
            .map(|&member| structure.members[member].name.as_str())
            .collect();
        let times: u64 = unread.iter().map(|&member| written[member]).sum();
        let kept: Vec<usize> = structure
            .own_order()
            .into_iter()
            .filter(|member| !unread.contains(member))
            .collect();
        Some(Smaller {
            structure: index,
            kind: Kind::NeverRead,
            reason: format!(
                "{} is written {}, and no recorded code reads it",
                names.join(", "),
                trackway_report::times(times)
            ),
            definition: structure.definition(&structure.name, &kept, None),
            members: kept
                .into_iter()
                .map(|member| (member, structure.members[member].size))
                .collect(),
        })
    }

    /// Members whose recorded values need fewer bytes.
    fn narrow(&self, ranges: &HashMap<Key, Range>) -> Vec<Smaller> {
        self.structures()
            .filter_map(|(index, structure)| {
                let mut names = Vec::new();
                let own = structure.own_order().into_iter().map(|member| {
                    let size = structure.members[member].size;
                    let range = ranges.get(&Key::Member(index, member));
                    let fewer = range.and_then(|range| range.smaller(size));
                    if let Some((_, type_name)) =
                        fewer.filter(|_| structure.members[member].declared.len() == 1)
                    {
                        let name = &structure.members[member].name;
                        names.push(format!("{type_name} {name};"));
                        return (member, fewer.map_or(size, |(bytes, _)| bytes));
                    }
                    (member, size)
                });
                let members: Vec<(usize, u64)> = own.collect();
                (!names.is_empty()).then(|| Smaller {
                    structure: index,
                    kind: Kind::SmallerType,
                    members,
                    reason: "all recorded values fit".into(),
                    definition: names,
                })
            })
            .collect()
    }

    fn of_structures(&self, smaller: Vec<Smaller>) -> Vec<Edit> {
        let subject = self.subject;
        let purposes = purposes(self.structures, subject.trace, subject.threads, subject.observer);
        let edits = smaller.into_iter().filter_map(|smaller| {
            let structure = &self.structures.list[smaller.structure];
            let shrinking = shrinking(structure, &smaller.members);
            let arrays = arrays_of(&purposes, smaller.structure);
            let fewer = shrinking.bytes_after < shrinking.bytes_before || smaller.kind == Kind::NeverRead;
            (fewer && !arrays.is_empty()).then(|| Edit {
                kind: smaller.kind,
                of: structure.name.clone(),
                reason: format!(
                    "{}; {} bytes become {}",
                    smaller.reason, shrinking.bytes_before, shrinking.bytes_after
                ),
                location: self.most_costly(&self.sites_of_changed(&smaller)),
                part: subject.part_of_time(&self.sites_of(smaller.structure)),
                definition: smaller.definition,
                rewriting: self.rewriting(arrays, shrinking),
            })
        });
        edits.collect()
    }

    /// Arrays of numbers that fit fewer bytes.
    fn of_variables(&self, ranges: HashMap<Key, Range>) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (key, range) in ranges {
            let Key::Variable(name) = key else { continue };
            let size = range.bytes;
            let Some((bytes, type_name)) = range.smaller(size) else {
                continue;
            };
            if range.arrays.is_empty() || self.subject.part_of_time(&range.sites) < LEAST_PART {
                continue;
            }
            let shrinking = Shrinking {
                bytes_before: size,
                bytes_after: bytes,
                parts: vec![Part {
                    start: 0,
                    end: size,
                    to: Some((0, bytes)),
                }],
            };
            edits.push(Edit {
                kind: Kind::SmallerType,
                reason: format!(
                    "all recorded values are from {} to {}, for which {bytes} of {size} bytes do",
                    range.least, range.most
                ),
                location: self.most_costly(&range.sites),
                part: self.subject.part_of_time(&range.sites),
                definition: vec![format!("{type_name} {name}…")],
                of: name,
                rewriting: self.rewriting(range.arrays, shrinking),
            });
        }
        edits.sort_by(|first, second| first.of.cmp(&second.of));
        edits
    }

    fn most_costly(&self, sites: &[SiteId]) -> Option<trackway_trace::LocationId> {
        let cycles = |site: &&SiteId| self.subject.counters.get(site.index()).map_or(0, |of| of.cycles);
        let site = sites.iter().max_by_key(cycles)?;
        Some(self.subject.trace.program().site(*site).location)
    }

    fn rewriting(&self, arrays: Arrays, shrinking: Shrinking) -> Rewriting {
        let (arrays, shrinking) = (Arc::new(arrays), Arc::new(shrinking));
        let (blocks, stores) = (Arc::clone(&self.blocks), Arc::clone(&self.stores));
        Box::new(move || {
            Box::new(Shrunk::new(
                Arc::clone(&blocks),
                Arc::clone(&arrays),
                Arc::clone(&shrinking),
                Arc::clone(&stores),
            ))
        })
    }
}

fn arrays_of(purposes: &Purposes, structure: usize) -> Arrays {
    let numbered = (0u64..).zip(purposes.all());
    let own = numbered.filter_map(|(number, purpose)| match purpose {
        Purpose::Array {
            structure: known,
            phase,
        } if *known as usize == structure => Some((number, *phase)),
        _ => None,
    });
    own.collect()
}

/// The structure with these members alone, and so many bytes of each.
fn shrinking(structure: &Structure, members: &[(usize, u64)]) -> Shrinking {
    let mut narrowed = structure.clone();
    for &(member, bytes) in members {
        let member = &mut narrowed.members[member];
        if bytes < member.size {
            member.alignment = member.alignment.min(bytes);
        }
        member.size = bytes;
    }
    let order: Vec<usize> = members.iter().map(|(member, _)| *member).collect();
    let arranged = narrowed.arrange(&order, 0);
    let offsets: HashMap<usize, u64> = arranged.members.into_iter().collect();
    let mut parts = Vec::new();
    for (number, member) in structure.members.iter().enumerate() {
        let end = structure
            .members
            .get(number + 1)
            .map_or(structure.size, |next| next.offset);
        let start = if number == 0 { 0 } else { member.offset };
        if start < end {
            let kept = offsets.get(&number);
            parts.push(Part {
                start,
                end,
                to: kept.map(|offset| (*offset, narrowed.members[number].size.max(1))),
            });
        }
    }
    Shrinking {
        bytes_before: structure.size,
        bytes_after: arranged.size,
        parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::structures::test_structure;

    #[test]
    fn members_move_together_and_some_are_left_out() {
        let structure = test_structure(&[4, 8, 4]);
        let part = |start, end, to| Part { start, end, to };
        let without = shrinking(&structure, &[(0, 4), (2, 4)]);
        assert_eq!((without.bytes_before, without.bytes_after), (24, 8));
        let expected = [
            part(0, 8, Some((0, 4))),
            part(8, 16, None),
            part(16, 24, Some((4, 4))),
        ];
        assert_eq!(without.parts, expected);
        let narrow = shrinking(&structure, &[(0, 4), (1, 2), (2, 4)]);
        assert_eq!(narrow.bytes_after, 12);
        assert_eq!(narrow.parts[1].to, Some((4, 2)));
    }
}
