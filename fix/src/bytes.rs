//! Whether anything but the compiler knows how a structure is laid out, and how large it is.

use crate::refusal::Refusal;
use crate::structure::Structure;
use crate::uses::{Use, What};

/// Functions that take pointers to objects, and for which any layout is as good.
const INDIFFERENT: [&str; 9] = [
    "realloc",
    "reallocarray",
    "memset",
    "__builtin_memset",
    "qsort",
    "qsort_r",
    "bsearch",
    "printf",
    "fprintf",
];
/// The same, of functions that pass a pointer on, and take no size.
const PASSING: [&str; 1] = ["pthread_create"];
/// Functions that copy bytes: from one object to another, or to what may be a file or a message.
const COPYING: [&str; 4] = ["memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"];

/// Whether a function accesses objects while it runs, and neither keeps nor frees them.
pub fn only_accesses(callee: &str) -> bool {
    !callee.contains("alloc") && (INDIFFERENT.contains(&callee) || COPYING.contains(&callee))
}

/// Reasons to leave the layout alone.
pub fn knows_layout(structure: &Structure) -> Vec<Refusal> {
    let uses = structure.uses.iter().filter(|found| !found.system);
    let reasons = uses.filter_map(|found| {
        let why = match &found.what {
            What::Passed {
                callee,
                objects,
                bytes,
                frees: false,
                outside,
                ..
            } if (*bytes || *outside) && !is_indifferent(callee, *objects) => {
                format!(
                    "objects are passed to {}, which may store or send their bytes",
                    named(callee)
                )
            }
            What::Cast {
                void: false,
                integer: false,
                other,
                ..
            } => format!("a pointer to it is cast to or from {other}"),
            What::Object(object) if object.what == "union" => {
                format!("a union holds objects, as {}", object.name)
            }
            What::Base { name } => format!("{name} is derived from it"),
            What::Member {
                beyond: true, field, ..
            } => {
                format!("a function is passed the address of {field}, and a larger size")
            }
            What::Bound => "its fields are bound to names by their order".into(),
            What::Initialiser { elided: true, .. } => "an initialiser leaves out inner braces".into(),
            What::Sizeof {
                callee, gives: false, ..
            } if !is_size_of_memory(structure, found, callee) => {
                "its size is used for something else than memory".into()
            }
            What::Allocation { sized: false, .. } => {
                "objects are allocated by other sizes than multiples of their own".into()
            }
            _ => return None,
        };
        Some(Refusal::at(found, why))
    });
    reasons.collect()
}

/// Whether a `sizeof` is part of what follows any size: an allocation of objects, what moves them, or the count of an array.
fn is_size_of_memory(structure: &Structure, found: &Use, callee: &str) -> bool {
    let ratio = matches!(found.what, What::Sizeof { ratio: true, .. });
    ratio || INDIFFERENT.contains(&callee) || COPYING.contains(&callee) || is_of_allocation(structure, found)
}

/// Whether a `sizeof` stands within a call that is known to allocate objects.
pub fn is_of_allocation(structure: &Structure, found: &Use) -> bool {
    structure.uses.iter().any(|other| {
        let allocates = matches!(other.what, What::Allocation { sized: true, .. });
        allocates && other.file == found.file && other.begin <= found.begin && found.end <= other.end
    })
}

/// Whether the address of the first field is taken: that of the object, if one knows the layout.
pub fn is_first_address_taken(structure: &Structure) -> bool {
    let first = structure
        .definition
        .fields
        .first()
        .map(|field| field.name.as_str());
    structure.uses.iter().any(|found| match &found.what {
        What::Member { field, address, .. } => *address && first == Some(field),
        _ => false,
    })
}

fn is_indifferent(callee: &str, objects: usize) -> bool {
    INDIFFERENT.contains(&callee) || PASSING.contains(&callee) || (COPYING.contains(&callee) && objects == 2)
}

/// What a refusal calls a function.
pub fn named(callee: &str) -> &str {
    match callee {
        "" => "a function that a pointer names",
        name => name,
    }
}
