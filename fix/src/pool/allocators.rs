//! Functions of a program that only pass on what the C library's allocator gives or takes.

use std::collections::{BTreeMap, BTreeSet};

use crate::uses::{Use, What};

/// What a function does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Gives { cleared: bool },
    Frees,
}

/// What a function does, and how many parameters it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Function {
    role: Role,
    parameters: usize,
}

/// By name: those of the library and the program's own. None is known that does more somewhere: two files may each have
/// a function of a name.
pub struct Allocators<'u>(BTreeMap<&'u str, Option<Function>>);

impl<'u> Allocators<'u> {
    pub fn of(found: &'u BTreeSet<Use>) -> Allocators<'u> {
        let library = [("malloc", 1), ("calloc", 2), ("free", 1)];
        let library = library.map(|(name, parameters)| (name, function(name, parameters)));
        let mut all = BTreeMap::from(library);
        for found in found {
            if let What::Allocator { name, of, parameters } = &found.what {
                let own = function(of, *parameters);
                let known = all.entry(name).or_insert(own);
                if *known != own {
                    *known = None;
                }
            }
        }
        Allocators(all)
    }

    pub fn role(&self, name: &str) -> Option<Role> {
        Some(self.function(name)?.role)
    }

    fn function(&self, name: &str) -> Option<Function> {
        *self.0.get(name)?
    }

    /// Under whose name objects are made: malloc and calloc are one allocator.
    pub fn maker<'n>(&self, name: &'n str) -> &'n str {
        match name {
            "calloc" => "malloc",
            name => name,
        }
    }

    /// A call for a block, by a number of objects and a size.
    pub fn call(&self, name: &str, count: &str, size: &str) -> String {
        match self.function(name).map(|function| function.parameters) {
            Some(2) => format!("{name}({count}, {size})"),
            _ => format!("{name}({count} * {size})"),
        }
    }
}

fn function(of: &str, parameters: usize) -> Option<Function> {
    let role = match of {
        "malloc" => Role::Gives { cleared: false },
        "calloc" => Role::Gives { cleared: true },
        "free" => Role::Frees,
        _ => return None,
    };
    Some(Function { role, parameters })
}
