//! Look-ups are asked for some iterations before they are needed.

use std::collections::BTreeSet;
use std::fs;

use trackway_analysis::edits::PREFETCH_ITERATIONS;

use crate::asking::Subject;
use crate::edits::Edits;
use crate::refusal::{Possibly, Refusal};
use crate::source_line::SourceLine;
use crate::uses::{LookUp, Use, What};

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
fn ask(found: &Use, look_up: &LookUp, (begin, end): (usize, usize), edits: &mut Edits) -> Possibly<()> {
    let text = fs::read_to_string(&found.file)
        .map_err(|error| vec![Refusal::new(format!("{}: {error}", found.file))])?;
    let (Some(before), Some(body), Some(after)) = (text.get(..begin), text.get(begin..end), text.get(end..))
    else {
        return Err(vec![Refusal::at(found, "the file isn't what the compiler read")]);
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let around: String = line.chars().take_while(|letter| letter.is_whitespace()).collect();
    let prefetch = |indent: &str| {
        format!(
            "{indent}if ({})\n{indent}{INDENT}__builtin_prefetch(&{});\n",
            look_up.guard, look_up.address
        )
    };
    if look_up.compound {
        let indent = match body[1..].split_once('\n') {
            Some((rest, next)) if rest.trim().is_empty() => next
                .chars()
                .take_while(|letter| letter.is_whitespace() && *letter != '\n')
                .collect(),
            _ => format!("{around}{INDENT}"),
        };
        let prefetch = prefetch(&indent);
        edits.insert(
            &found.file,
            begin + 1,
            format!("\n{}", prefetch.trim_end_matches('\n')),
        );
        return Ok(());
    }
    // The statement ends with its semicolon, if it isn't one with braces.
    let semicolon = after.trim_start().starts_with(';') && !body.ends_with('}');
    let end = match semicolon {
        true => end + after.find(';').unwrap_or(0) + 1,
        false => end,
    };
    // The brace stands at the loop's end of line, if no comment does.
    let header = before.trim_end();
    let header_line = header.rsplit('\n').next().unwrap_or_default();
    let is_own_line = line.trim().is_empty() && !header_line.contains("//") && !header_line.ends_with("*/");
    let outer: String = match is_own_line {
        true => header_line
            .chars()
            .take_while(|letter| letter.is_whitespace())
            .collect(),
        false => around.clone(),
    };
    let inner = match is_own_line {
        true => around,
        false => format!("{outer}{INDENT}"),
    };
    if is_own_line {
        edits.insert(&found.file, header.len(), " {");
        edits.insert(&found.file, begin - line.len(), prefetch(&inner));
    } else {
        edits.insert(&found.file, begin, format!("{{\n{}{inner}", prefetch(&inner)));
    }
    edits.insert(&found.file, end, format!("\n{outer}}}"));
    Ok(())
}
