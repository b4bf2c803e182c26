//! Allocations within allocations: a program's own allocator, whose call is one event, gets the memory from another one, whose
//! call is one as well.

use std::collections::{HashMap, HashSet};

use trackway_trace::{AllocationSiteId, Event, FunctionId, Program};

/// Bytes, at most, that an allocator keeps for itself of the memory that it hands on: a header, and what alignment takes.
/// Where it has more, the memory is one that it carves up.
const MOST_OF_ITS_OWN: u64 = 128;

/// What an event is to the events of its thread next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nested {
    /// Neither within another one nor around one.
    Alone,
    /// It hands on the memory that the events before it allocated within it, but for a header.
    Around,
    /// The release before it is around it.
    Within,
    /// The release before it is around it if no block begins where this one says: it was of an address that is as far
    /// past this one as a header is long.
    WithinWithHeader,
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
            ) => match self.can_hold(outer, site) {
                true if *address == freed => Nested::Within,
                true if is_past_header(freed, *address) => Nested::WithinWithHeader,
                _ => Nested::Alone,
            },
            _ => match self.hands_on(event, last, before) {
                true => Nested::Around,
                false => Nested::Alone,
            },
        };
        if matches!(nested, Nested::Alone | Nested::Around) {
            self.latest.insert(stream, [Some(*event), last]);
        }
        nested
    }

    fn hands_on(&self, event: &Event, last: Option<Event>, before: Option<Event>) -> bool {
        let (Some(outer), Some(memory), Some(last)) = (site_of(event), event.allocated(), last) else {
            return false;
        };
        let is_inner = |inner: &Event| {
            inner
                .allocated()
                .is_some_and(|within| is_handed_on(within, memory))
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
            ) => is_past_header(*old_address, moved) && is_inner(&last),
            // Rust's traits reallocate so by default.
            (
                Event::Reallocate { old_address, .. },
                Event::Free { address, .. },
                Some(before @ Event::Allocate { .. }),
            ) => is_past_header(*old_address, address) && is_inner(&before),
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

/// Whether the address is that one, or follows a header that begins there.
fn is_past_header(address: u64, begin: u64) -> bool {
    address
        .checked_sub(begin)
        .is_some_and(|distance| distance <= MOST_OF_ITS_OWN)
}

/// Whether an allocator that got the first memory may have handed on the second one as all of it; start and bytes.
fn is_handed_on((start, bytes): (u64, u64), (handed_start, handed_bytes): (u64, u64)) -> bool {
    let end = start.saturating_add(bytes);
    is_past_header(handed_start, start)
        && handed_start.saturating_add(handed_bytes) <= end
        && bytes - handed_bytes <= MOST_OF_ITS_OWN
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

    use Nested::{Alone, Around, Within, WithinWithHeader};

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
    fn a_header_belongs_to_the_memory() {
        assert_eq!(
            all(&[allocate(INNER, 64, 36), allocate(OUTER, 80, 20)]),
            [Alone, Around]
        );
        let freed = [free(OUTER, 80), free(INNER, 64), free(INNER, 64)];
        assert_eq!(all(&freed), [Alone, WithinWithHeader, WithinWithHeader]);
        assert_eq!(
            all(&[free(OUTER, 64 + MOST_OF_ITS_OWN + 1), free(INNER, 64)]),
            [Alone, Alone]
        );
        let moved = [
            allocate(INNER, 96, 36),
            free(INNER, 64),
            reallocate(OUTER, 80, 112),
        ];
        assert_eq!(all(&moved), [Alone, Alone, Around]);
    }

    #[test]
    fn memory_that_is_carved_up_is_not_handed_on() {
        let large = 21 + MOST_OF_ITS_OWN;
        assert_eq!(
            all(&[allocate(INNER, 64, large), allocate(OUTER, 80, 20)]),
            [Alone, Alone]
        );
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
