//! Types as debugging information describes them.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;
use gimli::{AttributeValue, Operation};
use trackway_trace::StructureKind;

use crate::debug_info::{number, DebugInfo, Entry, EntryId, UnitOf};
use crate::survey::Survey;

/// Types that name each other in turn more often than this are damaged.
const MOST_STEPS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Base { float: bool },
    Pointer,
    Reference,
    RvalueReference,
    Structure(StructureKind),
    Array,
    Typedef,
    Qualifier,
    Enumeration,
    Function,
    MemberPointer,
    Other,
}

#[derive(Debug)]
pub struct Type {
    pub form: Form,
    /// Empty: it has none.
    pub name: String,
    /// What a pointer points to, an array is made of, a typedef stands for.
    pub target: Option<EntryId>,
    /// Bytes, if it says so itself.
    pub size: Option<u64>,
    /// Members of a structure.
    pub members: Vec<Member>,
    /// Elements of an array in each dimension; none: unknown.
    pub dimensions: Vec<Option<u64>>,
    pub is_declaration: bool,
}

#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub type_id: EntryId,
    pub is_base: bool,
    pub offset_bits: u64,
    /// Bits of a bit-field.
    pub size_bits: Option<u64>,
}

pub struct Types<'a, 'd> {
    pub info: &'a DebugInfo<'d>,
    pub survey: &'a Survey<'a, 'd>,
    known: RefCell<HashMap<EntryId, Option<Rc<Type>>>>,
    names: RefCell<HashMap<EntryId, Rc<str>>>,
}

impl<'a, 'd> Types<'a, 'd> {
    pub fn new(info: &'a DebugInfo<'d>, survey: &'a Survey<'a, 'd>) -> Self {
        Types {
            info,
            survey,
            known: RefCell::default(),
            names: RefCell::default(),
        }
    }

    pub fn get(&self, id: EntryId) -> Option<Rc<Type>> {
        if let Some(known) = self.known.borrow().get(&id) {
            return known.clone();
        }
        let read = self.read(id).map(Rc::new);
        self.known.borrow_mut().insert(id, read.clone());
        read
    }

    /// What typedefs and qualifiers stand for, and of a declared structure its definition.
    pub fn bare(&self, id: EntryId) -> Option<(EntryId, Rc<Type>)> {
        let mut id = id;
        for _ in 0..MOST_STEPS {
            let found = self.get(id)?;
            match found.form {
                Form::Typedef | Form::Qualifier => id = found.target?,
                Form::Structure(_) if found.is_declaration => {
                    let defined = self.definition(id, &found);
                    return defined.or(Some((id, found)));
                }
                _ => return Some((id, found)),
            }
        }
        None
    }

    fn definition(&self, id: EntryId, declared: &Type) -> Option<(EntryId, Rc<Type>)> {
        let scope = self.survey.scope(id);
        let id = self.survey.definition(&format!("{scope}{}", declared.name))?;
        Some((id, self.get(id)?))
    }

    /// What a pointer or reference refers to.
    pub fn pointee(&self, id: EntryId) -> Option<EntryId> {
        let (_, bare) = self.bare(id)?;
        bare.target.filter(|_| bare.is_pointer())
    }

    /// Bytes; 0 if unknown.
    pub fn size(&self, id: EntryId) -> u64 {
        self.size_within(id, MOST_STEPS)
    }

    fn size_within(&self, id: EntryId, steps: usize) -> u64 {
        let Some((_, bare)) = self.bare(id).filter(|_| steps > 0) else {
            return 0;
        };
        match (bare.size, bare.form) {
            (Some(size), _) => size,
            (None, Form::Array) => {
                let count: Option<u64> = bare
                    .dimensions
                    .iter()
                    .try_fold(1u64, |product, count| product.checked_mul((*count)?));
                let element = bare
                    .target
                    .map_or(0, |target| self.size_within(target, steps - 1));
                count.and_then(|count| count.checked_mul(element)).unwrap_or(0)
            }
            (None, _) if bare.is_pointer() => 8,
            _ => 0,
        }
    }

