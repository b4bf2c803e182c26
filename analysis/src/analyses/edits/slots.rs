//! Places for blocks in memory of their own, of which freed ones are used again first.

use std::collections::HashMap;

/// Where new places lie: far from a program's own memory.
const FIRST: u64 = 1 << 45;

/// Free places by size.
#[derive(Debug, Default)]
pub(super) struct Slots {
    free: HashMap<u64, Vec<u64>>,
    next: u64,
}

impl Slots {
    /// The address of a place of so many bytes.
    pub fn take(&mut self, bytes: u64) -> u64 {
        if let Some(place) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return place;
        }
        let place = FIRST + self.next;
        self.next += bytes;
        place
    }

    pub fn give_back(&mut self, bytes: u64, place: u64) {
        self.free.entry(bytes).or_default().push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_places_are_used_again_by_blocks_of_the_same_size() {
        let mut slots = Slots::default();
        let places = [slots.take(24), slots.take(24), slots.take(40)];
        assert_eq!(places.map(|place| place - FIRST), [0, 24, 48]);
        slots.give_back(24, places[0]);
        assert_eq!(slots.take(40) - FIRST, 88);
        assert_eq!(slots.take(24), places[0]);
    }
}
