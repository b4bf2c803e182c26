//! Blocks of the heap, also those that were given back.

use std::collections::BTreeMap;

use trackway_trace::{AllocationSiteId, Event};

/// Counts what happens to blocks: of two moments the greater one is later.
pub type Moment = u64;

/// A block that was allocated, and the last one where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    pub start: u64,
    pub bytes: u64,
    pub allocated: AllocationSiteId,
    since: Moment,
    freed: Option<(AllocationSiteId, Moment)>,
}

impl Object {
    /// Where it had been given back by then, if it had.
    pub fn freed_before(&self, moment: Moment) -> Option<AllocationSiteId> {
        self.freed.filter(|(_, at)| *at <= moment).map(|(site, _)| site)
    }
}

/// By their first addresses; none overlaps another.
#[derive(Debug, Default)]
pub struct Objects {
    by_start: BTreeMap<u64, Object>,
}

impl Objects {
    pub fn take(&mut self, event: Event, moment: Moment) {
        match event {
            Event::Allocate {
                site,
                address,
                element_size,
                count,
            } if address != 0 => self.begin(site, address, element_size.saturating_mul(count), moment),
            Event::Free { site, address } => self.end(site, address, moment),
            Event::Reallocate {
                site,
                old_address,
                new_address,
                element_size,
                count,
            } if new_address != 0 => {
                self.end(site, old_address, moment);
                self.begin(site, new_address, element_size.saturating_mul(count), moment);
            }
            _ => {}
        }
    }

    fn begin(&mut self, allocated: AllocationSiteId, start: u64, bytes: u64, since: Moment) {
        let end = start.saturating_add(bytes.max(1));
        while let Some((&first, last)) = self.by_start.range(..end).next_back() {
            if last.start.saturating_add(last.bytes.max(1)) <= start {
                break;
            }
            self.by_start.remove(&first);
        }
        let object = Object {
            start,
            bytes,
            allocated,
            since,
            freed: None,
        };
        self.by_start.insert(start, object);
    }

    fn end(&mut self, site: AllocationSiteId, address: u64, moment: Moment) {
        if let Some(object) = self.by_start.get_mut(&address) {
            object.freed.get_or_insert((site, moment));
        }
    }

    /// The object that lay there at that moment, or was the last one that had; none if another one lies there now.
    pub fn at(&self, address: u64, moment: Moment) -> Option<&Object> {
        let (_, object) = self.by_start.range(..=address).next_back()?;
        let is_inside = address - object.start < object.bytes.max(1);
        (is_inside && object.since <= moment).then_some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(site: u32, address: u64, bytes: u64) -> Event {
        Event::Allocate {
            site: AllocationSiteId(site),
            address,
            element_size: bytes,
            count: 1,
        }
    }

    fn free(site: u32, address: u64) -> Event {
        let site = AllocationSiteId(site);
        Event::Free { site, address }
    }

    #[test]
    fn objects_are_known_after_their_end_until_others_lie_there() {
        let mut objects = Objects::default();
        objects.take(allocate(1, 100, 50), 1);
        objects.take(free(2, 100), 2);
        let object = *objects.at(149, 1).unwrap();
        assert_eq!(
            (object.allocated, object.freed_before(1)),
            (AllocationSiteId(1), None)
        );
        assert_eq!(object.freed_before(2), Some(AllocationSiteId(2)));
        assert!(objects.at(150, 2).is_none() && objects.at(99, 2).is_none());
        objects.take(allocate(3, 140, 20), 3);
        assert!(objects.at(100, 3).is_none());
        assert!(objects.at(145, 2).is_none(), "it wasn't there yet");
        assert_eq!(objects.at(145, 3).unwrap().allocated, AllocationSiteId(3));
    }

    #[test]
    fn reallocation_ends_one_and_begins_another() {
        let mut objects = Objects::default();
        objects.take(allocate(1, 100, 8), 1);
        let moves = Event::Reallocate {
            site: AllocationSiteId(2),
            old_address: 100,
            new_address: 200,
            element_size: 16,
            count: 2,
        };
        objects.take(moves, 2);
        assert_eq!(
            objects.at(100, 2).unwrap().freed_before(2),
            Some(AllocationSiteId(2))
        );
        assert_eq!(objects.at(231, 2).unwrap().freed_before(2), None);
    }
}
