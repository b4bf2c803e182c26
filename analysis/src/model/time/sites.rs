//! What is known of each site before anything runs.

use std::ops::Range;

use trackway_trace::{AccessKind, Program, SiteWork};

use super::core::{Kind, Work};
use crate::model::site_counts::stores;
use crate::model::site_types::{site_types, SiteTypes, NO_TYPE};

/// Instructions for each access where nothing is known of them. Of machine code, about every third instruction accesses
/// memory.
const USUAL_INSTRUCTIONS: f64 = 3.0;

/// The prefetch, the place of its index, its address, and a comparison with a jump.
const PREFETCH_INSTRUCTIONS: u32 = 4;
/// Loads that are looked through for a walk's own: more than an unrolled loop has.
const MOST_IN_A_WALK: usize = 32;
const NO_TYPES: SiteTypes = SiteTypes {
    accessed: NO_TYPE,
    pointed_to: NO_TYPE,
};

/// What is executed for an access whose address is known.
fn alone(instructions: u32) -> SiteWork {
    SiteWork {
        instructions,
        ..SiteWork::default()
    }
}

/// The sites of a program as the model of time needs them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimedSites {
    sites: Vec<TimedSite>,
    loads: Vec<u32>,
    pub type_count: usize,
    /// Whether the compiler described any of them.
    pub know_work: bool,
}

#[derive(Debug, Clone)]
struct TimedSite {
    instructions: f64,
    /// Instructions that could be executed while its loop waits for values that it carries.
    waits: f64,
    /// In the list of loads.
    loads: Range<u32>,
    is_walk: bool,
    pointer: Option<u32>,
    loads_pointer_to: Option<u32>,
    kind: Kind,
}

impl TimedSites {
    pub fn of(program: &Program) -> TimedSites {
        let (types, type_count) = site_types(program);
        let mut all = TimedSites {
            type_count,
            know_work: program.work.iter().any(Option::is_some),
            ..TimedSites::default()
        };
        for ((site, work), types) in program.sites.iter().zip(&program.work).zip(&types) {
            all.push(site.kind, work.as_ref(), types);
        }
        for site in 0..all.sites.len() {
            all.sites[site].is_walk = all.is_walk(site);
        }
        all
    }

    /// Whether the address follows from what the site itself loaded before, over no more than [`MOST_IN_A_WALK`] others.
    fn is_walk(&self, site: usize) -> bool {
        let mut found = self.loads_of(site).to_vec();
        let mut next = 0;
        while next < found.len() && found.len() <= MOST_IN_A_WALK {
            if found[next] as usize == site {
                return true;
            }
            // A damaged trace may name sites that don't exist.
            for &load in self.loads_of(found[next] as usize) {
                if !found.contains(&load) {
                    found.push(load);
                }
            }
            next += 1;
        }
        found[next..].contains(&(site as u32))
    }

    fn loads_of(&self, site: usize) -> &[u32] {
        let loads = self.sites.get(site).map_or(0..0, |site| site.loads.clone());
        &self.loads[loads.start as usize..loads.end as usize]
    }

    fn push(&mut self, kind: AccessKind, work: Option<&SiteWork>, types: &SiteTypes) {
        let kind = match kind {
            AccessKind::AtomicReadModifyWrite | AccessKind::AtomicCompareExchange => Kind::Atomic,
            kind if stores(kind) => Kind::Store,
            _ => Kind::Load,
        };
        self.push_as(kind, work, types);
    }

    fn push_as(&mut self, kind: Kind, work: Option<&SiteWork>, types: &SiteTypes) {
        let first = self.loads.len() as u32;
        let loads = work.iter().flat_map(|work| &work.loads);
        self.loads.extend(loads.map(|load| load.0));
        let known = |number: u32| (number != NO_TYPE).then_some(number);
        let from_elsewhere = work.is_none_or(|work| work.from_elsewhere);
        self.sites.push(TimedSite {
            instructions: work.map_or(USUAL_INSTRUCTIONS, |work| f64::from(work.instructions.max(1))),
            waits: work.map_or(0.0, |work| work.waits.into()),
            loads: first..self.loads.len() as u32,
            is_walk: false,
            pointer: known(types.accessed).filter(|_| from_elsewhere),
            loads_pointer_to: known(types.pointed_to),
            kind,
        });
    }

    /// With a site that loads a pointer to a split-off part, and one that stores it.
    pub fn with_pointers(mut self) -> TimedSites {
        self.push_as(Kind::Load, Some(&alone(1)), &NO_TYPES);
        self.push_as(Kind::Store, Some(&alone(1)), &NO_TYPES);
        self
    }

    /// With a site that asks for a line, if the place of its index is within an array's bounds.
    pub fn with_prefetch(mut self) -> TimedSites {
        self.push_as(Kind::Prefetch, Some(&alone(PREFETCH_INSTRUCTIONS)), &NO_TYPES);
        self
    }

    pub fn count(&self) -> usize {
        self.sites.len()
    }

    #[inline(always)]
    pub fn is_store(&self, site: usize) -> bool {
        matches!(self.sites[site].kind, Kind::Store | Kind::Atomic)
    }

    /// Instructions until the access has ended, and what could be executed while it waits in the meantime.
    #[inline(always)]
    pub fn instructions_and_waits(&self, site: usize) -> (f64, f64) {
        let timed = &self.sites[site];
        (timed.instructions, timed.waits)
    }

    #[inline(always)]
    pub(super) fn work(&self, site: usize) -> Work<'_> {
        let timed = &self.sites[site];
        Work {
            site,
            instructions: timed.instructions,
            waits: timed.waits,
            loads: self.loads_of(site),
            is_walk: timed.is_walk,
            pointer: timed.pointer,
            loads_pointer_to: timed.loads_pointer_to,
            kind: timed.kind,
        }
    }
}
