//! Where threads' stacks are, from an address in each. The trace says it, else it is a guess: where machine code's first call
//! pushes its return address, or where the first access by way of a local variable goes.

/// A stack reaches this far down from there. It is less than the usual 8 MiB, because stacks lie one below the other.
const BELOW: u64 = 7 << 20;
/// A stack reaches this far up from there.
const ABOVE: u64 = 64 << 10;

/// The stacks of a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stacks {
    /// An address in each, and whose it is, by address.
    anchors: Vec<(u64, u32)>,
}

impl Stacks {
    /// The thread in whose stack the address lies.
    pub fn find(&self, address: u64) -> Option<u32> {
        let next = self
            .anchors
            .partition_point(|anchor| anchor.0.saturating_add(ABOVE) < address);
        let &(anchor, thread) = self.anchors.get(next)?;
        (address >= anchor.saturating_sub(BELOW)).then_some(thread)
    }

    /// Says that an address, which lies in no stack, is in the thread's.
    pub fn add(&mut self, address: u64, thread: u32) {
        let position = self.anchors.partition_point(|anchor| anchor.0 < address);
        self.anchors.insert(position, (address, thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_anchor_above_is_that_of_the_stack() {
        let mut stacks = Stacks::default();
        let top = 0x7fff_0000_0000;
        assert_eq!(stacks.find(top), None);
        stacks.add(top, 1);
        stacks.add(top - (8 << 20), 2);
        assert_eq!(stacks.find(top - (7 << 20)), Some(1));
        assert_eq!(stacks.find(top - (8 << 20) + 100), Some(2));
        assert_eq!(stacks.find(top + ABOVE), Some(1));
        assert_eq!(stacks.find(top + ABOVE + 1), None);
        assert_eq!(stacks.find(top - (15 << 20) - 1), None);
    }
}
