//! Passages added up by what they have in common.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use trackway_trace::SiteId;

use super::{HandOvers, Passage, SharingShard};

/// Passages that belong together.
pub(super) struct Group<K> {
    pub key: K,
    pub counts: HandOvers,
    /// The site that takes most.
    pub main_site: SiteId,
    pub lines: HashSet<u32>,
    /// That took lines.
    pub threads: HashSet<u32>,
    by_site: HashMap<SiteId, u64>,
}

/// The largest first; equal ones by their first site, so that the order is always the same.
pub(super) fn group_by<K: Eq + Hash + Clone>(
    shard: &SharingShard,
    key: impl Fn(&Passage) -> K,
) -> Vec<Group<K>> {
    let mut groups: HashMap<K, Group<K>> = HashMap::new();
    for (passage, counts) in &shard.passages {
        let key = key(passage);
        let group = groups.entry(key.clone()).or_insert_with(|| Group {
            key,
            counts: HandOvers::default(),
            main_site: passage.to,
            lines: HashSet::new(),
            threads: HashSet::new(),
            by_site: HashMap::new(),
        });
        group.counts += counts;
        group.lines.insert(passage.line);
        group.threads.insert(passage.to_thread);
        *group.by_site.entry(passage.to).or_default() += counts.all();
    }
    let mut groups: Vec<Group<K>> = groups.into_values().collect();
    for group in &mut groups {
        let most = group
            .by_site
            .iter()
            .max_by_key(|(site, count)| (**count, Reverse(**site)));
        group.main_site = most.map_or(group.main_site, |(site, _)| *site);
    }
    groups.sort_by_cached_key(|group| {
        let first_line = group.lines.iter().min().copied();
        let least_thread = group.threads.iter().min().copied();
        (
            Reverse(group.counts.all()),
            group.main_site,
            first_line,
            least_thread,
        )
    });
    groups
}

pub(super) fn total(shard: &SharingShard) -> HandOvers {
    let mut total = HandOvers::default();
    shard.passages.values().for_each(|counts| total += counts);
    total
}
