//! Elements in the order in which a loop or a walk visits them: nodes of lists and trees, and what is gathered by indices.

mod survey;

use std::collections::HashMap;
use std::sync::Arc;

use trackway_report::percent;
use trackway_trace::{AccessKind, Program, SiteId};

use super::elements::{ElementBlocks, Moved, ProgramBlocks};
use super::pool::Pooled;
use super::{Edit, Kind, Subject, LEAST_PART, LEAST_WAITING};
use crate::model::site_counts::{group, stores};
use crate::model::structures::Structures;
use crate::model::Names;

/// Elements that are looked at: those of the structures or arrays that take most time.
const MOST_TARGETS: usize = 4;
/// Larger elements fill lines alone, wherever they are.
const MOST_BYTES: u64 = 512;
/// An order is one if this part of the visits repeat it.
const REPEATS: f64 = 0.5;
/// Elements that are visited in the order of their addresses lie well already.
const IN_ORDER: f64 = 0.8;
/// What a loop walks through by a stride needs another order of loops, not of elements.
const MOST_STRIDED: f64 = 0.3;

/// Elements of a structure or of an array, as a site visits them.
#[derive(Debug, Clone)]
struct Target {
    name: String,
    /// The site that takes most time, and all loads of the same field in its line of source: a compiler may have made
    /// several of one.
    site: SiteId,
    visitors: Vec<SiteId>,
    /// All sites that access such elements at a known place, and how far from an element's start.
    sites: Vec<SiteId>,
    offsets: HashMap<u32, u64>,
    element_bytes: u64,
    /// Bytes from the start of an element to what the site accesses.
    offset: u64,
    is_structure: bool,
    /// A share of the time.
    part: f64,
}

/// How a target's elements were visited.
#[derive(Debug, Default)]
pub(super) struct Visited {
    pub blocks: ElementBlocks,
    /// Elements that were visited, and those of them whose addresses followed the one before.
    pub elements: u64,
    pub in_order: u64,
    /// Visited elements as far from the one before as that from the one before it: what a loop does.
    pub strided: u64,
    /// Visits of elements that were visited before, and those of them that came after the same element again.
    pub again: u64,
    pub repeated: u64,
    /// Visited elements that were accessed first just after the one before was.
    pub as_begun: u64,
    /// Blocks with one element.
    pub alone: u64,
}

pub(super) fn edits(subject: &Subject) -> Vec<Edit> {
    let program = subject.trace.program();
    let targets = targets(subject);
    if targets.is_empty() {
        return Vec::new();
    }
    let blocks = Arc::new(ProgramBlocks::of(program));
    let visited = survey::visited(subject, &targets, &blocks);
    let found = targets.into_iter().zip(visited);
    found
        .flat_map(|(target, visited)| edits_of(program, target, visited, &blocks))
        .collect()
}

fn edits_of(program: &Program, target: Target, visited: Visited, blocks: &Arc<ProgramBlocks>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let location = Some(program.site(target.site).location);
    let single = visited.alone as f64 > 0.5 * visited.elements as f64;
    if single && visited.alone > 1 {
        let numbers = visited.blocks.keys().copied().collect();
        let numbers = Arc::new(numbers);
        let bytes = target.element_bytes;
        let program = Arc::clone(blocks);
        edits.push(Edit {
            kind: Kind::Pool,
            of: target.name.clone(),
            reason: format!(
                "{} objects of {bytes} bytes are allocated one by one, among others",
                trackway_report::grouped(visited.alone)
            ),
            location,
            definition: Vec::new(),
            part: target.part,
            rewriting: Box::new(move || Box::new(Pooled::new(Arc::clone(&program), Arc::clone(&numbers)))),
        });
    }
    let part = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let repeated = part(visited.repeated, visited.again);
    let as_begun = part(visited.as_begun, visited.elements);
    let repeats = repeated >= REPEATS && visited.again >= visited.elements / 2;
    let index = by_index(program, &target);
    let is_order = repeats || (index.is_none() && as_begun >= REPEATS);
    let is_strided = part(visited.strided, visited.elements) > MOST_STRIDED;
    if is_order && !is_strided && part(visited.in_order, visited.elements) < IN_ORDER && visited.elements > 1
    {
        let reason = format!(
            "{} are visited in an order that isn't that of their addresses, and {}{}",
            trackway_report::grouped(visited.elements),
            match repeats {
                true => format!("{} of later visits repeat it", percent(repeated)),
                false => format!(
                    "for {} of them it is that of their first accesses",
                    percent(as_begun)
                ),
            },
            index
                .as_ref()
                .map_or(String::new(), |index| format!("; their index comes from {index}"))
        );
        let only = index
            .is_some()
            .then(|| Arc::new(target.visitors.iter().copied().collect()));
        let (blocks, program) = (Arc::new(visited.blocks), Arc::clone(blocks));
        edits.push(Edit {
            kind: match index {
                Some(_) => Kind::SortedIndices,
                None => Kind::OrderOfVisits,
            },
            of: target.name,
            reason,
            location,
            definition: Vec::new(),
            part: target.part,
            rewriting: Box::new(move || {
                Box::new(Moved::new(
                    Arc::clone(&program),
                    Arc::clone(&blocks),
                    only.clone(),
                ))
            }),
        });
    }
    edits
}

