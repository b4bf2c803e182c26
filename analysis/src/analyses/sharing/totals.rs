//! Passages added up by what they have in common.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use trackway_trace::SiteId;

use super::passages::{Passage, SortedPassages};
use super::LineTransfers;

/// Passages that belong together.
pub(super) struct Group<K> {
    pub key: K,
    pub counts: LineTransfers,
    /// The site that takes most.
    pub main_site: SiteId,
    /// How many lines are among them.
    pub lines: u64,
    first: Passage,
    last_line: u32,
    /// Threads that took lines.
    pub threads: HashSet<u32>,
    by_site: HashMap<SiteId, u64>,
}

impl<K> Group<K> {
    fn new(key: K, first: Passage) -> Group<K> {
        Group {
            key,
            counts: LineTransfers::default(),
            main_site: first.to,
            lines: 1,
            first,
            last_line: first.line,
            threads: HashSet::new(),
            by_site: HashMap::new(),
        }
    }

    fn add(&mut self, passage: &Passage, counts: &LineTransfers) {
        self.counts += counts;
        self.lines += u64::from(passage.line != self.last_line);
        self.last_line = passage.line;
        self.threads.insert(passage.to_thread);
        *self.by_site.entry(passage.to).or_default() += counts.all();
    }

    /// The sites that take lines.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.by_site.keys().copied()
    }

    fn set_main_site(&mut self) {
        let by_site = self.by_site.iter();
        let most = by_site.max_by_key(|(site, count)| (**count, Reverse(**site)));
        self.main_site = most.map_or(self.main_site, |(site, _)| *site);
    }
}

/// The groups of all passages.
pub(super) fn group_by<K: Eq + Hash + Clone>(
    passages: &SortedPassages,
    key: impl Fn(&Passage) -> K,
) -> Vec<Group<K>> {
    group(passages.all(), key)
}

/// The `top` lines that went from thread to thread most often, and how many did at all.
pub(super) fn most_shared_lines(passages: &SortedPassages, top: usize) -> (Vec<Group<u32>>, usize) {
    let mut lines: Vec<(u32, u64)> = Vec::new();
    for (passage, counts) in passages.all() {
        match lines.last_mut() {
            Some((line, all)) if *line == passage.line => *all += counts.all(),
            _ => lines.push((passage.line, counts.all())),
        }
    }
    let all = lines.len();
    if top < all {
        lines.select_nth_unstable_by_key(top, |(line, all)| (Reverse(*all), *line));
        lines.truncate(top);
    }
    let shown = lines.iter().flat_map(|(line, _)| passages.of_line(*line));
    (group(shown, |passage| passage.line), all)
}

/// What each thread took of these lines, by line and thread.
pub(super) fn taken_of_lines(
    passages: &SortedPassages,
    lines: impl Iterator<Item = u32>,
) -> HashMap<(u32, u32), LineTransfers> {
    let shown = lines.flat_map(|line| passages.of_line(line));
    let groups = group(shown, |passage| (passage.line, passage.to_thread));
    groups
        .into_iter()
        .map(|group| (group.key, group.counts))
        .collect()
}

/// Groups passages, the largest group first. Equal groups are ordered by main site and first passage, so that the order
/// is always the same. Passages come in their order.
fn group<'p, K: Eq + Hash + Clone>(
    passages: impl Iterator<Item = (&'p Passage, &'p LineTransfers)>,
    key: impl Fn(&Passage) -> K,
) -> Vec<Group<K>> {
    let mut groups: HashMap<K, Group<K>> = HashMap::new();
    for (passage, counts) in passages {
        let key = key(passage);
        let group = groups
            .entry(key.clone())
            .or_insert_with(|| Group::new(key, *passage));
        group.add(passage, counts);
    }
    let mut groups: Vec<Group<K>> = groups.into_values().collect();
    groups.iter_mut().for_each(Group::set_main_site);
    groups.sort_by_key(|group| (Reverse(group.counts.all()), group.main_site, group.first));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_groups_have_one_order() {
        let counts = LineTransfers::default();
        let from = |site| Passage {
            line: 0,
            from: SiteId(site),
            to: SiteId(0),
            from_thread: 1,
            to_thread: 2,
        };
        let passages: Vec<Passage> = (0..100).map(from).collect();
        let groups = group(passages.iter().map(|passage| (passage, &counts)), |passage| {
            passage.from
        });
        let sites: Vec<u32> = groups.iter().map(|group| group.key.0).collect();
        assert_eq!(sites, (0..100).collect::<Vec<u32>>());
    }
}
