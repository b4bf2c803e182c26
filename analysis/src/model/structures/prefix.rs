//! First members that several types have in common. Code that handles objects of any of these types through a pointer
//! to the header finds these members only in front.

use std::collections::{HashMap, HashSet};

use trackway_trace::{MemberKind, MemberLayout, Program, StringId, TypeId};

use super::Structures;

/// A header of fewer members may look like others by chance.
const LEAST_MEMBERS: usize = 2;

impl Structures {
    /// Only headers through which sites access something count.
    pub(super) fn find_shared_prefixes(&mut self, program: &Program) {
        let named: HashSet<TypeId> = self
            .sites
            .iter()
            .flatten()
            .map(|field| self.types[field.structure])
            .collect();
        let types = Types::new(program);
        for (structure, &id) in self.list.iter_mut().zip(&self.types) {
            let begins_others = types.longer_by(id).next().is_some();
            let whole = match begins_others {
                true => structure.size,
                false => 0,
            };
            let bytes = types.header_bytes(id, &named).max(whole);
            let is_in = |offset: u64| offset < bytes;
            structure.shared_prefix = structure
                .members
                .iter()
                .take_while(|member| is_in(member.offset) && !member.is_fixed)
                .count();
        }
    }
}

/// Types by how they begin.
struct Types<'p> {
    program: &'p Program,
    by_first: HashMap<(StringId, u64, StringId), Vec<TypeId>>,
    /// Types by the structure that is their first member.
    by_nested: HashMap<TypeId, Vec<TypeId>>,
}

impl<'p> Types<'p> {
    fn new(program: &'p Program) -> Types<'p> {
        let mut types = Types {
            program,
            by_first: HashMap::new(),
            by_nested: HashMap::new(),
        };
        for (index, layout) in program.types.iter().enumerate() {
            let id = TypeId(index as u32);
            let Some(first) = layout.members.first() else {
                continue;
            };
            types.by_first.entry(key(first)).or_default().push(id);
            if let Some(nested) = first.nested.filter(|_| is_header(first)) {
                types.by_nested.entry(nested).or_default().push(id);
            }
        }
        types
    }

    fn members(&self, id: TypeId) -> &'p [MemberLayout] {
        &self.program.type_layout(id).members
    }

    fn alike(&self, id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        let first = self.members(id).first().map(key);
        let alike = first.and_then(|first| self.by_first.get(&first));
        alike.into_iter().flatten().copied()
    }

    /// Types that begin with all members of this one, and have more.
    fn longer_by(&self, id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        let members = self.members(id);
        self.alike(id).filter(move |&other| {
            let others = self.members(other);
            members.len() >= LEAST_MEMBERS && others.len() > members.len() && begins_with(others, members)
        })
    }

    /// Bytes of the longest header with which a type begins: another type that sites name.
    fn header_bytes(&self, id: TypeId, named: &HashSet<TypeId>) -> u64 {
        let members = self.members(id);
        let flat = self.alike(id).filter(|&other| {
            let header = self.members(other);
            (LEAST_MEMBERS..members.len()).contains(&header.len()) && begins_with(members, header)
        });
        let nested = members
            .first()
            .and_then(|first| first.nested.filter(|_| is_header(first)));
        let nested = nested.filter(|header| self.by_nested.get(header).is_some_and(|types| types.len() > 1));
        let headers = flat.chain(nested).filter(|header| named.contains(header));
        headers
            .filter_map(|header| self.members(header).last())
            .map(|last| (last.offset_bits + last.size_bits).div_ceil(8))
            .max()
            .unwrap_or(0)
    }
}

/// Whether a first member may be such a header: base classes stay in front anyway.
fn is_header(first: &MemberLayout) -> bool {
    first.kind != MemberKind::Base && first.offset_bits == 0
}

fn key(member: &MemberLayout) -> (StringId, u64, StringId) {
    (member.name, member.size_bits, member.type_name)
}

fn begins_with(members: &[MemberLayout], header: &[MemberLayout]) -> bool {
    let is_same = |(a, b): (&MemberLayout, &MemberLayout)| key(a) == key(b) && a.offset_bits == b.offset_bits;
    members.iter().zip(header).all(is_same)
}
