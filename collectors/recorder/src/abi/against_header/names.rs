//! Finds what a C header defines: constants, structs and their members.

use std::collections::BTreeSet;

/// The names that the text of a header defines: `CONSTANT`, `struct` and `struct.member`. It knows the C that our
/// headers use: definitions begin a line, hold no others, and name one member in each declaration.
pub fn names_of_header(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| format!("\n{}", without_comment(line)))
        .collect();
    let mut names: BTreeSet<String> = code.lines().filter_map(defined_constant).collect();
    for definition in code.split("\nenum ").skip(1) {
        if let Some((_, body)) = name_and_body(definition) {
            names.extend(body.split(',').filter_map(first_word));
        }
    }
    for definition in code.split("\nstruct ").skip(1) {
        if let Some((name, body)) = name_and_body(definition) {
            let members = body.split(';').filter_map(member);
            names.extend(members.map(|member| format!("{name}.{member}")));
            names.insert(name.into());
        }
    }
    names
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim_end()
}

/// None for a guard of the header, which has no value.
fn defined_constant(line: &str) -> Option<String> {
    let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
    (!value.trim().is_empty()).then(|| name.to_owned())
}

/// What stands between the braces after a name; none if the name is only mentioned.
fn name_and_body(definition: &str) -> Option<(&str, &str)> {
    let (name, rest) = definition.split_once(char::is_whitespace)?;
    let body = rest.trim_start().strip_prefix('{')?;
    Some((name, body.split_once('}')?.0))
}

fn first_word(text: &str) -> Option<String> {
    text.split_whitespace().next().map(str::to_owned)
}

/// The name is the last word, but for the extents of an array.
fn member(declaration: &str) -> Option<String> {
    let before_extents = declaration.split('[').next()?;
    let name = before_extents.split_whitespace().next_back()?;
    Some(name.trim_start_matches('*').to_owned())
}

#[test]
fn finds_constants_structs_and_members() {
    let text = "#ifndef GUARD_H
#define GUARD_H
#define LENGTH 4 // entries
enum kind {
    FIRST = 1, // not struct no { int no; }
    SECOND,
};
struct other;
struct place {
    struct other *next; // null: none
    _Alignas(64) uint32_t at[LENGTH];
    const void *const *to;
};
";
    let names = names_of_header(text);
    let expected = [
        "FIRST",
        "LENGTH",
        "SECOND",
        "place",
        "place.at",
        "place.next",
        "place.to",
    ];
    assert_eq!(names, expected.map(str::to_owned).into());
}
