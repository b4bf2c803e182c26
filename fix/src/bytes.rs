//! Whether anything but the compiler knows how a structure is laid out.

use crate::refusal::Refusal;
use crate::structure::Structure;
use crate::uses::{Span, Use, What};

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
                callee_span,
                bytes,
                frees: false,
                outside,
                ..
            } if (*bytes || *outside) && !is_indifferent(structure, found, callee, *callee_span) => {
                format!("objects are passed to {callee}, which may store or send their bytes")
            }
            What::Cast {
                void: false,
                integer: false,
                other,
                ..
            } => format!("a pointer to it is cast to or from {other}"),
            What::Base { name } => format!("{name} is derived from it"),
            _ => return None,
        };
        Some(Refusal::at(found, why))
    });
    reasons.collect()
}

fn is_indifferent(structure: &Structure, found: &Use, callee: &str, call: Option<Span>) -> bool {
    INDIFFERENT.contains(&callee) || (COPYING.contains(&callee) && is_between_objects(structure, found, call))
}

/// Both pointers of the call are to objects.
fn is_between_objects(structure: &Structure, found: &Use, call: Option<Span>) -> bool {
    let is_same = |other: &&Use| match &other.what {
        What::Passed { callee_span, .. } => other.file == found.file && *callee_span == call,
        _ => false,
    };
    call.is_some() && structure.uses.iter().filter(is_same).count() == 2
}
