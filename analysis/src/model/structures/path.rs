//! Finds the place of a field from its path.

use trackway_trace::{MemberKind, Program, TypeId};

/// Deepest nesting of structures that is followed, as a table could nest them without bounds.
const MAX_DEPTH: usize = 8;
/// Members that are looked at for one path.
const MAX_STEPS: usize = 10_000;

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resolution {
    /// Index of the outermost member on the path.
    pub member: usize,
    /// Offset of the field in bytes, if the path leads through no array and to no bit-field.
    pub offset: Option<u64>,
}

/// `pos.{x|y}` stands for `pos.x` and `pos.y`.
pub(super) fn alternatives(path: &str) -> Vec<String> {
    let parts = path.strip_suffix('}').and_then(|path| path.split_once('{'));
    match parts {
        Some((shared, choices)) => choices
            .split('|')
            .map(|choice| format!("{shared}{choice}"))
            .collect(),
        None => vec![path.to_owned()],
    }
}

pub(super) fn resolve(program: &Program, id: TypeId, path: &str) -> Option<Resolution> {
    let mut steps = MAX_STEPS;
    walk(program, id, path, MAX_DEPTH, &mut steps)
}

fn walk(program: &Program, id: TypeId, path: &str, depth: usize, steps: &mut usize) -> Option<Resolution> {
    let layout = program.type_layout(id);
    *steps = steps.checked_sub(layout.members.len())?;
    let named = layout.members.iter().enumerate().filter_map(|(index, member)| {
        let name = program.string(member.name);
        let rest = path.strip_prefix(name).filter(|_| !name.is_empty())?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some((name.len(), index, rest))
    });
    // A name may contain a dot: the longest one that fits is meant.
    if let Some((_, index, rest)) = named.max_by_key(|(length, _, _)| *length) {
        let member = &layout.members[index];
        let start = member.offset_bits / 8;
        let fixed = member.kind != MemberKind::BitField;
        let inner = rest.trim_start_matches("[]");
        let is_element = inner.len() < rest.len();
        let offset = match (inner.strip_prefix('.'), member.nested) {
            (None, _) => (fixed && !is_element && inner.is_empty()).then_some(start),
            (Some(inner), Some(nested)) => {
                let within = walk(program, nested, inner, depth.checked_sub(1)?, steps)?.offset;
                within.filter(|_| !is_element).map(|within| start + within)
            }
            (Some(_), None) => None,
        };
        return Some(Resolution {
            member: index,
            offset,
        });
    }
    let depth = depth.checked_sub(1)?;
    layout.members.iter().enumerate().find_map(|(index, member)| {
        let nested = member.nested.filter(|_| program.string(member.name).is_empty())?;
        let within = walk(program, nested, path, depth, steps)?.offset;
        let start = member.offset_bits / 8;
        let offset = within.map(|within| start + within);
        Some(Resolution {
            member: index,
            offset,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_hold_alternatives() {
        assert_eq!(alternatives("pos.{x|y}"), ["pos.x", "pos.y"]);
        assert_eq!(alternatives("{a|b}"), ["a", "b"]);
        assert_eq!(alternatives("cells[].next"), ["cells[].next"]);
    }
}