/// Where the index comes from, if the address follows from a load of a number in the same function, and from no other element.
fn by_index(program: &Program, target: &Target) -> Option<String> {
    let loads = &program.work[target.site.index()].as_ref()?.loads;
    if loads.iter().any(|load| target.sites.contains(load)) {
        return None; // a walk, which may begin at an index
    }
    let mut numbers = loads.iter().filter(|load| {
        let site = program.site(**load);
        !program.string(site.value_type).trim_end().ends_with('*') && site.size <= 8
    });
    let index = numbers.next()?;
    let names = Names::new(program);
    Some(group::field_name(
        &names,
        group::field_key(program, program.site(*index)),
    ))
}

/// Structures, or arrays of plain values, whose loads take most of the time.
fn targets(subject: &Subject) -> Vec<Target> {
    let program = subject.trace.program();
    let structures = Structures::of(program);
    let names = Names::new(program);
    let mut groups: HashMap<String, (u64, u64, Target)> = HashMap::new();
    for (number, (site, counters)) in program.sites.iter().zip(subject.counters).enumerate() {
        let id = SiteId(number as u32);
        let target = match &structures.sites[number] {
            Some(field) => field.offset.map(|offset| Target {
                name: structures.list[field.structure].name.clone(),
                site: id,
                visitors: Vec::new(),
                sites: Vec::new(),
                offsets: HashMap::new(),
                element_bytes: structures.list[field.structure].size,
                offset,
                is_structure: true,
                part: 0.0,
            }),
            None => Some(Target {
                name: group::field_name(&names, group::field_key(program, site)),
                site: id,
                visitors: Vec::new(),
                sites: Vec::new(),
                offsets: HashMap::new(),
                element_bytes: site.size.into(),
                offset: 0,
                is_structure: false,
                part: 0.0,
            }),
        };
        let is_load = !stores(site.kind) && site.kind != AccessKind::AtomicReadModifyWrite;
        let fits = |target: &Target| (1..=MOST_BYTES).contains(&target.element_bytes);
        let Some(target) = target.filter(|target| is_load && fits(target)) else {
            continue;
        };
        let (all, most, known) = groups
            .entry(target.name.clone())
            .or_insert_with(|| (0, 0, target.clone()));
        *all += counters.cycles;
        if counters.cycles > *most {
            (*most, *known) = (counters.cycles, target);
        }
    }
    let all: u64 = subject.counters.iter().map(|counters| counters.cycles).sum();
    let mut groups: Vec<(u64, u64, Target)> = groups.into_values().collect();
    groups.retain(|(cycles, ..)| *cycles as f64 >= LEAST_PART * all as f64 && *cycles > 0);
    groups.sort_by(|first, second| second.0.cmp(&first.0).then(first.2.name.cmp(&second.2.name)));
    let with_visitors = groups.into_iter().map(|(cycles, _, target)| {
        let offsets = offsets_of(program, &structures, &target);
        Target {
            part: cycles as f64 / all as f64,
            visitors: visitors(program, target.site),
            sites: offsets.keys().copied().map(SiteId).collect(),
            offsets,
            ..target
        }
    });
    let is_waited_for = |target: &Target| subject.part_waited(target.sites.iter().copied()) >= LEAST_WAITING;
    with_visitors.filter(is_waited_for).take(MOST_TARGETS).collect()
}

fn visitors(program: &Program, main: SiteId) -> Vec<SiteId> {
    let place = |site: SiteId| {
        let site = program.site(site);
        (
            group::field_key(program, site),
            group::line_key(program, site),
            stores(site.kind),
        )
    };
    let all = (0..program.sites.len() as u32).map(SiteId);
    all.filter(|site| place(*site) == place(main)).collect()
}

/// The sites of such elements, and how far each accesses from an element's start.
fn offsets_of(program: &Program, structures: &Structures, target: &Target) -> HashMap<u32, u64> {
    let names = Names::new(program);
    let sites = program.sites.iter().enumerate();
    let own = sites.filter_map(|(number, site)| {
        let offset = match &structures.sites[number] {
            Some(field) if target.is_structure && structures.list[field.structure].name == target.name => {
                field.offset?
            }
            None if !target.is_structure && u64::from(site.size) == target.element_bytes => {
                let name = group::field_name(&names, group::field_key(program, site));
                (name == target.name).then_some(0)?
            }
            _ => return None,
        };
        Some((number as u32, offset))
    });
    own.collect()
}
