//! What an address refers to.

use trackway_trace::VariableKind;

use crate::building::Referred;
use crate::debug_info::EntryId;
use crate::fields::{join, Shape, Spot};
use crate::types::{Form, Types};

/// An expression longer than this is cut at its front.
const LONGEST_EXPRESSION: usize = 72;
const VTABLE: &str = "vtable";

/// The variable through which an address is reached, and where in a type it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referent {
    pub base: String,
    pub kind: VariableKind,
    /// The variable is a pointer, and the address what it points to.
    through_pointer: bool,
    indexed: bool,
    /// It moves from element to element, so that what lies beyond the type is another one.
    pub stepped: bool,
    pub at: Vec<Spot>,
}

impl Referent {
    pub fn variable(name: &str, kind: VariableKind, spot: Spot) -> Self {
        Referent {
            at: vec![spot],
            ..Referent::unknown_type(name, kind)
        }
    }

    pub fn unknown_type(name: &str, kind: VariableKind) -> Self {
        Referent {
            base: name.to_owned(),
            kind,
            through_pointer: false,
            indexed: false,
            stepped: false,
            at: Vec::new(),
        }
    }

    /// What the pointer points to that a function returns; none if it returns something else.
    pub fn returned(types: &Types, function: &str, result: EntryId) -> Option<Self> {
        let (_, bare) = types.bare(result).filter(|(_, bare)| bare.is_pointer())?;
        Some(Referent {
            through_pointer: bare.form == Form::Pointer,
            at: types.pointee(result).map(Spot::whole).into_iter().collect(),
            ..Referent::unknown_type(&format!("{function}()"), VariableKind::Expression)
        })
    }

    pub fn compiler_made(what: &str) -> Self {
        Referent::unknown_type(what, VariableKind::CompilerMade)
    }

    /// The name that a compiler would give an access there.
    pub fn name(&self, types: &Types, shape: Shape) -> Referred {
        let leaves = types.leaves(&self.normalised(types), shape);
        let mut name = types.describe(&leaves);
        if is_virtual_table_pointer(&leaves) {
            name.value_type = "vtable *".into();
        }
        name.variable.clone_from(&self.base);
        name.variable_kind = self.kind;
        name
    }

    /// What a pointer that is loaded from there points to; none if no pointer is known to be there.
    pub fn loaded(&self, types: &Types) -> Option<Referent> {
        if self.kind == VariableKind::CompilerMade && self.base == VTABLE {
            return Some(self.clone());
        }
        let pointer = Shape {
            size: 8,
            content: crate::fields::Content::Integer,
        };
        let leaves = types.leaves(&self.normalised(types), pointer);
        self.pointed_to(types, &leaves)
    }

    /// What the pointers in parts of this point to.
    pub fn pointed_to(&self, types: &Types, leaves: &[Spot]) -> Option<Referent> {
        if is_virtual_table_pointer(leaves) {
            return Some(Referent::compiler_made(VTABLE));
        }
        let targets: Vec<Spot> = leaves
            .iter()
            .filter(|leaf| leaf.offset == 0)
            .filter_map(|leaf| types.pointee(leaf.type_id))
            .map(Spot::whole)
            .collect();
        let is_void = |leaf: &Spot| {
            types
                .bare(leaf.type_id)
                .is_some_and(|(_, bare)| bare.is_pointer())
        };
        if targets.is_empty() && !leaves.iter().any(is_void) {
            return None;
        }
        let field = types.describe(leaves).field;
        let is_variable = !self.through_pointer && !self.indexed && field.is_empty();
        let reads_like_object = |leaf: &Spot| {
            let bare = types.bare(leaf.type_id);
            bare.is_some_and(|(_, bare)| bare.form != Form::Pointer)
        };
        Some(Referent {
            base: match is_variable {
                true => self.base.clone(),
                false => shortened(self.spell(&field)),
            },
            kind: if is_variable {
                self.kind
            } else {
                VariableKind::Expression
            },
            through_pointer: !leaves.iter().any(reads_like_object),
            indexed: false,
            stepped: false,
            at: targets,
        })
    }

    fn spell(&self, field: &str) -> String {
        let brackets = if self.indexed { "[]" } else { "" };
        let arrow = self.through_pointer && !self.indexed;
        match (self.base.is_empty(), field.is_empty(), arrow) {
            (true, _, _) => String::new(),
            (_, true, true) => format!("*{}", self.base),
            (_, true, false) => format!("{}{brackets}", self.base),
            (_, false, true) => format!("{}->{field}", self.base),
            (_, false, false) => format!("{}{brackets}.{field}", self.base),
        }
    }

    /// The referent so many bytes on.
    pub fn moved(&self, types: &Types, distance: i64) -> Referent {
        let mut moved = self.clone();
        for spot in &mut moved.at {
            let size = types.size(spot.type_id) as i64;
            let whole_elements = size > 0 && distance != 0 && distance % size == 0 && spot.offset == 0;
            if whole_elements && self.through_pointer {
                moved.stepped = true;
            } else {
                spot.offset = spot.offset.wrapping_add(distance);
            }
        }
        moved
    }

