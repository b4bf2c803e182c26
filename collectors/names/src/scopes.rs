//! The variables of functions, and where they are at an address.

use gimli::Range;
use trackway_trace::VariableKind;

use crate::debug_info::{DebugInfo, Entry, EntryId, UnitOf};
use crate::places::{pieces, Origin, Piece, Place};

/// Abstract entries that name each other in turn more often than this are damaged.
const MOST_ORIGINS: usize = 8;

pub struct Function {
    pub ranges: Vec<Range>,
    /// The base from which places in the frame are counted.
    pub frame: Option<Origin>,
    /// Its name and the type of what it returns; none if it returns nothing.
    pub result: Option<(String, EntryId)>,
    scope: Scope,
}

#[derive(Default)]
struct Scope {
    /// Empty: as far as what is around it.
    ranges: Vec<Range>,
    variables: Vec<Variable>,
    inner: Vec<Scope>,
}

pub struct Variable {
    pub name: String,
    pub kind: VariableKind,
    pub type_id: EntryId,
    /// And from where to where; none: everywhere.
    places: Vec<(Option<Range>, Vec<Piece>)>,
}

/// A variable and a part of it.
pub type Live<'f> = (&'f Variable, Piece);

impl Function {
    pub fn read(info: &DebugInfo, id: EntryId) -> Option<Function> {
        let (unit, entry) = info.entry(id)?;
        let base = entry
            .attr_value(gimli::DW_AT_frame_base)
            .and_then(|value| value.exprloc_value());
        let frame = base.and_then(|base| match pieces(&unit, base)[..] {
            [Piece {
                place: Place::Value(register, 0),
                ..
            }] => Some(Origin::Register(register)),
            [Piece {
                place: Place::Memory(Origin::Call, 0),
                ..
            }] => Some(Origin::Call),
            _ => None,
        });
        let mut entries = unit.unit.entries_tree(Some(entry.offset)).ok()?;
        let mut scope = Scope::default();
        // What is damaged ends the list.
        let _ = entries.root().and_then(|root| scope.read(info, &unit, root));
        Some(Function {
            ranges: unit.ranges(&entry),
            frame,
            result: declared(info, &unit, &entry).map(|(name, type_id, _)| (name, type_id)),
            scope,
        })
    }

    /// The variables that have a place at the address, those of inner blocks last.
    pub fn live(&self, address: u64) -> Vec<Live<'_>> {
        let mut live = Vec::new();
        self.scope.collect(address, &mut live);
        live
    }
}

fn holds(ranges: &[Range], address: u64) -> bool {
    ranges
        .iter()
        .any(|range| range.begin <= address && address < range.end)
}

impl Scope {
    fn read<'d>(
        &mut self,
        info: &DebugInfo<'d>,
        unit: &UnitOf<'_, 'd>,
        node: gimli::EntriesTreeNode<'_, '_, crate::elf::Bytes<'d>>,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    self.variables.extend(variable(info, unit, entry));
                }
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                    let mut inner = Scope {
                        ranges: unit.ranges(entry),
                        ..Scope::default()
                    };
                    inner.read(info, unit, child)?;
                    self.inner.push(inner);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn collect<'f>(&'f self, address: u64, live: &mut Vec<Live<'f>>) {
        for variable in &self.variables {
            live.extend(variable.pieces_at(address).iter().map(|piece| (variable, *piece)));
        }
        for inner in &self.inner {
            if inner.ranges.is_empty() || holds(&inner.ranges, address) {
                inner.collect(address, live);
            }
        }
    }
}

impl Variable {
    fn pieces_at(&self, address: u64) -> &[Piece] {
        let here = |range: &Option<Range>| match range {
            None => true,
            Some(range) => range.begin <= address && address < range.end,
        };
        let found = self.places.iter().find(|(range, _)| here(range));
        found.map_or(&[], |(_, pieces)| pieces)
    }
}

/// None if the name, the type or the place is unknown.
fn variable<'d>(info: &DebugInfo<'d>, unit: &UnitOf<'_, 'd>, entry: &Entry<'d>) -> Option<Variable> {
    let places = places(unit, entry)?;
    let (name, type_id, _) = declared(info, unit, entry)?;
    Some(Variable {
        name,
        type_id,
        kind: match entry.tag {
            gimli::DW_TAG_formal_parameter => VariableKind::Parameter,
            _ => VariableKind::Local,
        },
        places,
    })
}

/// Name, type, and whether others see it: its own, or of the entry of which it is an instance.
pub fn declared<'d>(
    info: &DebugInfo<'d>,
    unit: &UnitOf<'_, 'd>,
    entry: &Entry<'d>,
) -> Option<(String, EntryId, bool)> {
    let (mut name, mut type_id, mut external) = (None, None, false);
    let mut next = None;
    for _ in 0..MOST_ORIGINS {
        let held;
        let (unit, entry) = match next {
            None => (unit, entry),
            Some(id) => {
                held = info.entry(id)?;
                (&held.0, &held.1)
            }
        };
        name = name.or_else(|| unit.name(entry));
        type_id = type_id.or_else(|| unit.reference(entry, gimli::DW_AT_type));
        external |= unit.flag(entry, gimli::DW_AT_external);
        next = unit
            .reference(entry, gimli::DW_AT_abstract_origin)
            .or_else(|| unit.reference(entry, gimli::DW_AT_specification));
        if next.is_none() {
            break;
        }
    }
    Some((name.filter(|name| !name.is_empty())?, type_id?, external))
}

fn places<'d>(unit: &UnitOf<'_, 'd>, entry: &Entry<'d>) -> Option<Vec<(Option<Range>, Vec<Piece>)>> {
    let value = entry.attr_value(gimli::DW_AT_location)?;
    if let Some(expression) = value.exprloc_value() {
        let pieces = pieces(unit, expression);
        return (!pieces.is_empty()).then(|| vec![(None, pieces)]);
    }
    let mut list = unit.dwarf.attr_locations(unit.unit, value).ok()??;
    let mut places = Vec::new();
    while let Ok(Some(one)) = list.next() {
        let pieces = pieces(unit, one.data);
        if !pieces.is_empty() {
            places.push((Some(one.range), pieces));
        }
    }
    Some(places)
}
