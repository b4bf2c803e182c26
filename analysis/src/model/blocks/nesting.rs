//! Allocations within allocations: a program's own allocator, whose call is one event, gets the memory from another one, whose
//! call is one as well.

use std::collections::{HashMap, HashSet};

use trackway_trace::{AllocationSiteId, Event, FunctionId, Program};

/// What an event is to the events of its thread next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nested {
    /// Neither within another one nor around one.
    Alone,
    /// It hands on exactly the memory that the events before it allocated within it.
    Around,
    /// The release before it is around it.
    Within,
}

/// Finds allocations within allocations. A call can be around others if it calls a recorded function.
#[derive(Debug, Clone)]
pub struct Nesting {
    /// For each allocation site its function, and whether others can be within it.
    sites: Vec<(FunctionId, bool)>,
    /// The last two events of each stream, the last one first.
    latest: HashMap<u32, [Option<Event>; 2]>,
}

impl Nesting {
    pub fn new(program: &Program) -> Nesting {
        let recorded: HashSet<_> = program
            .functions
            .iter()
            .map(|function| function.linkage_name)
            .collect();
        let sites = program.allocation_sites.iter();
        let sites = sites.map(|site| (site.function, recorded.contains(&site.allocator)));
        Nesting {
            sites: sites.collect(),
            latest: HashMap::new(),
        }
    }

    /// Asked for all events of a stream in their order.
    pub fn of(&mut self, event: &Event, stream: u32) -> Nested {
        let Some(site) = site_of(event) else {
            return Nested::Alone;
        };
        let [last, before] = self.latest.get(&stream).copied().unwrap_or_default();
        let nested = match (event, last) {
            (
                Event::Free { address, .. },
                Some(Event::Free {
                    site: outer,
                    address: freed,
                }),
            ) => match address == &freed && self.can_hold(outer, site) {
                true => Nested::Within,
                false => Nested::Alone,
            },
            _ => match self.hands_on(event, last, before) {
                true => Nested::Around,
                false => Nested::Alone,
            },
        };
        if nested != Nested::Within {
            self.latest.insert(stream, [Some(*event), last]);
        }
        nested
    }

    fn hands_on(&self, event: &Event, last: Option<Event>, before: Option<Event>) -> bool {
        let (Some(outer), Some(memory), Some(last)) = (site_of(event), event.allocated(), last) else {
            return false;
        };
        let is_inner = |inner: &Event| {
            inner.allocated() == Some(memory)
                && site_of(inner).is_some_and(|inner| self.can_hold(outer, inner))
        };
        match (event, last, before) {
            (Event::Allocate { .. }, Event::Allocate { .. }, _) => is_inner(&last),
            (
                Event::Reallocate { old_address, .. },
                Event::Reallocate {
                    old_address: moved, ..
                },
                _,
            ) => old_address == &moved && is_inner(&last),
            // Rust's traits reallocate so by default.
            (
                Event::Reallocate { old_address, .. },
                Event::Free { address, .. },
                Some(before @ Event::Allocate { .. }),
            ) => old_address == &address && is_inner(&before),
            _ => false,
        }
    }

    /// Whether an event of the inner site may come within one of the outer site.
    fn can_hold(&self, outer: AllocationSiteId, inner: AllocationSiteId) -> bool {
        let of = |site: AllocationSiteId| self.sites.get(site.index()).copied();
        match (of(outer), of(inner)) {
            (Some((caller, is_recorded)), Some((function, _))) => is_recorded && caller != function,
            _ => false,
        }
    }
}

fn site_of(event: &Event) -> Option<AllocationSiteId> {
    match event {
        Event::Allocate { site, .. } | Event::Reallocate { site, .. } | Event::Free { site, .. } => {
            Some(*site)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: u32 = 3;
    /// Calls of the program's allocator, in `main`; calls of malloc and free within that; calls of malloc and free in `main`.
    const OUTER: AllocationSiteId = AllocationSiteId(0);
    const INNER: AllocationSiteId = AllocationSiteId(1);
    const PLAIN: AllocationSiteId = AllocationSiteId(2);

    fn nesting() -> Nesting {
        Nesting {
            sites: vec![
                (FunctionId(0), true),
                (FunctionId(1), false),
                (FunctionId(0), false),
            ],
            latest: HashMap::new(),
        }
    }

    fn allocate(site: AllocationSiteId, address: u64, count: u64) -> Event {
        Event::Allocate {
            site,
            address,
            element_size: 1,
            count,
        }
    }

    fn free(site: AllocationSiteId, address: u64) -> Event {
        Event::Free { site, address }
    }

    fn reallocate(site: AllocationSiteId, old_address: u64, new_address: u64) -> Event {
        Event::Reallocate {
            site,
            old_address,
            new_address,
            element_size: 1,
            count: 20,
        }
    }

    fn all(events: &[Event]) -> Vec<Nested> {
        let mut nesting = nesting();
        events.iter().map(|event| nesting.of(event, STREAM)).collect()
    }

    use Nested::{Alone, Around, Within};

    #[test]
    fn the_call_around_follows_the_one_within() {
        assert_eq!(
            all(&[allocate(INNER, 64, 20), allocate(OUTER, 64, 20)]),
            [Alone, Around]
        );
        assert_eq!(
            all(&[reallocate(INNER, 64, 96), reallocate(OUTER, 64, 96)]),
            [Alone, Around]
        );
        let moved = [
            allocate(INNER, 96, 20),
            free(INNER, 64),
            reallocate(OUTER, 64, 96),
        ];
        assert_eq!(all(&moved), [Alone, Alone, Around]);
        assert_eq!(all(&[free(OUTER, 64), free(INNER, 64)]), [Alone, Within]);
    }

    #[test]
    fn other_memory_is_another_allocation() {
        assert_eq!(
            all(&[allocate(INNER, 64, 4096), allocate(OUTER, 64, 20)]),
            [Alone, Alone]
        );
        assert_eq!(
            all(&[allocate(INNER, 64, 20), allocate(OUTER, 80, 20)]),
            [Alone, Alone]
        );
        assert_eq!(all(&[free(OUTER, 64), free(INNER, 80)]), [Alone, Alone]);
        assert_eq!(
            all(&[allocate(INNER, 0, 20), allocate(OUTER, 0, 20)]),
            [Alone, Alone]
        );
    }

    #[test]
    fn calls_of_what_is_not_recorded_are_around_nothing() {
        // In between something unseen gave the memory back.
        assert_eq!(
            all(&[allocate(INNER, 64, 20), allocate(PLAIN, 64, 20)]),
            [Alone, Alone]
        );
        assert_eq!(all(&[free(PLAIN, 64), free(INNER, 64)]), [Alone, Alone]);
        assert_eq!(
            all(&[allocate(PLAIN, 64, 20), allocate(OUTER, 64, 20)]),
            [Alone, Alone]
        );
    }

    #[test]
    fn threads_are_apart() {
        let mut nesting = nesting();
        assert_eq!(nesting.of(&allocate(INNER, 64, 20), 1), Alone);
        assert_eq!(nesting.of(&allocate(OUTER, 64, 20), 2), Alone);
        assert_eq!(nesting.of(&allocate(OUTER, 64, 20), 1), Around);
    }
}
