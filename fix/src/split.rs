//! Fields that are rarely used go to a structure of their own, and all that uses them goes there.

mod objects;

use std::collections::BTreeSet;

use trackway_analysis::whatif::Link;

use crate::bytes::{is_first_address_taken, is_of_allocation, named};
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::reorder::indent_of;
use crate::structure::{Declaration, Structure};
use crate::uses::{Span, Use, What};
use objects::Objects;

const NEW_NAMES: [&str; 4] = ["rest", "cold", "rare", "rarely_used_part"];

/// What the new parts are called.
struct Names {
    /// The structure that stays, as the source spells it.
    whole: String,
    /// The namespace of both, with its colons.
    scope: String,
    /// The structure that is new, in that namespace.
    rest: String,
    /// The field with the pointer to it, or the function that finds it.
    link: String,
}

impl Names {
    fn of(structure: &Structure) -> Names {
        // What an unnamed namespace holds is found without it.
        let name = structure.definition.name.replace("(anonymous namespace)::", "");
        let (scope, base) = name.rsplit_once("::").unwrap_or(("", &name));
        Names {
            whole: structure
                .definition
                .spelled()
                .replace("(anonymous namespace)::", ""),
            scope: if scope.is_empty() {
                String::new()
            } else {
                format!("{scope}::")
            },
            rest: free_name(structure, base),
            link: free_link(structure),
        }
    }

    /// The new structure, from anywhere.
    fn rest_type(&self) -> String {
        format!("struct {}{}", self.scope, self.rest)
    }
}

/// `stays`: the fields that stay. Says as well how objects find the rest.
pub fn edits(structure: &Structure, stays: &[String]) -> Possibly<(Edits, Link)> {
    let moved = |field: &str| !stays.iter().any(|other| other == field);
    let mut reasons = refusals(structure, moved);
    let objects = Objects::of(structure).map_err(|more| reasons.extend(more));
    let declarations = structure.declarations().map_err(|more| reasons.extend(more));
    let (Ok(objects), Ok(declarations)) = (objects, declarations) else {
        return Err(reasons);
    };
    let names = Names::of(structure);
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let mut edits = Edits::default();
    let indent = indent_of(structure, &declarations);
    let mut rest = match structure.definition.named {
        true => format!("{};\n", declared(structure)),
        false => String::new(),
    };
    rest += &format!("struct {} {{\n", names.rest);
    let mut spans: Vec<Span> = declarations.iter().map(|declaration| declaration.span).collect();
    spans.dedup();
    for span in spans {
        let whole = &structure.source[span.0..span.1];
        let together = declarations.iter().filter(|one| one.span == span);
        let (moving, staying): (Vec<&Declaration>, Vec<_>) = together.partition(|one| moved(&one.field));
        let lines = |those: &[&Declaration]| {
            let texts: Vec<&str> = those.iter().map(|one| one.text.as_str()).collect();
            texts.join(&format!("\n{indent}"))
        };
        if staying.is_empty() {
            rest += &format!("{indent}{whole}\n");
            edits.replace(structure.file(), with_line(structure, span), "");
        } else if !moving.is_empty() {
            rest += &format!("{indent}{}\n", lines(&moving));
            edits.replace(structure.file(), span, lines(&staying));
        }
    }
    edits.insert(structure.file(), structure.first_line(), rest + "};\n\n");
    if objects.link == Link::Pointer {
        // The first field stays first: its address may stand for the object's.
        let stays = declarations.iter().rev().find(|one| !moved(&one.field));
        let last = stays.map_or(structure.opened(), |one| one.span.1);
        let field = format!("\n{indent}struct {} *{};", names.rest, names.link);
        edits.insert_last(structure.file(), last, field);
    }
    for found in structure.uses {
        use_rest(found, objects.link, &names, moved, &mut edits);
    }
    objects.edit(structure, &names, &mut edits)?;
    Ok((edits, objects.link))
}

fn use_rest(found: &Use, link: Link, names: &Names, moved: impl Fn(&str) -> bool, edits: &mut Edits) {
    let What::Member {
        field,
        base,
        name: Some(name),
        arrow,
        ..
    } = &found.what
    else {
        return;
    };
    if !moved(field) {
        return;
    }
    match (link, base) {
        (Link::Pointer, _) => edits.insert(&found.file, name.0, format!("{}->", names.link)),
        (Link::Index, Some(base)) => {
            let before = format!("{}{}({}", names.scope, names.rest, if *arrow { "" } else { "&" });
            edits.wrap(&found.file, *base, &before, ")");
            if !arrow {
                edits.replace(&found.file, (base.1, name.0), "->");
            }
        }
        // Structures with member functions are refused where parts go by index.
        (Link::Index, None) => (),
    }
}

