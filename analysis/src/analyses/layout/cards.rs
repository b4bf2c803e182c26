//! Proposals as cards of advice.

use std::collections::BTreeSet;

use trackway_trace::{LocationId, Program};

use super::advice::{Before, Judged, Verdict};
use super::proposals::Proposal;
use crate::analyses::whatif::NewLayout;
use crate::model::site_counts::SiteCounters;
use crate::model::structures::SiteField;

/// What other layouts of a program's structures save.
#[derive(Debug, Clone)]
pub struct LayoutCards {
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
    /// Where each member stands before and after.
    pub moves: Vec<MemberMove>,
    /// Counters of the whole program with the change.
    pub after: SiteCounters,
    /// What gets worse; empty if nothing does.
    pub worse: String,
    /// Where the members that the change names cost most, or the structure, if it names none.
    pub location: Option<LocationId>,
}

/// Where a member stands before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberMove {
    pub member: String,
    /// Bytes.
    pub size: u64,
    pub old_offset: u64,
    /// Part of the changed object, from 0.
    pub part: usize,
    pub offset: u64,
    /// Bytes from one such part to the next one.
    pub part_size: u64,
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
            moves: moves(before, &proposal),
            worse: before.worse(&after),
            location: most_costly(before, &proposal, program, counters),
            structure,
            after,
        });
    }
    LayoutCards { cards, dropped }
}

/// None if the proposal can't be planned.
fn moves(before: &Before, proposal: &Proposal) -> Vec<MemberMove> {
    let (structures, change) = (before.structures, proposal.change.clone());
    let planned = NewLayout::new(
        structures,
        proposal.structure,
        change,
        proposal.link,
        before.line_bytes,
    );
    let Ok(planned) = planned else {
        return Vec::new();
    };
    let members = structures.list[proposal.structure].members.iter();
    members
        .zip(&planned.places)
        .map(|(member, &(part, offset))| MemberMove {
            member: member.name.clone(),
            size: member.size,
            old_offset: member.offset,
            part,
            offset,
            part_size: planned.parts[part].size,
        })
        .collect()
}

fn most_costly(
    before: &Before,
    proposal: &Proposal,
    program: &Program,
    counters: &[SiteCounters],
) -> Option<LocationId> {
    let structure = &before.structures.list[proposal.structure];
    let names = proposal.change.members().iter();
    let named: Vec<usize> = names.filter_map(|name| structure.member(name)).collect();
    let touches = |of: &SiteField| {
        let is_named = |member| named.contains(member);
        of.structure == proposal.structure && (named.is_empty() || of.members.iter().any(is_named))
    };
    let sites = before.structures.sites.iter().enumerate();
    let own = sites.filter(|(_, of)| of.as_ref().is_some_and(touches));
    let site = own
        .map(|(site, _)| site)
        .max_by_key(|&site| before.rank_by.rank_of(&counters[site]))?;
    Some(program.sites[site].location)
}
