//! Which types sites access, and to which types the pointers lead that they load.

use std::collections::HashMap;

use trackway_trace::{Program, Site};

use super::site_counts::group::type_key;

/// No type.
pub(crate) const NO_TYPE: u32 = u32::MAX;

/// What is known of types before anything runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SiteTypes {
    /// Type of the object, or of the value where there is no object.
    pub accessed: u32,
    /// What a loaded pointer points to; none if no pointer is loaded.
    pub pointed_to: u32,
}

/// The types of all sites, as small numbers, and how many numbers there are.
pub(crate) fn site_types(program: &Program) -> (Vec<SiteTypes>, usize) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |name| match name {
        "" => NO_TYPE,
        name => {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        }
    };
    let types = |site: &Site| SiteTypes {
        accessed: number(plain_name(program.string(type_key(program, site)))),
        pointed_to: match site.kind.reads() {
            true => number(pointed_to(program.string(site.value_type))),
            false => NO_TYPE,
        },
    };
    let types = program.sites.iter().map(types).collect();
    (types, numbers.len())
}

/// `node` of `struct node *`; empty if the type is no pointer.
fn pointed_to(type_name: &str) -> &str {
    type_name.trim_end().strip_suffix('*').map_or("", plain_name)
}

fn plain_name(type_name: &str) -> &str {
    let mut name = type_name.trim();
    while let Some(rest) = ["const ", "volatile ", "struct ", "class ", "union "]
        .iter()
        .find_map(|word| name.strip_prefix(word))
    {
        name = rest.trim_start();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_known_by_their_names() {
        for (name, expected) in [
            ("struct node *", "node"),
            ("const Cell *", "Cell"),
            ("double **", "double *"),
            ("node", ""),
            ("", ""),
        ] {
            assert_eq!(pointed_to(name), expected);
        }
        assert_eq!(plain_name("const struct node"), "node");
    }
}
