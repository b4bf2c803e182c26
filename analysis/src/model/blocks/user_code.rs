//! Which functions are the user's own, and neither constructors nor the standard library's.

use trackway_trace::{FunctionId, LocationId, Program, StringId};

use crate::model::Names;

/// Where headers of the system lie.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/"];
/// Scopes of the standard library.
const SYSTEM_SCOPES: [&str; 3] = ["std::", "__gnu_cxx::", "__cxxabiv1::"];

/// A function, and where in it something stands; the unknown place if that isn't known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    pub function: StringId,
    pub location: LocationId,
}

pub struct UserCode<'p> {
    program: &'p Program,
    names: Names<'p>,
}

impl<'p> UserCode<'p> {
    pub fn new(program: &'p Program) -> Self {
        UserCode {
            program,
            names: Names::new(program),
        }
    }

    /// The innermost function of the user's at a place in the code of `function`, inlined ones among them.
    pub fn nearest(&self, function: FunctionId, location: LocationId) -> Option<Frame> {
        let function = self.program.function(function);
        let places = self.program.inline_stack(location);
        let mut frames = places
            .map(|location| Frame {
                function: self.program.location(location).function,
                location,
            })
            .filter(|frame| !self.program.string(frame.function).is_empty())
            .peekable();
        if frames.peek().is_none() {
            let file = self.program.location(function.location).file;
            let frame = Frame {
                function: function.linkage_name,
                location,
            };
            return self.is_users(frame.function, file).then_some(frame);
        }
        frames.find(|frame| self.is_users(frame.function, self.program.location(frame.location).file))
    }

    fn is_users(&self, function: StringId, file: StringId) -> bool {
        let path = self.program.string(file);
        let is_system =
            path.contains("/include/c++/") || SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
        let name = self.names.function(function);
        let scopes = scopes(&name);
        let is_library = SYSTEM_SCOPES.iter().any(|scope| scopes.starts_with(scope));
        !(is_system || is_library || is_constructor(scopes))
    }
}

/// `std::vector<int>::push_back` of `void std::vector<int>::push_back(int const&)`.
fn scopes(name: &str) -> &str {
    let (mut depth, mut start) = (0, 0);
    for (position, byte) in name.bytes().enumerate() {
        match byte {
            b'(' if depth == 0 && !name[position..].starts_with("(anonymous namespace)") => {
                return &name[start..position];
            }
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b' ' if depth == 0 => start = position + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Whether the last two scopes have one name: `Vec<int>::Vec`.
fn is_constructor(scopes: &str) -> bool {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    let mut characters = scopes.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ':' if depth == 0 => {
                characters.next_if_eq(&':');
                parts.push(String::new());
            }
            _ if depth == 0 => parts.last_mut().into_iter().for_each(|part| part.push(character)),
            _ => {}
        }
    }
    matches!(&parts[..], [.., class, name] if class == name && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_without_result_and_parameters() {
        for (name, expected) in [
            ("Vec::Vec(unsigned long)", "Vec::Vec"),
            (
                "void std::vector<int, std::allocator<int> >::f<int const&>(int const&)",
                "std::vector<int, std::allocator<int> >::f<int const&>",
            ),
            (
                "(anonymous namespace)::Vec::Vec(int)",
                "(anonymous namespace)::Vec::Vec",
            ),
            ("main", "main"),
        ] {
            assert_eq!(scopes(name), expected);
        }
    }

    #[test]
    fn constructors_bear_the_name_of_their_class() {
        for name in [
            "Vec::Vec",
            "a::Vec<int>::Vec",
            "Vec::Vec<char>",
            "(anonymous namespace)::Vec::Vec",
        ] {
            assert!(is_constructor(name), "{name}");
        }
        for name in ["main", "Vec::~Vec", "a::Vec<b::c>::c", "Vec::resize", ""] {
            assert!(!is_constructor(name), "{name}");
        }
    }
}
