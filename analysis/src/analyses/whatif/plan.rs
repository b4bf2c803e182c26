//! What is to be changed, and the layouts that come of it.

use crate::model::structures::{Structure, Structures};

/// Bytes of a pointer from the hot part of an object to the others.
const POINTER_BYTES: u64 = 8;
/// Larger structures are not laid out anew.
const MAX_BYTES: u64 = 1 << 40;

/// A change of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// These members stay, the others go to a part of their own.
    Split(Vec<String>),
    /// These members first, in this order; then the others as they are.
    Reorder(Vec<String>),
    /// Adds this many bytes after the last member.
    PadBy(u64),
    /// A member begins a cache line, and so does what follows it.
    PadMember(String),
    /// Objects begin at multiples of this many bytes.
    Align(u64),
    /// Stores each member in an array of its own.
    Arrays,
}

/// How the parts of a split object find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The first part holds a pointer to the other.
    Pointer,
    /// Parts are arrays, and have the same index.
    Index,
}

impl Change {
    /// The members that it names; none if it is one of whole objects.
    pub fn members(&self) -> &[String] {
        match self {
            Change::Split(members) | Change::Reorder(members) => members,
            Change::PadMember(member) => std::slice::from_ref(member),
            Change::PadBy(_) | Change::Align(_) | Change::Arrays => &[],
        }
    }

    /// The options of `trackway whatif` that ask for the change.
    pub fn options(&self, structure: &str, link: Link) -> String {
        match self {
            Change::Split(members) => {
                let link = match link {
                    Link::Pointer => "",
                    Link::Index => " --link index",
                };
                format!("--split '{structure}:{}'{link}", members.join(","))
            }
            Change::Reorder(members) => format!("--reorder '{structure}:{}'", members.join(",")),
            Change::PadBy(bytes) => format!("--pad '{structure}:{bytes}'"),
            Change::PadMember(member) => format!("--pad '{structure}.{member}'"),
            Change::Align(bytes) => format!("--align '{structure}:{bytes}'"),
            Change::Arrays => format!("--soa '{structure}'"),
        }
    }
}

/// A structure's new layout.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLayout {
    pub structure: usize,
    pub change: Change,
    pub parts: Vec<ObjectPart>,
    /// Where members went, by member: part and offset.
    pub places: Vec<(usize, u64)>,
    pub link: Link,
}

/// What is left together of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPart {
    /// Bytes from one object's to the next one's.
    pub size: u64,
    pub alignment: u64,
    pub members: Vec<usize>,
}

/// Why a structure can't be changed like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{structure} has no member {member}; its members are {members}")]
    NoMember {
        structure: String,
        member: String,
        members: String,
    },
    #[error("{structure}.{member} is named twice")]
    Twice { structure: String, member: String },
    #[error("{structure}: {what}")]
    Impossible { structure: String, what: &'static str },
}

impl NewLayout {
    /// `line_bytes` is that of the cache.
    pub fn new(
        structures: &Structures,
        structure: usize,
        change: Change,
        link: Link,
        line_bytes: u64,
    ) -> Result<NewLayout, PlanError> {
        let layout = &structures.list[structure];
        let planner = Planner { layout, line_bytes };
        let impossible = |what| planner.impossible(what);
        if layout.kind == trackway_trace::StructureKind::Union {
            return Err(impossible("a union has one layout only"));
        }
        if layout.size > MAX_BYTES || layout.members.is_empty() {
            return Err(impossible("it has no members, or is too large"));
        }
        if layout
            .members
            .iter()
            .any(|member| member.size == 0 && member.offset == layout.size)
        {
            return Err(impossible(
                "it ends in an array of any length, which only the program knows",
            ));
        }
        // Arrays of members are reached by the object's index.
        let link = match change {
            Change::Arrays => Link::Index,
            _ => link,
        };
        let parts = planner.parts(&change, link)?;
        let mut places = vec![(0, 0); layout.members.len()];
        for (number, (_, placed)) in parts.iter().enumerate() {
            for &(member, offset) in placed {
                places[member] = (number, offset);
            }
        }
        Ok(NewLayout {
            structure,
            change,
            parts: parts.into_iter().map(|(part, _)| part).collect(),
            places,
            link,
        })
    }

    /// Whether accesses to other parts than the first go through a pointer.
    pub fn has_pointer(&self) -> bool {
        self.link == Link::Pointer && self.parts.len() == 2
    }

    /// What to write into the source.
    pub fn definition(&self, structures: &Structures) -> Vec<String> {
        let layout = &structures.list[self.structure];
        let bare = crate::model::structures::bare(&layout.name);
        let mut lines = Vec::new();
        for (number, part) in self.parts.iter().enumerate().rev() {
            let name = match number {
                0 => bare.to_owned(),
                1 if self.parts.len() == 2 => layout.name_of_rest(),
                _ => format!("{bare}_{number}"),
            };
            let pointer = layout.link_to_rest();
            let first = (number == 0 && self.has_pointer()).then_some(pointer.as_str());
            lines.extend(layout.definition(&name, &part.members, first));
            lines.push(format!("// {} bytes", part.size));
        }
        lines
    }
}

struct Planner<'p> {
    layout: &'p Structure,
    line_bytes: u64,
}

