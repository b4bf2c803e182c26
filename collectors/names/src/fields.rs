//! Which part of a variable or structure an access goes to.

use crate::building::Referred;
use crate::debug_info::EntryId;
use crate::types::{Member, Type, Types};

/// More candidates than this say nothing any more.
const MOST_CANDIDATES: usize = 4;
/// Structures within each other at most.
const DEEPEST: usize = 32;

/// A place within a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub type_id: EntryId,
    /// Bytes from the type's beginning.
    pub offset: i64,
    /// The outermost structure that it is a part of, and its path in there.
    pub object: Option<EntryId>,
    pub path: String,
}

impl Spot {
    pub fn whole(type_id: EntryId) -> Self {
        Spot {
            type_id,
            offset: 0,
            object: None,
            path: String::new(),
        }
    }
}

/// What an instruction does at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes; 0: unknown.
    pub size: u64,
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Integer,
    Float,
    /// Perhaps several elements.
    Vector,
}

#[derive(Clone, Copy, PartialEq)]
enum Cover {
    Whole,
    Partial,
}

impl Types<'_, '_> {
    fn is_unbounded(&self, id: EntryId) -> bool {
        self.bare(id)
            .is_some_and(|(id, bare)| bare.is_array() && self.size(id) == 0)
    }

    /// The parts that lie at [first, last) bits of the spot's type.
    fn parts_at(&self, at: &Spot, first: u64, last: u64, wanted: Cover) -> Vec<Spot> {
        let Some((id, bare)) = self.bare(at.type_id).filter(|_| at.offset >= 0) else {
            return Vec::new();
        };
        if bare.is_array() {
            let element = self.element(at, id, &bare);
            let fits = |element: &Spot| {
                let end = element.offset as u64 * 8 + (last - first);
                wanted == Cover::Partial || end <= 8 * self.size(element.type_id)
            };
            return element.filter(fits).into_iter().collect();
        }
        let covered = |member: &&Member| {
            let (begin, end) = self.extent(member);
            match wanted {
                Cover::Whole => begin <= first && last <= end && begin < end,
                Cover::Partial => begin < last && first < end,
            }
        };
        let members = bare.members.iter().filter(covered);
        members.map(|member| self.enter(at, id, member)).collect()
    }

    /// The bits of its structure that a member covers.
    fn extent(&self, member: &Member) -> (u64, u64) {
        let first = member.offset_bits;
        if self.is_unbounded(member.type_id) {
            return (first, u64::MAX);
        }
        let size = member
            .size_bits
            .unwrap_or_else(|| self.size(member.type_id).saturating_mul(8));
        (first, first.saturating_add(size))
    }

    fn enter(&self, whole: &Spot, structure: EntryId, member: &Member) -> Spot {
        let name = match member.is_base {
            true => self.name(member.type_id).to_string(),
            false => member.name.clone(),
        };
        let dot = if whole.path.is_empty() || name.is_empty() {
            ""
        } else {
            "."
        };
        Spot {
            type_id: member.type_id,
            // A storage unit may begin before its bit-field.
            offset: match member.size_bits {
                Some(_) => 0,
                None => whole.offset - (member.offset_bits / 8) as i64,
            },
            object: whole.object.or(Some(structure)),
            path: format!("{}{dot}{name}", whole.path),
        }
    }

    fn element(&self, whole: &Spot, array: EntryId, bare: &Type) -> Option<Spot> {
        let target = bare.target?;
        let element = i64::try_from(self.size(target)).ok().filter(|size| *size > 0)?;
        let size = self.size(array) as i64;
        if whole.offset < 0 || (size != 0 && whole.offset >= size) {
            return None;
        }
        let mark = if whole.object.is_some() { "[]" } else { "" };
        Some(Spot {
            type_id: target,
            offset: whole.offset % element,
            object: whole.object,
            path: format!("{}{mark}", whole.path),
        })
    }

    /// The parts that an access goes to.
    pub fn leaves(&self, at: &[Spot], shape: Shape) -> Vec<Spot> {
        let mut found = Vec::new();
        for spot in at {
            self.collect(spot, shape, DEEPEST, &mut found);
        }
        if found.len() < 2 || shape.content == Content::Vector {
            return found;
        }
        let fits = |leaf: &&Spot| {
            let float = self.bare(leaf.type_id).is_some_and(|(_, bare)| bare.is_float());
            float == (shape.content == Content::Float) && self.size(leaf.type_id) == shape.size
        };
        let fitting: Vec<Spot> = found.iter().filter(fits).cloned().collect();
        match fitting.is_empty() {
            true => found,
            false => fitting,
        }
    }

