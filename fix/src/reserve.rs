//! Vectors that a loop fills get room for all elements before it.

use std::collections::BTreeSet;
use std::fs;

use crate::asking::Subject;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::source_line::SourceLine;
use crate::structure::line_begin;
use crate::uses::{Growth, Use, What};

const INDENT: &str = "    ";

/// What the compiler is asked for.
pub fn subject(line: &SourceLine) -> Subject<'static> {
    Subject::Growths { line: line.line }
}

/// `found`: all calls of such a line that add to vectors.
pub fn edits(line: &SourceLine, found: &BTreeSet<Use>) -> Possibly<Edits> {
    let growths: Vec<(&Use, &Growth)> = found
        .iter()
        .filter_map(|found| match &found.what {
            What::Growth(growth) if line.is_of(found, growth.call) && !found.system => Some((found, growth)),
            _ => None,
        })
        .collect();
    if growths.is_empty() {
        return Err(vec![Refusal {
            place: Some(line.to_string()),
            why: "no push_back or emplace_back of a std::vector is here".into(),
        }]);
    }
    let mut edits = Edits::default();
    let mut reasons = Vec::new();
    for (found, growth) in growths {
        match growth.reasons.is_empty() {
            true => reasons.extend(reserve(found, growth, &mut edits).err()),
            false => reasons.extend(growth.reasons.iter().map(|why| Refusal::at(found, why))),
        }
    }
    match reasons.is_empty() {
        true => Ok(edits),
        false => Err(reasons),
    }
}

/// Puts the call above the loop.
fn reserve(found: &Use, growth: &Growth, edits: &mut Edits) -> Result<(), Refusal> {
    if found.r#macro || growth.vector.is_empty() || growth.count.is_empty() {
        return Err(Refusal::at(found, "a macro writes the loop"));
    }
    let text =
        fs::read_to_string(&found.file).map_err(|error| Refusal::new(format!("{}: {error}", found.file)))?;
    let Some(before) = text.get(..found.begin) else {
        return Err(Refusal::at(found, "the file isn't what the compiler read"));
    };
    let indent = &text[line_begin(&text, before.len())..before.len()];
    if !indent.trim().is_empty() {
        return Err(Refusal::at(found, "something stands before the loop on its line"));
    }
    let call = format!("{}.reserve({});", growth.vector, growth.count);
    let lines = match growth.guard.as_str() {
        "" => format!("{call}\n{indent}"),
        guard => format!("if ({guard})\n{indent}{INDENT}{call}\n{indent}"),
    };
    edits.insert(&found.file, found.begin, lines);
    Ok(())
}
