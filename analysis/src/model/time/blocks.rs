//! Blocks that a thread gave back just before. An allocator has them at hand: glibc's keeps up to seven of each size for each thread.

use std::collections::VecDeque;

/// Blocks that are remembered.
const BLOCKS: usize = 64;

/// The latest comes last.
#[derive(Debug, Clone, Default)]
pub(super) struct AtHand(VecDeque<u64>);

impl AtHand {
    pub fn give_back(&mut self, address: u64) {
        if self.0.len() == BLOCKS {
            self.0.pop_front();
        }
        self.0.push_back(address);
    }

    /// Whether an allocated block was at hand. Now it isn't.
    pub fn take(&mut self, address: u64) -> bool {
        let place = self.0.iter().rposition(|&known| known == address);
        place.is_some_and(|place| self.0.remove(place).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_given_back_last_are_at_hand_once() {
        let mut at_hand = AtHand::default();
        (0..100).for_each(|address| at_hand.give_back(address));
        assert_eq!(
            [99, 99, 36, 35].map(|address| at_hand.take(address)),
            [true, false, true, false]
        );
    }
}