    fn accepts(&self, at: &Spot, bare: &Type, shape: Shape) -> bool {
        if bare.is_structure() || bare.is_array() {
            return false;
        }
        let size = self.size(at.type_id);
        let many = at.offset == 0 && shape.content == Content::Vector;
        many || size == 0 || (at.offset as u64).saturating_add(shape.size) <= size
    }

    fn collect(&self, at: &Spot, shape: Shape, depth: usize, found: &mut Vec<Spot>) {
        let Some((_, bare)) = self.bare(at.type_id).filter(|_| at.offset >= 0 && depth > 0) else {
            return;
        };
        if self.accepts(at, &bare, shape) {
            return found.push(at.clone());
        }
        let first = (at.offset as u64).saturating_mul(8);
        let last = first.saturating_add(shape.size.max(1) * 8);
        let parts = self.parts_at(at, first, last, Cover::Whole);
        if !parts.is_empty() {
            for part in parts {
                self.collect(&part, shape, depth - 1, found);
            }
            return;
        }
        let outside = !self.is_unbounded(at.type_id) && last > 8 * self.size(at.type_id);
        if outside {
            return;
        }
        // A run of neighbours: all of them, or the structure itself if there are many.
        let parts = self.parts_at(at, first, last, Cover::Partial);
        match parts.is_empty() || bare.is_array() || parts.len() > MOST_CANDIDATES {
            true => found.push(at.clone()),
            false => found.extend(parts),
        }
    }

    /// Object type, field and value type of what was found.
    pub fn describe(&self, leaves: &[Spot]) -> Referred {
        let mut described: [Vec<String>; 3] = Default::default();
        for leaf in leaves {
            let bare = self.bare(leaf.type_id);
            let structure = bare.as_ref().filter(|(_, bare)| bare.is_structure());
            let object = leaf.object.or(structure.map(|(id, _)| *id));
            let declared = bare.as_ref().is_some_and(|(_, bare)| bare.is_declaration);
            described[0].push(object.map_or(String::new(), |object| self.name(object).to_string()));
            described[1].push(leaf.path.clone());
            described[2].push(if declared {
                String::new()
            } else {
                self.name(leaf.type_id).to_string()
            });
        }
        let [objects, fields, values] = described.map(|names| join(&names));
        Referred {
            object_type: objects,
            field: fields,
            value_type: values,
            ..Referred::default()
        }
    }
}

/// One name for several: `{a|b}`, with what they share up to a dot before the brace.
pub fn join(names: &[String]) -> String {
    let mut distinct: Vec<&str> = names.iter().map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    match distinct[..] {
        [] => return String::new(),
        ["", ..] => return String::new(),
        [only] => return only.to_owned(),
        _ if distinct.len() > MOST_CANDIDATES => return String::new(),
        _ => {}
    }
    let first = distinct[0];
    let alike = |end: &usize| distinct.iter().all(|name| name.starts_with(&first[..*end]));
    let dots = first.match_indices('.').map(|(dot, _)| dot + 1);
    let shared = dots.filter(alike).max().unwrap_or(0);
    let endings: Vec<&str> = distinct.iter().map(|name| &name[shared..]).collect();
    format!("{}{{{}}}", &first[..shared], endings.join("|"))
}

#[cfg(test)]
mod tests {
    use super::join;

    fn joined(names: &[&str]) -> String {
        join(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn names_share_what_stands_before_a_dot() {
        assert_eq!(joined(&["a.x", "a.y"]), "a.{x|y}");
        assert_eq!(joined(&["b", "a"]), "{a|b}");
        assert_eq!(joined(&["ax", "ay"]), "{ax|ay}");
        assert_eq!(joined(&["a", "a"]), "a");
    }

    #[test]
    fn too_many_names_and_unknown_ones_are_none() {
        assert_eq!(joined(&["a", ""]), "");
        assert_eq!(joined(&["a", "b", "c", "d", "e"]), "");
        assert_eq!(joined(&[]), "");
    }
}
