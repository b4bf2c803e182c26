//! Elements that are asked for some iterations before they are needed, because their places follow from indices or pointers
//! that a loop reads one after the other.

mod ahead;

use std::collections::{BTreeMap, BTreeSet};

use trackway_trace::{AccessKind, Program, SiteId, StringId};

pub use self::ahead::ITERATIONS;
use self::ahead::{Ahead, Roles};
use super::{Edit, Kind, Subject, LEAST_PART, LEAST_WAITING};
use crate::model::site_counts::group;
use crate::model::Names;

/// Sources whose look-ups are simulated: those that take most time.
const MOST_PLACES: usize = 2;

type Line = (StringId, u32);

/// Look-ups by what the same lines load.
#[derive(Debug, Default)]
struct LookUps {
    /// What is looked up.
    elements: BTreeSet<SiteId>,
    /// Loads from which the elements' addresses follow.
    sources: BTreeSet<SiteId>,
    cycles: u64,
    /// The element that takes most time, and its cycles.
    main: Option<(u64, SiteId)>,
}

pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    let program = subject.trace.program();
    let mut by_sources: BTreeMap<BTreeSet<Line>, LookUps> = BTreeMap::new();
    for (number, counters) in subject.counters.iter().enumerate().take(program.sites.len()) {
        let element = SiteId(number as u32);
        let mut sources = sources_of(program, element);
        // What is read before the loop, such as the table's own address, is the same for all iterations.
        let in_loop = |source: &SiteId| 2 * subject.counters[source.index()].accesses > counters.accesses;
        sources.retain(in_loop);
        if sources.is_empty() {
            continue;
        }
        let lines = sources
            .iter()
            .map(|source| group::line_key(program, program.site(*source)));
        let look_ups = by_sources.entry(lines.collect()).or_default();
        look_ups.elements.insert(element);
        look_ups.sources.extend(sources);
        look_ups.cycles += counters.cycles;
        look_ups.main = look_ups.main.max(Some((counters.cycles, element)));
    }
    let mut places: Vec<LookUps> = by_sources.into_values().collect();
    places.sort_by_key(|look_ups| std::cmp::Reverse(look_ups.cycles));
    let edits = places.into_iter().filter_map(|look_ups| edit(subject, look_ups));
    edits.take(MOST_PLACES).collect()
}

/// The loads from which the element's address follows, in the same function; none if one of them is such an element itself,
/// as in a walk.
fn sources_of(program: &Program, element: SiteId) -> Vec<SiteId> {
    let site = program.site(element);
    let is_atomic = matches!(
        site.kind,
        AccessKind::AtomicReadModifyWrite | AccessKind::AtomicCompareExchange
    );
    let Some(work) = program.work[element.index()].as_ref().filter(|_| !is_atomic) else {
        return Vec::new();
    };
    let key = |site: SiteId| {
        let site = program.site(site);
        (group::field_key(program, site), group::line_key(program, site))
    };
    match work.loads.iter().any(|load| key(*load) == key(element)) {
        true => Vec::new(),
        false => work.loads.clone(),
    }
}

fn edit(subject: &Subject, look_ups: LookUps) -> Option<Edit> {
    let program = subject.trace.program();
    let elements: Vec<SiteId> = look_ups.elements.iter().copied().collect();
    let part = subject.part_of_time(&elements);
    let is_waited_for = subject.part_waited(elements.iter().copied()) >= LEAST_WAITING;
    let (_, main) = look_ups.main.filter(|_| part >= LEAST_PART && is_waited_for)?;
    let names = Names::new(program);
    let name = |site: SiteId| group::field_name(&names, group::field_key(program, program.site(site)));
    let own = program.work[main.index()].as_ref()?;
    let from = own.loads.iter().filter(|load| look_ups.sources.contains(load));
    let from: BTreeSet<String> = from.map(|load| name(*load)).collect();
    let from = Vec::from_iter(from).join(" and ");
    let roles = Roles::of(program, &look_ups.elements, &look_ups.sources);
    let accesses = elements
        .iter()
        .map(|site| subject.counters[site.index()].accesses)
        .sum();
    Some(Edit {
        kind: Kind::Prefetch,
        of: name(main),
        reason: format!(
            "its address follows from {from}, which a loop reads one after the other: so it is known {} iterations before",
            ITERATIONS
        ),
        location: Some(program.site(main).location),
        definition: Vec::new(),
        part,
        rewriting: Box::new(move || Box::new(Ahead::new(roles.clone(), accesses))),
    })
}
