//! Passages added up by what they have in common.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use trackway_trace::SiteId;

use super::passages::{Passage, Passages};
use super::HandOvers;

/// Passages that belong together.
pub(super) struct Group<K> {
    pub key: K,
    pub counts: HandOvers,
    /// The site that takes most.
    pub main_site: SiteId,
    /// How many lines are among them, the first and the last of which are these.
    pub lines: u64,
    first_line: u32,
    last_line: u32,
    /// That took lines.
    pub threads: HashSet<u32>,
    by_site: HashMap<SiteId, u64>,
}

impl<K> Group<K> {
    fn new(key: K, line: u32, site: SiteId) -> Group<K> {
        Group {
            key,
            counts: HandOvers::default(),
            main_site: site,
            lines: 1,
            first_line: line,
            last_line: line,
            threads: HashSet::new(),
            by_site: HashMap::new(),
        }
    }

    /// Lines come in order.
    fn add(&mut self, line: u32, passage: &Passage, counts: &HandOvers) {
        self.counts += counts;
        self.lines += u64::from(line != self.last_line);
        self.last_line = line;
        self.threads.insert(passage.to_thread);
        *self.by_site.entry(passage.to).or_default() += counts.all();
    }

    fn set_main_site(&mut self) {
        let by_site = self.by_site.iter();
        let most = by_site.max_by_key(|(site, count)| (**count, Reverse(**site)));
        self.main_site = most.map_or(self.main_site, |(site, _)| *site);
    }
}

/// The largest first; equal ones by their first site, so that the order is always the same.
pub(super) fn group_by<K: Eq + Hash + Clone>(
    passages: &Passages,
    key: impl Fn(&Passage) -> K,
) -> Vec<Group<K>> {
    group_lines_by(passages, passages.lines(), |_, passage| key(passage))
}

/// The `top` lines that went from thread to thread most often, and how many did at all.
pub(super) fn most_shared_lines(passages: &Passages, top: usize) -> (Vec<Group<u32>>, usize) {
    let mut lines: Vec<(Reverse<u64>, u32)> = passages
        .lines()
        .map(|line| (Reverse(passages.of_line_in_total(line).all()), line))
        .collect();
    let all = lines.len();
    if top < all {
        lines.select_nth_unstable(top);
        lines.truncate(top);
    }
    let lines = lines.into_iter().map(|(_, line)| line);
    (group_lines_by(passages, lines, |line, _| line), all)
}

/// What each thread took of these lines.
pub(super) fn taken_of_lines(
    passages: &Passages,
    lines: impl Iterator<Item = u32>,
) -> HashMap<(u32, u32), HandOvers> {
    let groups = group_lines_by(passages, lines, |line, passage| (line, passage.to_thread));
    groups
        .into_iter()
        .map(|group| (group.key, group.counts))
        .collect()
}

fn group_lines_by<K: Eq + Hash + Clone>(
    passages: &Passages,
    lines: impl Iterator<Item = u32>,
    key: impl Fn(u32, &Passage) -> K,
) -> Vec<Group<K>> {
    let mut groups: HashMap<K, Group<K>> = HashMap::new();
    for line in lines {
        for (passage, counts) in passages.of_line(line) {
            let key = key(line, passage);
            let group = groups
                .entry(key.clone())
                .or_insert_with(|| Group::new(key, line, passage.to));
            group.add(line, passage, counts);
        }
    }
    let mut groups: Vec<Group<K>> = groups.into_values().collect();
    groups.iter_mut().for_each(Group::set_main_site);
    groups.sort_by_cached_key(|group| {
        let least_thread = group.threads.iter().min().copied();
        (
            Reverse(group.counts.all()),
            group.main_site,
            group.first_line,
            least_thread,
        )
    });
    groups
}
