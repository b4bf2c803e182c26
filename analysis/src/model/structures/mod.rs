//! The structures of a program, and what its sites access of them.

mod arrange;
mod definition;
mod path;
mod prefix;

use std::collections::{HashMap, HashSet};

use trackway_trace::{
    MemberKind, MemberLayout, Module, Program, StringId, StructureKind, TypeId, TypeLayout,
};

pub use arrange::Arrangement;
pub use definition::{bare, declaration};
use path::Resolution;

/// Members beyond this many are taken for one.
const MAX_MEMBERS: usize = 256;
/// No compiler aligns objects to more than a page.
const MAX_ALIGNMENT: u64 = 4096;

/// The language of a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// Or C++, or one whose definitions read like C's.
    #[default]
    C,
    Rust,
}

/// A structure that sites name.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    pub name: String,
    pub language: Language,
    pub kind: StructureKind,
    /// Bytes.
    pub size: u64,
    /// Bytes.
    pub alignment: u64,
    /// Members in the order of their offsets.
    pub members: Vec<Member>,
    /// This many of its first members must stay in front. They are also those of another type as which the program
    /// accesses such objects, or of other types if all members are.
    pub shared_prefix: usize,
    /// The member to which each member in the program's tables belongs.
    member_of: Vec<usize>,
}

/// What can be moved as a whole: a field, a base class, or bit-fields that share bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Name as in the source. Several bit-fields are `a|b`, an anonymous member is `@` and its offset.
    pub name: String,
    /// Bytes.
    pub offset: u64,
    pub size: u64,
    pub alignment: u64,
    /// Whether the compiler decides where it stands: base classes and pointers to virtual tables.
    pub is_fixed: bool,
    /// Fields, each with its type and, for a bit-field, its bits.
    pub declared: Vec<(String, String, Option<u64>)>,
}

/// What a site accesses of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteField {
    /// Index into [`Structures::list`].
    pub structure: usize,
    /// Indices of its members; none if the access is to all of it. There are several if the compiler merged members, or
    /// if it isn't known which of them is accessed.
    pub members: Vec<usize>,
    /// Bytes from the start of the object to the access, if that is always the same; then it covers all of the members.
    pub offset: Option<u64>,
}

/// All structures that sites name.
#[derive(Debug, Clone, Default)]
pub struct Structures {
    pub list: Vec<Structure>,
    /// Fields by site; none if the site accesses no field of a known structure.
    pub sites: Vec<Option<SiteField>>,
    by_name: HashMap<String, usize>,
    /// The types of [`Structures::list`].
    types: Vec<TypeId>,
    /// The types of the members of each type of the program.
    nested: Vec<Vec<TypeId>>,
    /// Names that modules give to structures that differ.
    pub ambiguous: Vec<String>,
}

impl Structures {
    pub fn of(program: &Program) -> Structures {
        let mut structures = Structures::default();
        let mut index_of_type: Vec<Option<usize>> = vec![None; program.types.len()];
        let named = unambiguous(program, &mut structures.ambiguous);
        for (index, layout) in program.types.iter().enumerate() {
            if named.get(&layout.name) == Some(&TypeId(index as u32)) {
                index_of_type[index] = Some(structures.list.len());
                let name = program.string(layout.name).to_owned();
                structures.by_name.insert(name.clone(), structures.list.len());
                structures.list.push(Structure::new(program, name, layout));
                structures.types.push(TypeId(index as u32));
            }
            structures
                .nested
                .push(layout.members.iter().filter_map(|member| member.nested).collect());
        }
        let mut resolved: HashMap<(StringId, StringId), Option<NamedField>> = HashMap::new();
        let sites = program.sites.iter().map(|site| {
            let key = (site.object_type, site.field);
            let named = resolved.entry(key).or_insert_with(|| {
                let id = *named.get(&site.object_type)?;
                let structure = index_of_type[id.index()]?;
                let layout = &structures.list[structure];
                named_field(program, structure, layout, id, program.string(site.field))
            });
            let named = named.as_ref()?;
            let structure = &structures.list[named.field.structure];
            Some(named.accessed_by(u64::from(site.size), structure))
        });
        structures.sites = sites.collect();
        structures.find_languages(program);
        structures.find_shared_prefixes(program);
        structures
    }

