//! Room between objects, and objects and fields on cache lines of their own.

use crate::bytes;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::structure::Structure;
use crate::uses::{Use, What};

/// More would be no padding.
const MOST_PADDING: u64 = 4096;

/// Adds so many bytes after the last field of each object.
pub fn padded(structure: &Structure, bytes: u64) -> Possibly<Edits> {
    let mut reasons = bytes::knows_layout(structure);
    let fields = &structure.definition.fields;
    if fields
        .iter()
        .any(|field| field.flexible || field.name == "padding")
    {
        reasons.push(Refusal::at(
            structure.defined,
            "it ends in an array without a length, or is padded already",
        ));
    }
    if !(1..=MOST_PADDING).contains(&bytes) {
        reasons.push(Refusal::new(format!(
            "{bytes} bytes of padding are none, or more than a page"
        )));
    }
    let mut edits = Edits::default();
    for found in structure.uses {
        reasons.extend(completed(structure, found, &mut edits).err());
    }
    let declarations = structure
        .declarations()
        .map_err(|more| [reasons.clone(), more].concat())?;
    let Some(last) = declarations.last().filter(|_| reasons.is_empty()) else {
        return Err(reasons);
    };
    let indent = crate::reorder::indent_of(structure, &declarations);
    edits.insert(
        structure.file(),
        last.span.1,
        format!("\n{indent}char padding[{bytes}];"),
    );
    Ok(edits)
}

/// An initialiser that has all fields gets the new one, or the compiler would warn.
fn completed(structure: &Structure, found: &Use, edits: &mut Edits) -> Result<(), Refusal> {
    let What::Initialiser {
        designated: false,
        elided: false,
        elements,
    } = &found.what
    else {
        return Ok(());
    };
    let definition = structure.definition;
    let Some(last) = elements
        .last()
        .filter(|_| elements.len() == definition.fields.len())
    else {
        return Ok(());
    };
    let last = last.ok_or_else(|| Refusal::at(found, "a macro is a part of an initialiser"))?;
    edits.insert(&found.file, last.1, if definition.cxx { ", {}" } else { ", {0}" });
    Ok(())
}

/// Objects begin at multiples of so many bytes.
pub fn aligned(structure: &Structure, bytes: u64) -> Possibly<Edits> {
    let mut edits = placed(structure, bytes)?;
    edits.insert(
        structure.file(),
        structure.closed(),
        format!(" {}", attribute(bytes)),
    );
    Ok(edits)
}

/// A field begins a line, and so does what comes after it.
pub fn field_alone(structure: &Structure, field: &str, line_bytes: u64) -> Possibly<Edits> {
    let mut edits = placed(structure, line_bytes)?;
    let fields = &structure.definition.fields;
    let refuse = |why: &str| vec![Refusal::at(structure.defined, why)];
    let index = fields.iter().position(|other| other.name == field);
    let index = index.ok_or_else(|| refuse("it has no such field"))?;
    for field in fields.iter().skip(index).take(2) {
        let span = field.span.ok_or_else(|| refuse("a macro declares a field"))?;
        edits.insert(structure.file(), span.1, format!(" {}", attribute(line_bytes)));
    }
    Ok(edits)
}

fn attribute(bytes: u64) -> String {
    format!("__attribute__((aligned({bytes})))")
}

/// Allocations of objects that must begin at such places.
fn placed(structure: &Structure, bytes: u64) -> Possibly<Edits> {
    let mut reasons = bytes::knows_layout(structure);
    let mut edits = Edits::default();
    for found in structure.uses {
        match &found.what {
            What::Object(object) if object.what == "field" || object.what == "union" => {
                let why = format!("another structure holds objects, as {}", object.name);
                reasons.push(Refusal::at(found, why));
            }
            What::Sizeof {
                callee, gives: true, ..
            } if !bytes::is_of_allocation(structure, found) => {
                let why = format!("objects are allocated by {}", bytes::named(callee));
                reasons.push(Refusal::at(found, why));
            }
            What::TemplateArgument => reasons.push(Refusal::at(found, "a template allocates objects")),
            What::Allocation { .. } => reasons.extend(aligned_allocation(found, bytes, &mut edits).err()),
            _ => (),
        }
    }
    match reasons.is_empty() {
        true => Ok(edits),
        false => Err(reasons),
    }
}

fn aligned_allocation(found: &Use, bytes: u64, edits: &mut Edits) -> Result<(), Refusal> {
    let What::Allocation {
        callee,
        callee_span: Some(span),
        arguments,
        sized: true,
        ..
    } = &found.what
    else {
        return Err(Refusal::at(
            found,
            "objects are allocated by a macro, or by other sizes than multiples of their own",
        ));
    };
    match (callee.as_str(), &arguments[..]) {
        // The size is a multiple of the alignment, as `aligned_alloc` wants it.
        ("malloc", [Some(argument)]) => {
            edits.replace(&found.file, *span, "aligned_alloc");
            edits.insert(&found.file, argument.0, format!("{bytes}, "));
            Ok(())
        }
        _ => Err(Refusal::at(found, format!("objects are allocated by {callee}"))),
    }
}
