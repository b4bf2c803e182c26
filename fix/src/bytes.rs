//! Whether anything but the compiler knows how a structure is laid out.

use crate::refusal::Refusal;
use crate::structure::Structure;
use crate::uses::What;

/// Functions that take pointers to objects, and for which any layout is as good.
const INDIFFERENT: [&str; 10] = [
    "realloc",
    "reallocarray",
    "memset",
    "__builtin_memset",
    "qsort",
    "qsort_r",
    "bsearch",
    "pthread_create",
    "printf",
    "fprintf",
];
/// Functions that copy bytes: from one object to another, or to what may be a file or a message.
const COPYING: [&str; 4] = ["memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"];

/// Reasons to leave the order of the fields alone.
pub fn knows_layout(structure: &Structure) -> Vec<Refusal> {
    let reasons = structure.uses.iter().filter_map(|found| {
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
            _ => return None,
        };
        Some(Refusal::at(found, why))
    });
    reasons.collect()
}

fn is_indifferent(callee: &str, objects: usize) -> bool {
    INDIFFERENT.contains(&callee) || (COPYING.contains(&callee) && objects == 2)
}

/// What a refusal calls a function.
pub fn named(callee: &str) -> &str {
    match callee {
        "" => "a function behind a pointer",
        name => name,
    }
}