    /// Structures that code of rustc accesses are Rust's.
    fn find_languages(&mut self, program: &Program) {
        let of_rust = |module: &&Module| program.string(module.producer).contains("rustc");
        for module in program.modules.iter().filter(of_rust) {
            for site in module.sites.clone() {
                if let Some(field) = self.sites.get(site as usize).and_then(Option::as_ref) {
                    self.list[field.structure].language = Language::Rust;
                }
            }
        }
    }

    /// The index of the structure of that name, with or without `struct`; without its namespaces if only one has it.
    pub fn find(&self, name: &str) -> Option<usize> {
        let name = crate::model::names::without_keyword(name.trim());
        if let Some(&index) = self.by_name.get(name) {
            return Some(index);
        }
        let mut like_it = (0..self.list.len()).filter(|&index| bare(&self.list[index].name) == name);
        like_it.next().filter(|_| like_it.next().is_none())
    }

    /// The number of a structure's type in the program's tables. It stays the same while the program loads more
    /// modules, whereas the index may change.
    pub fn type_of(&self, structure: usize) -> TypeId {
        self.types[structure]
    }

    /// Whether objects of `outer` hold objects of `inner`.
    pub fn contains(&self, outer: usize, inner: usize) -> bool {
        let wanted = self.types[inner];
        let mut seen = HashSet::new();
        let mut todo = vec![self.types[outer]];
        while let Some(id) = todo.pop() {
            let nested = &self.nested[id.index()];
            if nested.contains(&wanted) {
                return true;
            }
            todo.extend(nested.iter().copied().filter(|&id| seen.insert(id)));
        }
        false
    }
}

/// Structures by name, where the name says which.
fn unambiguous(program: &Program, ambiguous: &mut Vec<String>) -> HashMap<StringId, TypeId> {
    let mut named: HashMap<StringId, Option<TypeId>> = HashMap::new();
    for (index, layout) in program.types.iter().enumerate() {
        if layout.name != StringId::default() && layout.size > 0 {
            let id = Some(TypeId(index as u32));
            named
                .entry(layout.name)
                .and_modify(|known| *known = None)
                .or_insert(id);
        }
    }
    let unclear = named.iter().filter(|(_, id)| id.is_none());
    ambiguous.extend(unclear.map(|(name, _)| program.string(*name).to_owned()));
    ambiguous.sort();
    named
        .into_iter()
        .filter_map(|(name, id)| Some((name, id?)))
        .collect()
}

/// What a path says, whatever the size of the access.
struct NamedField {
    field: SiteField,
    /// Bytes from the first of the path's alternatives to the last one.
    span: u64,
}

impl NamedField {
    /// The field that an access of this many bytes (0: it varies) goes to. Its place is known only if it covers all
    /// that the path names. Otherwise it may be to any part of that.
    fn accessed_by(&self, size: u64, structure: &Structure) -> SiteField {
        let covers = match self.field.members.is_empty() {
            true => size == 0 || size == structure.size,
            false => self.span == 0 || self.span < size,
        };
        SiteField {
            offset: self.field.offset.filter(|_| covers),
            ..self.field.clone()
        }
    }
}

fn named_field(
    program: &Program,
    structure: usize,
    layout: &Structure,
    id: TypeId,
    path: &str,
) -> Option<NamedField> {
    if path.is_empty() {
        let whole = SiteField {
            structure,
            members: Vec::new(),
            offset: Some(0),
        };
        return Some(NamedField {
            field: whole,
            span: 0,
        });
    }
    let found: Vec<Resolution> = path::alternatives(path)
        .iter()
        .map(|path| path::resolve(program, id, path))
        .collect::<Option<_>>()?;
    let mut members: Vec<usize> = found
        .iter()
        .map(|resolution| layout.member_of[resolution.member])
        .collect();
    members.sort_unstable();
    members.dedup();
    let offsets: Option<Vec<u64>> = found.iter().map(|resolution| resolution.offset).collect();
    let offsets = offsets.unwrap_or_default();
    let (first, last) = (offsets.iter().min().copied(), offsets.iter().max().copied());
    let field = SiteField {
        structure,
        members,
        offset: first,
    };
    let span = last.unwrap_or(0) - first.unwrap_or(0);
    Some(NamedField { field, span })
}

