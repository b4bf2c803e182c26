//! How accesses move through memory: patterns of sites, working sets, entropy.

mod entropy;
mod shard;
mod strides;
mod tables;
mod working_set;

pub use shard::PatternsShard;
pub use strides::Pattern;

use std::collections::HashMap;

use trackway_trace::{Batch, Program, Site, Trace};

use crate::model::site_counts::group::type_key;
use crate::{Analysis, Findings, Order};
use strides::{SiteTypes, NO_TYPE};

/// Says of each site how its addresses move, and of the program how much memory it works on.
#[derive(Debug, Clone)]
pub struct Patterns {
    /// A power of two, at least 16.
    pub line_bytes: u32,
    /// Whether there is one working set of all threads in one order, instead of one for each thread.
    pub merged: bool,
    /// Rows of the table of sites.
    pub top: usize,
    /// Whether all windows of all threads are shown, instead of a few of the thread with the most accesses.
    pub fine: bool,
}

impl Analysis for Patterns {
    type Shard = PatternsShard;

    fn order(&self) -> Order {
        Order::across_threads_if(self.merged)
    }

    fn takes_runs(&self) -> bool {
        true
    }

    fn start_shard(&self) -> PatternsShard {
        PatternsShard::new(self)
    }

    fn take_program(&self, shard: &mut PatternsShard, program: &Program) {
        shard.take_program(site_types(program));
    }

    fn take_batch(&self, shard: &mut PatternsShard, batch: &Batch) {
        shard.take(batch);
    }

    fn merge(&self, into: &mut PatternsShard, from: PatternsShard) {
        into.merge(from);
    }

    fn finish(&self, shard: PatternsShard, trace: &Trace) -> Findings {
        tables::findings(self, &shard, trace)
    }
}

/// The types of all sites, as small numbers, and how many numbers there are.
fn site_types(program: &Program) -> (Vec<SiteTypes>, usize) {
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
