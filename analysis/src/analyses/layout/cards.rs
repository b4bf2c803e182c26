//! Proposals as cards of advice.

use std::collections::BTreeSet;

use trackway_trace::{LocationId, Program};

use super::advice::{Before, Judged, Verdict};
use crate::model::site_counts::SiteCounters;

/// What the program costs, and what other layouts of its structures save.
#[derive(Debug, Clone)]
pub struct LayoutCards {
    /// Counters by site, of the program as it is.
    pub counters: Vec<SiteCounters>,
    /// The best of each kind of change of each structure first.
    pub cards: Vec<LayoutCard>,
    /// Type, change, and why it isn't advised.
    pub dropped: Vec<(String, &'static str, String)>,
}

/// A layout that was simulated, and saves time.
#[derive(Debug, Clone)]
pub struct LayoutCard {
    pub structure: String,
    /// `split`, `reorder`, `pad`, ...
    pub change: &'static str,
    pub reason: String,
    /// Options of `trackway whatif` that simulate it.
    pub options: String,
    /// Lines to write into the source.
    pub definition: Vec<String>,
    /// Counters of the whole program with the change.
    pub after: SiteCounters,
    /// What gets worse; empty if nothing does.
    pub worse: String,
    /// Where the structure costs most.
    pub location: Option<LocationId>,
}

pub(super) fn of(
    before: &Before,
    judged: Vec<Judged>,
    program: &Program,
    counters: &[SiteCounters],
) -> LayoutCards {
    let mut cards = Vec::new();
    let mut dropped = Vec::new();
    let mut seen = BTreeSet::new();
    for Judged { proposal, verdict } in judged {
        let structure = before.structures.list[proposal.structure].name.clone();
        let after = match verdict {
            Verdict::Gains(after) => after,
            Verdict::Dropped(why) => {
                dropped.push((structure, proposal.name, why));
                continue;
            }
        };
        if !seen.insert((proposal.structure, proposal.name)) {
            continue;
        }
        cards.push(LayoutCard {
            change: proposal.name,
            reason: proposal.reason.clone(),
            options: proposal.options(before.structures),
            definition: proposal.definition.clone(),
            worse: before.worse(&after),
            location: most_costly(before, proposal.structure, program, counters),
            structure,
            after,
        });
    }
    LayoutCards {
        counters: counters.to_vec(),
        cards,
        dropped,
    }
}

fn most_costly(
    before: &Before,
    structure: usize,
    program: &Program,
    counters: &[SiteCounters],
) -> Option<LocationId> {
    let sites = before.structures.sites.iter().enumerate();
    let own = sites.filter(|(_, of)| of.as_ref().is_some_and(|of| of.structure == structure));
    let site = own
        .map(|(site, _)| site)
        .max_by_key(|&site| before.rank_by.rank_of(&counters[site]))?;
    Some(program.sites[site].location)
}
