//! Names of functions, fields and variables for people.

use std::collections::HashMap;
use std::path::Path;

use trackway_trace::{Program, Site, StringId};

/// Stands for an empty name.
pub const UNKNOWN: &str = "(unknown)";

/// Looks names of a program up.
pub struct Names<'p> {
    program: &'p Program,
    /// Source names of functions by linkage name.
    functions: HashMap<StringId, StringId>,
}

impl<'p> Names<'p> {
    pub fn new(program: &'p Program) -> Self {
        let functions = program
            .functions
            .iter()
            .filter(|function| !program.string(function.name).is_empty());
        Names {
            program,
            functions: functions
                .map(|function| (function.linkage_name, function.name))
                .collect(),
        }
    }

    /// The text, or [`UNKNOWN`] for the empty one.
    pub fn text(&self, id: StringId) -> &'p str {
        named(self.program.string(id))
    }

    /// The name of a function as in the source; C++ functions with their scope and parameters.
    pub fn function(&self, linkage_name: StringId) -> String {
        let linkage_text = self.program.string(linkage_name);
        // What the compiler made of OpenMP's constructs has names by the pass.
        let is_made = linkage_text.contains(".omp");
        if let Some(demangled) = demangle(linkage_text).filter(|_| !is_made) {
            return demangled;
        }
        self.text(self.functions.get(&linkage_name).copied().unwrap_or(linkage_name))
            .to_owned()
    }

    /// The function in which the access is written in the source.
    pub fn function_of(&self, site: &Site) -> String {
        self.function(written_in(self.program, site))
    }

    /// `arc.ident` for the field `ident` of `struct arc`.
    pub fn field(&self, object_type: StringId, field: StringId) -> String {
        let object_type = without_keyword(self.program.string(object_type));
        format!("{object_type}.{}", self.program.string(field))
    }
}

/// The linkage name of the function in which the access is written, before inlining.
pub fn written_in(program: &Program, site: &Site) -> StringId {
    let location = program.location(site.location);
    match program.string(location.function) {
        "" => program.function(site.function).linkage_name,
        _ => location.function,
    }
}

/// The text, or [`UNKNOWN`] for the empty one.
pub(crate) fn named(text: &str) -> &str {
    match text {
        "" => UNKNOWN,
        text => text,
    }
}

/// The path of a file without the folder in which the program ran.
pub(crate) fn path_inside(folder: impl AsRef<Path>, path: &str) -> &str {
    let inside = Path::new(path).strip_prefix(folder).ok();
    inside.and_then(Path::to_str).unwrap_or(path)
}

pub(crate) fn without_keyword(type_name: &str) -> &str {
    ["struct ", "class ", "union "]
        .iter()
        .find_map(|keyword| type_name.strip_prefix(keyword))
        .unwrap_or(type_name)
}

pub(crate) fn demangle(linkage_name: &str) -> Option<String> {
    if is_rust(linkage_name) {
        let demangled = rustc_demangle::try_demangle(linkage_name).ok()?;
        return Some(format!("{demangled:#}")); // without hashes of crates
    }
    if !linkage_name.starts_with("_Z") {
        return None;
    }
    let demangled = cpp_demangle::Symbol::new(linkage_name).ok()?.demangle().ok()?;
    Some(without_empty_packs(&demangled))
}

/// The name without what the demangler leaves of parameter packs that have no elements: `make_unique<P, >(&&)` is
/// `make_unique<P>()`. A reference to an array, `int (&&)[2]`, has a space before it.
fn without_empty_packs(name: &str) -> String {
    const LEFTOVERS: [(&str, &str); 5] = [
        (", >", ">"),
        ("<, ", "<"),
        (", &&)", ")"),
        (", &&,", ","),
        ("(&&, ", "("),
    ];
    let name = LEFTOVERS
        .iter()
        .fold(name.to_owned(), |name, (leftover, repaired)| {
            name.replace(leftover, repaired)
        });
    match name.split_once("(&&)") {
        Some((function, rest)) if !function.ends_with(' ') => format!("{function}(){rest}"),
        _ => name,
    }
}

/// Rust has a scheme of its own, and an older one that looks like C++ but for the hash at its end.
fn is_rust(linkage_name: &str) -> bool {
    const HASH_DIGITS: usize = 16;
    let name = linkage_name.split('.').next().unwrap_or_default();
    let hash = name
        .strip_suffix('E')
        .and_then(|rest| rest.rsplit_once("17h"))
        .map(|(_, hash)| hash);
    let has_hash = hash
        .is_some_and(|hash| hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()));
    name.starts_with("_R") || (name.starts_with("_ZN") && has_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_rust_have_neither_hashes_nor_crate_numbers() {
        let demangled = |name| demangle(name).unwrap();
        assert_eq!(demangled("_ZN1m5price17hbda1567360326c4eE"), "m::price");
        assert_eq!(demangled("_RNvCskK7mfDs1mzF_1m5price"), "m::price");
        assert_eq!(
            demangled("_RINvNtCsgEmfK2I1SDS_4core3ptr5writeNtCskK7mfDs1mzF_1m3ArcEBz_"),
            "core::ptr::write::<m::Arc>"
        );
        assert_eq!(demangled("_ZN3Foo3barEv"), "Foo::bar()");
    }

    #[test]
    fn packs_without_elements_leave_nothing() {
        let demangled = |name| demangle(name).unwrap();
        assert_eq!(
            demangled("_ZSt11make_uniqueI1PJEENSt8__detail9_MakeUniqIT_E15__single_objectEDpOT0_"),
            "std::__detail::_MakeUniq<P>::__single_object std::make_unique<P>()"
        );
        assert_eq!(
            demangled("_ZN4PackIJEE3addIiJEEEvT_DpOT0_"),
            "void Pack<>::add<int>(int)"
        );
        assert_eq!(
            demangled("_ZN4PackIJEE3addIiJiEEEvT_DpOT0_"),
            "void Pack<>::add<int, int>(int, int&&)"
        );
        assert_eq!(demangled("_Z4leadIJEiEvT0_DpOT_"), "void lead<int>(int)");
        assert_eq!(demangled("_Z4takeOA2_i"), "take(int (&&) [2])");
    }

    #[test]
    fn keywords_of_types_are_left_out() {
        assert_eq!(without_keyword("struct arc"), "arc");
        assert_eq!(
            without_keyword("std::vector<struct arc>"),
            "std::vector<struct arc>"
        );
    }

    #[test]
    fn only_mangled_names_are_demangled() {
        assert_eq!(demangle("_ZN3Foo3barEi").as_deref(), Some("Foo::bar(int)"));
        assert_eq!(demangle("main"), None);
        assert_eq!(demangle("_Z!"), None);
    }
}