    /// The name as in the source.
    pub fn name(&self, id: EntryId) -> Rc<str> {
        self.name_within(id, MOST_STEPS)
    }

    fn name_within(&self, id: EntryId, steps: usize) -> Rc<str> {
        if let Some(name) = self.names.borrow().get(&id) {
            return name.clone();
        }
        let name: Rc<str> = match steps {
            0 => "".into(),
            _ => self.spell(id, steps - 1).into(),
        };
        self.names.borrow_mut().insert(id, name.clone());
        name
    }

    fn spell(&self, id: EntryId, steps: usize) -> String {
        let Some(found) = self.get(id) else {
            return String::new();
        };
        let target = || match found.target {
            Some(target) => self.name_within(target, steps),
            None => "void".into(),
        };
        match found.form {
            Form::Base { .. } => base_name(&found.name).to_owned(),
            Form::Pointer | Form::Reference | Form::RvalueReference => {
                let target = target();
                let gap = if target.ends_with('*') { "" } else { " " };
                match target.is_empty() {
                    true => String::new(),
                    false => format!("{target}{gap}{}", found.mark()),
                }
            }
            Form::Array => {
                let count = |count: &Option<u64>| count.map_or("[]".into(), |count| format!("[{count}]"));
                let counts: String = found.dimensions.iter().map(count).collect();
                format!("{}{counts}", target())
            }
            Form::Qualifier => target().to_string(),
            Form::Structure(_) | Form::Enumeration if found.name.is_empty() => match self.survey.alias(id) {
                Some(alias) => self.qualified(alias),
                None => String::new(),
            },
            Form::Structure(_) | Form::Enumeration | Form::Typedef => self.qualified(id),
            Form::Function => "function".into(),
            Form::MemberPointer => "pointer to member".into(),
            Form::Other => found.name.clone(),
        }
    }

    fn qualified(&self, id: EntryId) -> String {
        let name = self.get(id).map(|found| found.name.clone()).unwrap_or_default();
        let scope = self.survey.scope(id);
        format!("{scope}{name}")
    }

    fn read(&self, id: EntryId) -> Option<Type> {
        let (unit, entry) = self.info.entry(id)?;
        let form = form_of(&entry)?;
        let mut read = Type {
            form,
            name: unit.name(&entry).unwrap_or_default(),
            target: unit.reference(&entry, gimli::DW_AT_type),
            size: number(&entry, gimli::DW_AT_byte_size),
            members: Vec::new(),
            dimensions: Vec::new(),
            is_declaration: unit.flag(&entry, gimli::DW_AT_declaration),
        };
        if matches!(form, Form::Structure(_) | Form::Array) {
            // What is damaged ends the list.
            let _ = read_parts(&unit, &entry, &mut read);
        }
        Some(read)
    }
}

impl Type {
    pub fn is_pointer(&self) -> bool {
        matches!(self.form, Form::Pointer | Form::Reference | Form::RvalueReference)
    }

    pub fn is_structure(&self) -> bool {
        matches!(self.form, Form::Structure(_))
    }

    pub fn is_array(&self) -> bool {
        self.form == Form::Array
    }

    pub fn is_float(&self) -> bool {
        self.form == Form::Base { float: true }
    }

    fn mark(&self) -> &'static str {
        match self.form {
            Form::Reference => "&",
            Form::RvalueReference => "&&",
            _ => "*",
        }
    }
}