impl Structure {
    fn new(program: &Program, name: String, layout: &TypeLayout) -> Structure {
        let mut structure = Structure {
            name,
            language: Language::default(),
            kind: layout.kind,
            size: layout.size,
            alignment: layout.alignment.min(MAX_ALIGNMENT),
            members: Vec::new(),
            shared_prefix: 0,
            member_of: Vec::new(),
        };
        for member in &layout.members {
            structure.add(program, member);
            structure.member_of.push(structure.members.len() - 1);
        }
        structure
    }

    fn add(&mut self, program: &Program, layout: &MemberLayout) {
        let offset = layout.offset_bits / 8;
        let end = (layout.offset_bits + layout.size_bits).div_ceil(8);
        let is_full = self.members.len() >= MAX_MEMBERS;
        let is_union = self.kind == StructureKind::Union;
        let name = match program.string(layout.name) {
            "" => format!("@{offset}"),
            name => name.to_owned(),
        };
        let bits = (layout.kind == MemberKind::BitField).then_some(layout.size_bits);
        let declared = (name.clone(), program.string(layout.type_name).to_owned(), bits);
        if let Some(last) = self.members.last_mut() {
            let overlaps = offset < last.offset + last.size;
            if is_full || (overlaps && !is_union) {
                // What shares bytes stays together.
                last.name.push('|');
                last.name.push_str(&name);
                last.size = last.size.max(end - last.offset);
                last.declared.push(declared);
                return;
            }
        }
        self.members.push(Member {
            is_fixed: layout.kind == MemberKind::Base || name.starts_with("_vptr"),
            name,
            offset,
            size: end - offset,
            alignment: match bits {
                Some(_) => 1,
                None => layout.alignment.min(MAX_ALIGNMENT),
            },
            declared: vec![declared],
        });
    }

    /// The member of that name; one of several bit-fields stands for all.
    pub fn member(&self, name: &str) -> Option<usize> {
        let is_called = |member: &Member| {
            member.name == name || member.declared.iter().any(|(declared, _, _)| declared == name)
        };
        self.members.iter().position(is_called)
    }

    /// Bytes between members.
    pub fn holes(&self) -> Vec<(u64, u64)> {
        let mut holes = Vec::new();
        let mut end = 0;
        for member in &self.members {
            if member.offset > end {
                holes.push((end, member.offset - end));
            }
            end = end.max(member.offset + member.size);
        }
        holes
    }

    /// Bytes after the last member.
    pub fn padding(&self) -> u64 {
        let end = self
            .members
            .iter()
            .map(|member| member.offset + member.size)
            .max();
        self.size.saturating_sub(end.unwrap_or(0))
    }
}

/// Members of these sizes, one after the other, named a, b, c, ...
#[cfg(test)]
pub(crate) fn test_structure(sizes: &[u64]) -> Structure {
    let mut offset = 0;
    let member = |(index, &size): (usize, &u64)| {
        let alignment = size.next_power_of_two().min(8);
        offset = u64::next_multiple_of(offset, alignment);
        let name = char::from(b'a' + index as u8).to_string();
        offset += size;
        Member {
            offset: offset - size,
            size,
            alignment,
            is_fixed: false,
            declared: vec![(name.clone(), format!("char[{size}]"), None)],
            name,
        }
    };
    let members: Vec<Member> = sizes.iter().enumerate().map(member).collect();
    let alignment = members.iter().map(|member| member.alignment).max().unwrap_or(1);
    Structure {
        name: "test".into(),
        language: Language::default(),
        kind: StructureKind::Struct,
        size: offset.next_multiple_of(alignment),
        alignment,
        shared_prefix: 0,
        member_of: (0..members.len()).collect(),
        members,
    }
}

/// A program's only structure; its only site names none.
#[cfg(test)]
pub(crate) fn test_structures(structure: Structure) -> Structures {
    Structures {
        list: vec![structure],
        sites: vec![None],
        types: vec![TypeId(0)],
        nested: vec![Vec::new()],
        ..Structures::default()
    }
}
