//! Arrays that grow: whenever their room is used up, they are copied to a larger block. With room for all elements from the
//! beginning they aren't.

mod growing;
mod survey;

use std::collections::BTreeMap;
use std::sync::Arc;

use trackway_report::grouped;
use trackway_trace::{LocationId, SiteId};

use self::growing::Reserved;
use self::survey::{Chain, Chains, Link};
use super::elements::ProgramBlocks;
use super::{Edit, Kind, Subject, LEAST_PART};
use crate::model::blocks::{AllocationNames, Origins};

/// Lines whose arrays are simulated: those whose copies take most time.
const MOST_PLACES: usize = 2;

pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    let trace = subject.trace;
    let blocks = Arc::new(ProgramBlocks::of(trace.program()));
    let mut origins = Arc::new(Origins::none(trace.program()));
    let mut links = survey::links(subject, &blocks, &origins);
    if part_of(subject, links.iter()) < LEAST_PART {
        return Vec::new();
    }
    if Origins::divide(trace.program()) {
        origins = Arc::new(Origins::of(trace, subject.threads, subject.observer));
        links = survey::links(subject, &blocks, &origins);
    }
    let names = AllocationNames::new(trace, origins);
    let mut by_place: BTreeMap<LocationId, Vec<Link>> = BTreeMap::new();
    for link in links {
        let place = names.frame(link.site).location;
        by_place.entry(place).or_default().push(link);
    }
    let mut edits: Vec<Edit> = by_place
        .into_iter()
        .filter_map(|(place, links)| edit(subject, &names, &blocks, place, &links))
        .collect();
    edits.sort_by(|first, second| second.part.total_cmp(&first.part));
    edits.truncate(MOST_PLACES);
    edits
}

fn edit(
    subject: &Subject,
    names: &AllocationNames,
    blocks: &Arc<ProgramBlocks>,
    place: LocationId,
    links: &[Link],
) -> Option<Edit> {
    let part = part_of(subject, links.iter());
    let site = links.first()?.site;
    if part < LEAST_PART {
        return None;
    }
    let chains = Arc::new(Chains::of(links));
    let copied: u64 = links.iter().map(|link| link.copied).sum();
    let last: u64 = chains.all.iter().map(|chain: &Chain| chain.bytes).sum();
    let blocks = Arc::clone(blocks);
    Some(Edit {
        kind: Kind::Reserve,
        of: match names.variable(site) {
            "" => format!("the array that {} fills", names.function(site)),
            variable => variable.to_owned(),
        },
        reason: format!(
            "{} grew {}: {} bytes were copied to larger blocks, of arrays that take {} bytes in the end",
            counted(chains.all.len() as u64, "array"),
            trackway_report::times(links.len() as u64),
            grouped(copied),
            grouped(last),
        ),
        location: Some(place),
        definition: Vec::new(),
        part,
        rewriting: Box::new(move || Box::new(Reserved::new(Arc::clone(&blocks), Arc::clone(&chains)))),
    })
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", grouped(count)),
    }
}

/// The part of the estimated time that the copies take.
fn part_of<'l>(subject: &Subject, links: impl Iterator<Item = &'l Link>) -> f64 {
    let all: u64 = subject.counters.iter().map(|counters| counters.cycles).sum();
    let cycles = |&(site, accesses): &(SiteId, u64)| {
        subject.counters.get(site.index()).map_or(0.0, |counters| {
            counters.cycles as f64 * accesses as f64 / counters.accesses.max(1) as f64
        })
    };
    let own: f64 = links.flat_map(|link| &link.accesses).map(cycles).sum();
    own / all.max(1) as f64
}