    /// An unknown number of elements on.
    pub fn indexed(&self, types: &Types) -> Referent {
        let mut moved = self.clone();
        let inside = |spot: &Spot| spot.object.is_some() || !self.is_at_element(types, spot);
        moved.indexed |= !moved.at.iter().any(inside);
        moved.stepped = true;
        moved
    }

    /// Whether an index counts the variable's own elements rather than those of an array within a structure.
    fn is_at_element(&self, types: &Types, spot: &Spot) -> bool {
        if self.through_pointer {
            let size = types.size(spot.type_id) as i64;
            let first = spot.offset.checked_rem(size).unwrap_or(0) * 8;
            let part = types.bare(spot.type_id).and_then(|(_, bare)| {
                let member = bare
                    .members
                    .iter()
                    .rev()
                    .find(|member| member.offset_bits <= first as u64)?;
                types.bare(member.type_id)
            });
            return !part.is_some_and(|(_, part)| part.is_array());
        }
        types
            .bare(spot.type_id)
            .is_some_and(|(_, bare)| !bare.is_structure())
    }

    /// The places within their types, where an element before or after looks like the one that is known.
    fn normalised(&self, types: &Types) -> Vec<Spot> {
        let mut at = self.at.clone();
        for spot in &mut at {
            let size = types.size(spot.type_id) as i64;
            let inside = (0..size).contains(&spot.offset);
            let simple = types
                .bare(spot.type_id)
                .is_some_and(|(_, bare)| !bare.is_structure());
            if size > 0 && !inside && self.through_pointer && (self.stepped || simple) {
                spot.offset = spot.offset.rem_euclid(size);
            }
        }
        at
    }

    /// What is one or the other.
    pub fn merged(&self, other: &Referent, types: &Types) -> Referent {
        if self == other {
            return self.clone();
        }
        let apart = |(one, other): (&Spot, &Spot)| {
            let size = self.element_size(types, one);
            let bare = |spot: &Spot| types.bare(spot.type_id).map(|(id, _)| id);
            bare(one) == bare(other)
                && one.path == other.path
                && (one.offset == other.offset || (size > 0 && (one.offset - other.offset) % size == 0))
        };
        let same_places = self.at.len() == other.at.len() && self.at.iter().zip(&other.at).all(apart);
        Referent {
            base: joined(&self.base, &other.base),
            kind: if self.kind == other.kind {
                self.kind
            } else {
                VariableKind::Unknown
            },
            through_pointer: self.through_pointer && other.through_pointer,
            indexed: self.indexed || other.indexed,
            stepped: self.stepped || other.stepped || self.at != other.at,
            at: if same_places { self.at.clone() } else { Vec::new() },
        }
    }

    fn element_size(&self, types: &Types, spot: &Spot) -> i64 {
        let element = match types.bare(spot.type_id) {
            Some((_, bare)) if bare.is_array() => bare.target.unwrap_or(spot.type_id),
            _ => spot.type_id,
        };
        types.size(element) as i64
    }
}

fn is_virtual_table_pointer(leaves: &[Spot]) -> bool {
    leaves.iter().any(|leaf| {
        let last = leaf.path.rsplit('.').next().unwrap_or_default();
        last.starts_with("_vptr")
    })
}

/// One name for both; none if that is too long, as it becomes where a loop joins a name with what it was joined to before.
fn joined(one: &str, other: &str) -> String {
    let name = join(&[one.to_owned(), other.to_owned()]);
    if name.len() > LONGEST_EXPRESSION {
        return String::new();
    }
    name
}

fn shortened(text: String) -> String {
    if text.len() <= LONGEST_EXPRESSION {
        return text;
    }
    let start = (text.len() - LONGEST_EXPRESSION..=text.len()).find(|start| text.is_char_boundary(*start));
    let tail = &text[start.unwrap_or(0)..];
    format!("...{}", &tail[tail.find("->").unwrap_or(0)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_spelled_as_in_the_source() {
        let mut pointer = Referent::unknown_type("node", VariableKind::Local);
        assert_eq!(pointer.spell("pred"), "node.pred");
        pointer.through_pointer = true;
        assert_eq!(pointer.spell("pred"), "node->pred");
        assert_eq!(pointer.spell(""), "*node");
        pointer.indexed = true;
        assert_eq!(pointer.spell("pred"), "node[].pred");
        assert_eq!(Referent::unknown_type("", VariableKind::Local).spell("pred"), "");
    }

    #[test]
    fn names_that_are_joined_again_and_again_stay_short() {
        let (mut one, other) = ("a".to_owned(), "b".to_owned());
        for _ in 0..100 {
            let before = one.clone();
            one = joined(&joined(&one, &other), &format!("*{before}"));
            assert!(one.len() <= LONGEST_EXPRESSION);
        }
        assert_eq!(joined("a", "b"), "{a|b}");
    }

    #[test]
    fn long_expressions_lose_their_front() {
        let long = vec!["next"; 40].join("->");
        let short = shortened(long.clone());
        assert!(short.starts_with("...->next") && short.len() <= LONGEST_EXPRESSION + 3);
        assert!(long.ends_with(&short[3..]));
        assert_eq!(shortened("ä".repeat(60)).len(), 3 + 72);
    }
}