fn form_of(entry: &Entry) -> Option<Form> {
    Some(match entry.tag {
        gimli::DW_TAG_base_type => Form::Base {
            float: matches!(
                entry.attr_value(gimli::DW_AT_encoding),
                Some(AttributeValue::Encoding(gimli::DW_ATE_float))
            ),
        },
        gimli::DW_TAG_pointer_type => Form::Pointer,
        gimli::DW_TAG_reference_type => Form::Reference,
        gimli::DW_TAG_rvalue_reference_type => Form::RvalueReference,
        gimli::DW_TAG_structure_type => Form::Structure(StructureKind::Struct),
        gimli::DW_TAG_class_type => Form::Structure(StructureKind::Class),
        gimli::DW_TAG_union_type => Form::Structure(StructureKind::Union),
        gimli::DW_TAG_array_type if !entry.has_attr(gimli::DW_AT_GNU_vector) => Form::Array,
        gimli::DW_TAG_typedef | gimli::DW_TAG_template_alias => Form::Typedef,
        gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_atomic_type => Form::Qualifier,
        gimli::DW_TAG_enumeration_type => Form::Enumeration,
        gimli::DW_TAG_subroutine_type => Form::Function,
        gimli::DW_TAG_ptr_to_member_type => Form::MemberPointer,
        _ => Form::Other,
    })
}

/// gcc's names of basic types are clang's here.
fn base_name(name: &str) -> &str {
    match name {
        "short int" => "short",
        "short unsigned int" => "unsigned short",
        "long int" => "long",
        "long unsigned int" => "unsigned long",
        "long long int" => "long long",
        "long long unsigned int" => "unsigned long long",
        _ => name,
    }
}

fn read_parts<'d>(unit: &UnitOf<'_, 'd>, whole: &Entry<'d>, read: &mut Type) -> gimli::Result<()> {
    let mut entries = unit.unit.entries_tree(Some(whole.offset))?;
    let mut children = entries.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        match entry.tag {
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance => read.members.extend(member(unit, entry)),
            gimli::DW_TAG_subrange_type => read.dimensions.push(length(entry)),
            _ => {}
        }
    }
    Ok(())
}

fn length(range: &Entry) -> Option<u64> {
    let count = number(range, gimli::DW_AT_count);
    count.or_else(|| number(range, gimli::DW_AT_upper_bound)?.checked_add(1))
}

/// None for static members and virtual base classes.
fn member<'d>(unit: &UnitOf<'_, 'd>, entry: &Entry<'d>) -> Option<Member> {
    if unit.flag(entry, gimli::DW_AT_external) || entry.has_attr(gimli::DW_AT_virtuality) {
        return None;
    }
    let size_bits = number(entry, gimli::DW_AT_bit_size);
    Some(Member {
        name: unit.name(entry).unwrap_or_default(),
        type_id: unit.reference(entry, gimli::DW_AT_type)?,
        is_base: entry.tag == gimli::DW_TAG_inheritance,
        offset_bits: offset_bits(unit, entry, size_bits)?,
        size_bits,
    })
}

fn offset_bits<'d>(unit: &UnitOf<'_, 'd>, entry: &Entry<'d>, size_bits: Option<u64>) -> Option<u64> {
    if let Some(bits) = number(entry, gimli::DW_AT_data_bit_offset) {
        return Some(bits);
    }
    let bytes = match entry.attr_value(gimli::DW_AT_data_member_location) {
        None => 0,
        Some(AttributeValue::Exprloc(place)) => match place.operations(unit.unit.encoding()).next().ok()?? {
            Operation::PlusConstant { value } => value,
            _ => return None,
        },
        Some(_) => number(entry, gimli::DW_AT_data_member_location)?,
    };
    let first = bytes.checked_mul(8)?;
    // Up to DWARF 3, a bit-field's distance was counted from the other end of its storage unit.
    match (
        size_bits,
        number(entry, gimli::DW_AT_bit_offset),
        number(entry, gimli::DW_AT_byte_size),
    ) {
        (Some(size), Some(from_end), Some(unit)) => (first + unit.checked_mul(8)?)
            .checked_sub(from_end)?
            .checked_sub(size),
        _ => Some(first),
    }
}