/// The structure that stays, before fields of the other mention it.
fn declared(structure: &Structure) -> String {
    let definition = structure.definition;
    let base = definition.name.rsplit("::").next().unwrap_or(&definition.name);
    format!("{} {base}", definition.tag)
}

/// With the line, if nothing else stands on it.
fn with_line(structure: &Structure, span: Span) -> Span {
    let begin = crate::structure::line_begin(&structure.source, span.0);
    let end = span.1
        + structure.source[span.1..]
            .find('\n')
            .map_or(0, |newline| newline + 1);
    let alone =
        structure.source[begin..span.0].trim().is_empty() && structure.source[span.1..end].trim().is_empty();
    if alone {
        (begin, end)
    } else {
        span
    }
}

/// The first name of the new structure that no source has; the last is long enough to be nobody's.
fn free_name(structure: &Structure, base: &str) -> String {
    let files: BTreeSet<&str> = structure.uses.iter().map(|found| found.file.as_str()).collect();
    let texts: Vec<String> = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect();
    let names = NEW_NAMES.map(|name| format!("{base}_{name}"));
    let is_free = |name: &&String| !texts.iter().any(|text| text.contains(*name));
    let last = NEW_NAMES.len() - 1;
    names.iter().find(is_free).unwrap_or(&names[last]).clone()
}

fn free_link(structure: &Structure) -> String {
    let fields = &structure.definition.fields;
    let is_free = |name: &&&str| !fields.iter().any(|field| field.name == **name);
    let last = NEW_NAMES[NEW_NAMES.len() - 1];
    (*NEW_NAMES.iter().find(is_free).unwrap_or(&last)).to_owned()
}

/// Reasons that lie in how objects are used.
fn refusals(structure: &Structure, moved: impl Fn(&str) -> bool) -> Vec<Refusal> {
    let definition = structure.definition;
    let mut reasons = Vec::new();
    if definition.packed || definition.fields.iter().any(|field| field.flexible) {
        reasons.push(Refusal::at(
            structure.defined,
            "it is packed, or ends in an array without a length",
        ));
    }
    if definition.declares_more || definition.sections {
        let why = "types or constants are declared among its fields, or some fields are private";
        reasons.push(Refusal::at(structure.defined, why));
    }
    if is_first_address_taken(structure) {
        let why = "the address of its first field is used, and may stand for the object's";
        reasons.push(Refusal::at(structure.defined, why));
    }
    if !definition.aggregate {
        reasons.push(Refusal::at(
            structure.defined,
            "it has constructors, virtual functions or private fields",
        ));
    }
    if definition.nested {
        reasons.push(Refusal::at(
            structure.defined,
            "it is defined within another class or function",
        ));
    }
    if definition.fields.iter().any(|field| field.name.is_empty()) {
        reasons.push(Refusal::at(structure.defined, "it has a field without a name"));
    }
    reasons.extend(structure.uses.iter().filter_map(|found| {
        let why = against(structure, found, &moved)?;
        Some(Refusal::at(found, why))
    }));
    reasons
}

fn against(structure: &Structure, found: &Use, moved: impl Fn(&str) -> bool) -> Option<String> {
    let why = match &found.what {
        What::Member {
            beyond: true, field, ..
        } => {
            format!("a function is passed the address of {field}, and a larger size")
        }
        What::Member { field, .. } if !moved(field) => return None,
        What::Member {
            name: None, field, ..
        } => format!("a macro uses {field}"),
        What::Member { value: true, .. } => "a field of an object that a function returned".into(),
        What::Member { this: true, .. } => "a member function uses a field".into(),
        What::Member {
            base: None, field, ..
        } => format!("a macro uses {field}"),
        What::Dependent { field } if moved(field) && !found.system => format!("a template may use {field}"),
        What::Bound => "its fields are bound to names".into(),
        What::Sizeof { ratio: false, .. } if !is_of_allocation(structure, found) => {
            "the size is asked for".into()
        }
        What::Offsetof => "the place of a field is asked for".into(),
        What::Initialiser { .. } => "an object is initialised as a whole".into(),
        What::Copy {
            left: Some(_),
            right: Some(_),
            statement: true,
        } => return None,
        What::Copy { .. } => "an object is copied as a whole, within an expression".into(),
        What::Passed { frees: true, .. } => return None,
        What::Passed { callee, .. } => format!("objects are passed to {} as bytes", named(callee)),
        What::Cast {
            integer: true,
            to: true,
            ..
        } => return None,
        What::Cast { other, .. } => format!("a pointer to it is cast to or from {other}"),
        What::New => "objects are made by new".into(),
        What::Base { name } => format!("{name} is derived from it"),
        What::TemplateArgument => "a template holds objects".into(),
        _ => return None,
    };
    Some(why)
}
