//! References of sites that belong together.

use std::collections::HashMap;
use std::hash::Hash;

use super::references::{Count, References};

/// References under one name.
pub(super) struct Group {
    pub name: String,
    /// One of its sites, or owners.
    pub member: usize,
    pub count: Count,
}

/// Adds up what has the same key; the group with the most accesses comes first. Calls `name` for the first `top` only,
/// and leaves out the others. Also returns the number of groups.
pub(super) fn group_by<K: Eq + Hash + Copy>(
    references: &References,
    top: usize,
    key: impl Fn(usize) -> K,
    name: impl Fn(K) -> String,
) -> (Vec<Group>, usize) {
    let mut positions: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<(K, usize, Count)> = Vec::new();
    for number in (0..references.len()).filter(|number| references.is_used(*number)) {
        let key = key(number);
        let position = *positions.entry(key).or_insert_with(|| {
            groups.push((key, number, Count::default()));
            groups.len() - 1
        });
        references.add_to(number, &mut groups[position].2);
    }
    let count = groups.len();
    groups.sort_by_key(|(_, _, count)| std::cmp::Reverse((count.accesses, count.references)));
    groups.truncate(top);
    let named = groups.into_iter().map(|(key, member, mut count)| {
        count.complete();
        Group {
            name: name(key),
            member,
            count,
        }
    });
    (named.collect(), count)
}