/// A part, and where its members are in it.
type Placed = (ObjectPart, Vec<(usize, u64)>);

impl Planner<'_> {
    fn impossible(&self, what: &'static str) -> PlanError {
        PlanError::Impossible {
            structure: self.layout.name.clone(),
            what,
        }
    }

    fn parts(&self, change: &Change, link: Link) -> Result<Vec<Placed>, PlanError> {
        let own = self.layout.own_order();
        match change {
            Change::Split(names) => self.split(&self.find(names)?, link),
            Change::Reorder(names) => {
                let first = self.find(names)?;
                let others = own.into_iter().filter(|index| !first.contains(index));
                let order: Vec<usize> = first.iter().copied().chain(others).collect();
                Ok(vec![self.part(
                    &self.layout.with_fixed_first(&order),
                    0,
                    self.layout.alignment,
                )])
            }
            Change::PadBy(bytes) => {
                let (mut part, placed) = self.as_it_is();
                if *bytes > MAX_BYTES {
                    return Err(self.impossible("that is too much padding"));
                }
                part.size = (part.size + bytes).next_multiple_of(part.alignment);
                Ok(vec![(part, placed)])
            }
            Change::PadMember(name) => self.pad_member(self.find(std::slice::from_ref(name))?[0]),
            Change::Align(bytes) => {
                if !bytes.is_power_of_two() || *bytes > MAX_BYTES {
                    return Err(self.impossible("an alignment is a power of two"));
                }
                let (mut part, placed) = self.as_it_is();
                part.alignment = part.alignment.max(*bytes);
                part.size = part.size.next_multiple_of(part.alignment);
                Ok(vec![(part, placed)])
            }
            Change::Arrays => self.arrays(),
        }
    }

    fn as_it_is(&self) -> Placed {
        let members = self.layout.members.iter().enumerate();
        let part = ObjectPart {
            size: self.layout.size,
            alignment: self.layout.alignment,
            members: self.layout.own_order(),
        };
        (
            part,
            members.map(|(index, member)| (index, member.offset)).collect(),
        )
    }

    fn part(&self, members: &[usize], prefix: u64, alignment: u64) -> Placed {
        let arranged = self.layout.arrange(members, prefix);
        let alignment = arranged.alignment.max(alignment);
        let part = ObjectPart {
            size: arranged.size.next_multiple_of(alignment),
            alignment,
            members: members.to_vec(),
        };
        (part, arranged.members)
    }

    fn split(&self, hot: &[usize], link: Link) -> Result<Vec<Placed>, PlanError> {
        let is_hot = |index: &usize| hot.contains(index) || self.layout.members[*index].is_fixed;
        let hot = self.layout.with_fixed_first(hot);
        let cold: Vec<usize> = self
            .layout
            .own_order()
            .into_iter()
            .filter(|index| !is_hot(index))
            .collect();
        if cold.is_empty() || hot.is_empty() {
            return Err(self.impossible("a split leaves members on both sides"));
        }
        let prefix = match link {
            Link::Pointer => POINTER_BYTES,
            Link::Index => 0,
        };
        Ok(vec![self.part(&hot, prefix, 1), self.part(&cold, 0, 1)])
    }

    fn pad_member(&self, padded: usize) -> Result<Vec<Placed>, PlanError> {
        if self.layout.members[padded].is_fixed {
            return Err(self.impossible("the compiler places that member"));
        }
        let mut placed = Vec::new();
        let mut end = 0u64;
        for (index, member) in self.layout.members.iter().enumerate() {
            let follows = index.checked_sub(1) == Some(padded);
            let alignment = match index == padded || follows {
                true => self.line_bytes.max(member.alignment),
                false => member.alignment,
            };
            let offset = end.next_multiple_of(alignment);
            placed.push((index, offset));
            end = offset + member.size;
        }
        let alignment = self.layout.alignment.max(self.line_bytes);
        let part = ObjectPart {
            size: end.max(1).next_multiple_of(alignment),
            alignment,
            members: self.layout.own_order(),
        };
        Ok(vec![(part, placed)])
    }

    fn arrays(&self) -> Result<Vec<Placed>, PlanError> {
        if self.layout.members.iter().any(|member| member.is_fixed) {
            return Err(self.impossible("a base class or a virtual table can't have an array of its own"));
        }
        let own = self.layout.own_order();
        Ok(own.into_iter().map(|index| self.part(&[index], 0, 1)).collect())
    }

    fn find(&self, names: &[String]) -> Result<Vec<usize>, PlanError> {
        let mut found: Vec<usize> = Vec::new();
        for name in names {
            let index = self.layout.member(name.trim()).ok_or_else(|| {
                let members: Vec<&str> = self
                    .layout
                    .members
                    .iter()
                    .map(|member| member.name.as_str())
                    .collect();
                PlanError::NoMember {
                    structure: self.layout.name.clone(),
                    member: name.clone(),
                    members: members.join(", "),
                }
            })?;
            if found.contains(&index) {
                return Err(PlanError::Twice {
                    structure: self.layout.name.clone(),
                    member: name.clone(),
                });
            }
            found.push(index);
        }
        Ok(found)
    }
}
