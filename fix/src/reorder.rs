//! Fields in another order.

use std::collections::BTreeSet;

use crate::bytes;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::structure::{Declaration, Structure};
use crate::uses::{Span, Use, What};

/// `first`: fields that come first, in this order; the others stay in theirs.
pub fn edits(structure: &Structure, first: &[String]) -> Possibly<Edits> {
    let mut reasons = bytes::knows_layout(structure);
    let definition = structure.definition;
    if definition.cxx && (!definition.trivial || definition.sections) {
        let why =
            "it has constructors, fields with constructors, or private and public fields: their order counts";
        reasons.push(Refusal::at(structure.defined, why));
    }
    if definition.declares_more {
        let why = "types or constants are declared among its fields, and later ones may need them";
        reasons.push(Refusal::at(structure.defined, why));
    }
    let before = definition.fields.first().map(|field| &field.name);
    if first.first() != before && bytes::is_first_address_taken(structure) {
        let why = "the address of its first field is used, and may stand for the object's";
        reasons.push(Refusal::at(structure.defined, why));
    }
    let places = structure
        .uses
        .iter()
        .filter(|found| matches!(found.what, What::Offsetof));
    reasons.extend(places.map(|found| Refusal::at(found, "the place of a field is asked for")));
    if structure.definition.packed || structure.definition.fields.iter().any(|field| field.bits) {
        reasons.push(Refusal::at(
            structure.defined,
            "it is packed, or has fields of bits",
        ));
    }
    let mut edits = Edits::default();
    for found in structure.uses {
        if let What::Initialiser {
            designated,
            elements,
            elided: false,
        } = &found.what
        {
            reasons.extend(by_name(structure, found, *designated, elements, &mut edits).err());
        }
    }
    match structure.declarations() {
        Ok(declarations) if reasons.is_empty() => {
            in_order(structure, &declarations, first, &mut edits)?;
            Ok(edits)
        }
        Ok(_) => Err(reasons),
        Err(more) => Err([reasons, more].concat()),
    }
}

/// Names the elements of an initialiser that goes by position.
fn by_name(
    structure: &Structure,
    found: &Use,
    designated: bool,
    elements: &[Option<Span>],
    edits: &mut Edits,
) -> Result<(), Refusal> {
    let is_zero = elements.is_empty();
    match structure.definition.cxx {
        _ if is_zero => return Ok(()),
        true => {
            return Err(Refusal::at(
                found,
                "an initialiser goes by the order of the fields",
            ))
        }
        false if designated => return Ok(()),
        false => (),
    }
    let fields = &structure.definition.fields;
    if elements.len() > fields.len() {
        return Err(Refusal::at(found, "an initialiser leaves out inner braces"));
    }
    for (field, element) in fields.iter().zip(elements) {
        let Some(element) = element else {
            return Err(Refusal::at(found, "a macro is a part of an initialiser"));
        };
        edits.insert(&found.file, element.0, format!(".{} = ", field.name));
    }
    Ok(())
}

/// The place of each declaration takes that which comes there now.
fn in_order(
    structure: &Structure,
    declarations: &[Declaration],
    first: &[String],
    edits: &mut Edits,
) -> Possibly<()> {
    let fields = &structure.definition.fields;
    let named = |name: &String| declarations.iter().position(|other| other.field == *name);
    let missing = first.iter().find(|name| named(name).is_none());
    if let Some(missing) = missing {
        return Err(vec![Refusal::at(
            structure.defined,
            format!("it has no field {missing}"),
        )]);
    }
    let mut order: Vec<usize> = first.iter().filter_map(named).collect();
    order.extend((0..declarations.len()).filter(|index| !first.contains(&fields[*index].name)));
    let flexible = fields.iter().position(|field| field.flexible);
    if flexible.is_some_and(|flexible| order.last() != Some(&flexible)) {
        return Err(vec![Refusal::at(
            structure.defined,
            "the array without a length must stay last",
        )]);
    }
    if order.iter().copied().eq(0..order.len()) {
        return Err(vec![Refusal::at(
            structure.defined,
            "the fields are in this order already",
        )]);
    }
    let places: BTreeSet<Span> = declarations.iter().map(|declaration| declaration.span).collect();
    let indent = indent_of(structure, declarations);
    // One declaration of several fields has one place.
    let mut next = order.iter();
    for (number, place) in places.iter().enumerate() {
        let held = declarations
            .iter()
            .filter(|declaration| declaration.span == *place)
            .count();
        let taken = if number + 1 == places.len() {
            order.len()
        } else {
            held
        };
        let texts: Vec<&str> = next
            .by_ref()
            .take(taken)
            .map(|&index| declarations[index].text.as_str())
            .collect();
        edits.replace(structure.file(), *place, texts.join(&format!("\n{indent}")));
    }
    Ok(())
}

/// The blanks before the first field.
pub fn indent_of(structure: &Structure, declarations: &[Declaration]) -> String {
    let Some(first) = declarations.first() else {
        return String::new();
    };
    let line = crate::structure::line_begin(&structure.source, first.span.0);
    let before = &structure.source[line..first.span.0];
    match before.trim().is_empty() {
        true => before.to_owned(),
        false => "    ".to_owned(),
    }
}
