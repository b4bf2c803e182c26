//! Names of C++ for people.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

/// What compilers call a namespace without a name.
const UNNAMED: &str = "(anonymous namespace)::";

/// The text without namespaces that have no name, which say nothing; what stands between quotes is to be typed and stays.
pub fn readable(text: &str) -> String {
    if !text.contains(UNNAMED) {
        return text.to_owned();
    }
    let quoted = text.split('\'').enumerate();
    let parts = quoted.map(|(index, part)| match index % 2 {
        0 => part.replace(UNNAMED, ""),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("'")
}

/// What stands for the arguments of a template.
pub const LEFT_OUT: &str = "<…>";

/// The name in that many terminal cells, if that is possible by leaving out arguments of templates: the innermost go
/// first, and of these the longest. All else stays whole, such as the function's own name, and what stands between quotes.
pub fn shortened(name: &str, width: usize) -> String {
    let mut name = name.to_owned();
    while name.width() > width {
        let lists = argument_lists(&name);
        let Some(list) = lists
            .into_iter()
            .max_by_key(|list| (list.depth, list.range.len()))
        else {
            break;
        };
        name.replace_range(list.range, LEFT_OUT);
    }
    name
}

/// Arguments of a template, with their brackets.
struct ArgumentList {
    range: Range<usize>,
    depth: usize,
}

/// The lists that leaving out would make shorter; none if the brackets aren't in pairs, as in comparisons.
fn argument_lists(name: &str) -> Vec<ArgumentList> {
    let mut open: Vec<usize> = Vec::new();
    let mut lists = Vec::new();
    for (at, sign) in name.match_indices(['<', '>']) {
        let before = &name[..at];
        match sign {
            _ if is_operator(before) => {}
            "<" if before.ends_with(' ') => {}
            "<" => open.push(at),
            _ if before.ends_with('-') => {}
            _ => {
                let Some(begin) = open.pop() else {
                    return Vec::new();
                };
                let range = begin..at + sign.len();
                if is_template(&name[..begin]) && name[range.clone()].width() > LEFT_OUT.width() {
                    lists.push(ArgumentList {
                        range,
                        depth: open.len(),
                    });
                }
            }
        }
    }
    match open.is_empty() {
        true => lists,
        false => Vec::new(),
    }
}

/// Whether the sign after this belongs to the name of an operator.
fn is_operator(before: &str) -> bool {
    before
        .trim_end_matches(['<', '>', '=', '-'])
        .ends_with("operator")
}

/// Whether this ends in a name that is not between quotes.
fn is_template(before: &str) -> bool {
    let is_quoted = before.matches('\'').count() % 2 == 1;
    !is_quoted && before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_templates_are_left_out_from_within() {
        let name =
            "std::map<std::basic_string<char, std::less<char> >, int>::at<long>(std::vector<int> const&)";
        for (width, expected) in [
            (91, name),
            (
                90,
                "std::map<std::basic_string<char, std::less<…> >, int>::at<long>(std::vector<int> const&)",
            ),
            (
                84,
                "std::map<std::basic_string<…>, int>::at<long>(std::vector<int> const&)",
            ),
            (69, "std::map<…>::at<long>(std::vector<int> const&)"),
            (45, "std::map<…>::at<…>(std::vector<int> const&)"),
            (9, "std::map<…>::at<…>(std::vector<…> const&)"),
        ] {
            assert_eq!(shortened(name, width), expected, "{width}");
        }
    }

    #[test]
    fn what_is_no_template_stays() {
        for name in [
            "operator<<(std::ostream&, int)",
            "bool operator<=>(A, B)",
            "read_alias < expand < main",
            "<Accounts as Iterator>::next",
            "--split 'Pool<int, 4>:a,b'",
            "f<(a > b)>",
            "{lambda(int)#1}::operator()(int) const",
        ] {
            assert_eq!(shortened(name, 5), name);
        }
        assert_eq!(
            shortened("Set<int*>::operator<(Set<int*> const&)", 5),
            "Set<…>::operator<(Set<…> const&)"
        );
        assert_eq!(shortened("operator-><Key>(Key*)", 5), "operator-><Key>(Key*)");
    }

    #[test]
    fn namespaces_without_a_name_are_left_out_but_of_commands() {
        assert_eq!(
            readable("(anonymous namespace)::Grid::at((anonymous namespace)::Cell&)"),
            "Grid::at(Cell&)"
        );
        let command = "(anonymous namespace)::Cell: --split '(anonymous namespace)::Cell:next'";
        assert_eq!(
            readable(command),
            "Cell: --split '(anonymous namespace)::Cell:next'"
        );
        assert_eq!(readable("main"), "main");
    }
}
