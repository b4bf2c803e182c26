//! Fields whose lines threads take from each other, for advice.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use trackway_trace::{SiteId, Trace};

use super::totals::group_by;
use super::{LineTransfers, Sharing};
use crate::engine::{run_unfinished, Observer};
use crate::model::site_counts::group;
use crate::model::Names;

/// A field or variable whose cache lines go from thread to thread.
#[derive(Debug, Clone)]
pub struct ContendedField {
    pub name: String,
    /// All sites that access it.
    pub sites: Vec<SiteId>,
    /// The site that takes its lines most often.
    pub main_site: SiteId,
    pub transfers: LineTransfers,
    /// Threads that take its lines.
    pub threads: usize,
    /// Threads that wrote it when its lines were taken.
    pub writers: usize,
}

/// The fields by which lines go from thread to thread, those that are taken most often first.
pub fn contended_fields(
    trace: &Trace,
    line_bytes: u64,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Vec<ContendedField> {
    let program = trace.program();
    let names = Names::new(program);
    let sharing = Sharing::new(program, line_bytes, 0);
    let (shard, _) = run_unfinished(&sharing, trace, threads, observer);
    let passages = shard.in_order().passages.sorted();
    let key = |site: SiteId| group::field_key(program, program.site(site));
    let groups = group_by(&passages, |passage| key(passage.to));
    let mut writers: HashMap<_, HashSet<u32>> = HashMap::new();
    for (passage, _) in passages.all() {
        for (site, thread) in [
            (passage.from, passage.from_thread),
            (passage.to, passage.to_thread),
        ] {
            if program.site(site).kind.writes() {
                writers.entry(key(site)).or_default().insert(thread);
            }
        }
    }
    groups
        .into_iter()
        .map(|group| {
            let sites = (0..program.sites.len() as u32).map(SiteId);
            ContendedField {
                name: group::field_name(&names, group.key),
                sites: sites.filter(|site| key(*site) == group.key).collect(),
                main_site: group.main_site,
                transfers: group.counts,
                threads: group.threads.len(),
                writers: writers.get(&group.key).map_or(0, HashSet::len),
            }
        })
        .collect()
}
