//! Names of C++ for people.

use std::collections::{HashMap, HashSet};
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

/// Parameter lists of fewer terminal cells stay as they are.
const LEAST_PARAMETERS: usize = 8;

/// A sentence or a name in that many terminal cells, as far as that is possible by leaving out folders of files, arguments of
/// templates, and then parameters of functions.
pub fn abridged(text: &str, width: usize) -> String {
    with_few_parameters(&shortened(&without_folders(text, width), width), width)
}

/// The same of all names of a column. Those that only their folders or parameters tell apart keep them.
pub fn all_abridged(names: &[String], width: usize) -> Vec<String> {
    let without_arguments: Vec<String> = names.iter().map(|name| shortened(name, width)).collect();
    let shortest: Vec<String> = names.iter().map(|name| abridged(name, width)).collect();
    let mut origins: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (short, name) in shortest.iter().zip(names) {
        origins.entry(short).or_default().insert(name);
    }
    let is_unique = |short: &str| origins.get(short).is_some_and(|names| names.len() == 1);
    let choose = |(short, longer): (&String, &String)| match is_unique(short) {
        true => short.clone(),
        false => longer.clone(),
    };
    shortest.iter().zip(&without_arguments).map(choose).collect()
}

/// `/usr/include/list.h:7` as `…/list.h:7`, the longest folders first.
fn without_folders(text: &str, width: usize) -> String {
    let mut text = text.to_owned();
    while text.width() > width {
        let Some(range) = folders(&text).into_iter().max_by_key(|range| range.len()) else {
            break;
        };
        text.replace_range(range, "…/");
    }
    text
}

/// Where absolute paths have folders.
fn folders(text: &str) -> Vec<Range<usize>> {
    let ends = |sign: char| sign.is_whitespace() || matches!(sign, ':' | ',' | ';' | ')' | '\'' | '`');
    let begins = text.match_indices('/').map(|(at, _)| at).filter(|&at| {
        let before = &text[..at];
        let is_begin = before.is_empty() || before.ends_with([' ', '(', ',']);
        is_begin && !is_quoted(before)
    });
    let found = begins.filter_map(|begin| {
        let path = text[begin..].split(ends).next()?;
        let folders = path.rfind('/')? + 1;
        ("…/".width() < path[..folders].width()).then_some(begin..begin + folders)
    });
    found.collect()
}

/// Whether quotes or back-quotes are open: what stands between them is to be typed.
fn is_quoted(before: &str) -> bool {
    ['\'', '`']
        .iter()
        .any(|quote| before.matches(*quote).count() % 2 == 1)
}

/// `f(int, long, char)` as `f(int, …)` or, where that has no room either, as `f(…)`: the longest lists first.
fn with_few_parameters(name: &str, width: usize) -> String {
    let mut name = name.to_owned();
    for few in [with_first_parameter, without_parameters] {
        while name.width() > width {
            let lists = parameter_lists(&name).into_iter();
            let shorter = lists.filter_map(|list| few(&name[list.clone()]).map(|few| (list, few)));
            let Some((list, few)) = shorter.max_by_key(|(list, _)| list.len()) else {
                break;
            };
            name.replace_range(list, &few);
        }
    }
    name
}

/// None if that is no shorter.
fn with_first_parameter(list: &str) -> Option<String> {
    let inner = list.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0_usize;
    let comma = inner.char_indices().find(|(_, sign)| {
        match sign {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *sign == ','
    });
    let few = format!("({}, …)", &inner[..comma?.0]);
    (few.width() < list.width()).then_some(few)
}

fn without_parameters(list: &str) -> Option<String> {
    (list.width() >= LEAST_PARAMETERS).then(|| "(…)".to_owned())
}

/// Where long lists of parameters stand, with their parentheses: after a name, and not within another list.
fn parameter_lists(name: &str) -> Vec<Range<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut lists = Vec::new();
    for (at, sign) in name.match_indices(['(', ')']) {
        if sign == "(" {
            open.push(at);
            continue;
        }
        let Some(begin) = open.pop() else {
            return Vec::new();
        };
        let range = begin..at + sign.len();
        let is_long = name[range.clone()].width() >= LEAST_PARAMETERS;
        if open.is_empty() && is_long && is_function(&name[..begin]) {
            lists.push(range);
        }
    }
    match open.is_empty() {
        true => lists,
        false => Vec::new(),
    }
}

/// Whether this ends in the name of a function, also of an operator or a template, that is not between quotes.
fn is_function(before: &str) -> bool {
    let is_named = before.ends_with(|sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '>' | ')'));
    !is_quoted(before) && (is_named || before.trim_end_matches(OPERATOR_SIGNS).ends_with("operator"))
}

const OPERATOR_SIGNS: [char; 13] = ['<', '>', '=', '-', '+', '*', '/', '%', '!', '&', '|', '[', ']'];

/// The name in that many terminal cells, if that is possible by leaving out arguments of templates: the innermost go
/// first, and of these the longest. All else stays whole, such as the function's own name, and what stands between quotes.
fn shortened(name: &str, width: usize) -> String {
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
    !is_quoted(before) && before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_')
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
    fn parameters_that_have_no_room_are_left_out() {
        for (name, width, expected) in [
            ("f(int, char const*, long)", 25, "f(int, char const*, long)"),
            ("f(int, char const*, long)", 24, "f(int, …)"),
            ("f(int, char const*, long) const", 14, "f(…) const"),
            ("f(long long, char const*) const", 14, "f(…) const"),
            (
                "f(std::function<void(int, int)>, long)",
                34,
                "f(std::function<…>, long)",
            ),
            (
                "f(std::function<void(int, int)>, long)",
                24,
                "f(std::function<…>, …)",
            ),
            (
                "operator<<(std::ostream&, Account const&)",
                30,
                "operator<<(std::ostream&, …)",
            ),
            ("Grid::operator()(int, int, int, int)", 20, "Grid::operator()(…)"),
            ("g(Pair<int, long> const&, int) < main", 24, "g(…) < main"),
            ("short(int)", 5, "short(int)"),
            (
                "stack of thread 0 (the first of all)",
                10,
                "stack of thread 0 (the first of all)",
            ),
            (
                "--split 'f(int, char const*, long):a'",
                10,
                "--split 'f(int, char const*, long):a'",
            ),
            ("torn(int, char const*, long", 10, "torn(int, char const*, long"),
        ] {
            assert_eq!(abridged(name, width), expected, "{name} in {width}");
        }
    }

    #[test]
    fn folders_that_have_no_room_are_left_out() {
        let name = "calloc at /work/list/list.h:7, from /work/main.c:12";
        for (width, expected) in [
            (51, name),
            (50, "calloc at …/list.h:7, from /work/main.c:12"),
            (40, "calloc at …/list.h:7, from …/main.c:12"),
        ] {
            assert_eq!(abridged(name, width), expected, "{width}");
        }
        let command = "`trackway report /work/list/prog.trackway` says where, and /a/b";
        assert_eq!(
            abridged(command, 5),
            "`trackway report /work/list/prog.trackway` says where, and …/b"
        );
        assert_eq!(abridged("reads/writes of a/b/c", 5), "reads/writes of a/b/c");
    }

    #[test]
    fn functions_that_only_their_parameters_tell_apart_keep_them() {
        let names = [
            "at(int, long, long)",
            "at(int, char, char)",
            "at(int, long, long)",
            "to(int, char, char)",
        ];
        let shown = all_abridged(&names.map(str::to_owned), 12);
        assert_eq!(shown, [names[0], names[1], names[0], "to(int, …)"]);
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
