//! Look-ups are asked for some iterations before they are needed.

use std::collections::BTreeSet;
use std::fs;

use trackway_analysis::edits::PREFETCH_ITERATIONS;

use crate::asking::Subject;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::source_line::SourceLine;
use crate::uses::{LookUp, Span, Use, What};

const INDENT: &str = "    ";

/// What the compiler is asked for.
pub fn subject(line: &SourceLine) -> Subject<'static> {
    Subject::LookUps {
        line: line.line,
        distance: PREFETCH_ITERATIONS,
    }
}

/// `found`: all look-ups of such a line.
pub fn edits(line: &SourceLine, found: &BTreeSet<Use>) -> Possibly<Edits> {
    let look_ups: Vec<(&Use, &LookUp)> = found
        .iter()
        .filter(|found| line.has(found) && !found.system)
        .filter_map(|found| match &found.what {
            What::LookUp(look_up) => Some((found, look_up)),
            _ => None,
        })
        .collect();
    if look_ups.is_empty() {
        return Err(vec![Refusal {
            place: Some(line.to_string()),
            why: "no loop `for (i = ...; i < n; i++)` looks anything up here by what it reads at i alone"
                .into(),
        }]);
    }
    let mut edits = Edits::default();
    let mut reasons = Vec::new();
    let mut asked = BTreeSet::new();
    for (found, look_up) in look_ups {
        reasons.extend(look_up.reasons.iter().map(|why| Refusal::at(found, why)));
        let Some(body) = look_up
            .body
            .filter(|_| look_up.reasons.is_empty() && !found.r#macro)
        else {
            continue;
        };
        if asked.insert((body, &look_up.address)) {
            ask(found, look_up, body, &mut edits)?;
        }
    }
    match asked.is_empty() {
        true if reasons.is_empty() => Err(vec![Refusal::new("a macro writes the loop")]),
        true => Err(reasons),
        false => Ok(edits),
    }
}

/// Puts the prefetch at the beginning of the loop's body.
fn ask(found: &Use, look_up: &LookUp, (begin, end): Span, edits: &mut Edits) -> Possibly<()> {
    let text = fs::read_to_string(&found.file)
        .map_err(|error| vec![Refusal::new(format!("{}: {error}", found.file))])?;
    let (Some(before), Some(body), Some(after)) = (text.get(..begin), text.get(begin..end), text.get(end..))
    else {
        return Err(vec![Refusal::at(found, "the file isn't what the compiler read")]);
    };
    let prefetch = |indent: &str| {
        format!(
            "{indent}if ({})\n{indent}{INDENT}__builtin_prefetch(&{});\n",
            look_up.guard, look_up.address
        )
    };
    let line = last_line(before);
    if look_up.compound {
        let indent = match body[1..].split_once('\n') {
            Some((rest, next)) if rest.trim().is_empty() => indent_of(next).to_owned(),
            _ => format!("{}{INDENT}", indent_of(line)),
        };
        edits.insert(
            &found.file,
            begin + 1,
            format!("\n{}", prefetch(&indent).trim_end()),
        );
        return Ok(());
    }
    // The brace stands at the end of the loop's line, if the body has lines of its own and no comment is between them.
    let header = last_line(before.trim_end());
    let has_own_line = line.trim().is_empty() && !header.contains("//") && !header.ends_with("*/");
    let outer = if has_own_line {
        let inner = indent_of(line);
        edits.insert(&found.file, before.trim_end().len(), " {");
        edits.insert(&found.file, begin - line.len(), prefetch(inner));
        indent_of(header)
    } else {
        let inner = format!("{}{INDENT}", indent_of(line));
        edits.insert(&found.file, begin, format!("{{\n{}{inner}", prefetch(&inner)));
        indent_of(line)
    };
    edits.insert(&found.file, end + semicolon(body, after), format!("\n{outer}}}"));
    Ok(())
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// How far after a statement its semicolon ends; 0 if it ends with a brace.
fn semicolon(body: &str, after: &str) -> usize {
    match after.find(';') {
        Some(at) if !body.ends_with('}') && after[..at].trim().is_empty() => at + 1,
        _ => 0,
    }
}
