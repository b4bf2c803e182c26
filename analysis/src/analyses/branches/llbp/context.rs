//! Which part of the program this is.

use crate::analyses::branches::counter::spread;

/// The last unconditional branches, of which contexts are computed: LLBP's rolling context register.
#[derive(Debug, Clone)]
pub(super) struct RollingContext {
    /// Newest first.
    addresses: Vec<u64>,
    window: usize,
    bits: u32,
    /// The present context, which leaves out the newest branches.
    pub(super) present: u32,
    /// The context that includes the newest branches. It becomes the present one after as many branches.
    pub(super) upcoming: u32,
}

impl RollingContext {
    /// Makes contexts of `bits` bits (at most 31) from `window` branches. The present one leaves out the newest
    /// `distance`.
    pub(super) fn new(window: usize, distance: usize, bits: u32) -> Self {
        RollingContext {
            addresses: vec![0; window + distance],
            window,
            bits,
            present: 0,
            upcoming: 0,
        }
    }

    /// Adds an unconditional branch.
    pub(super) fn push(&mut self, address: u64) {
        if self.addresses.is_empty() {
            return;
        }
        self.addresses.rotate_right(1);
        self.addresses[0] = address;
        self.upcoming = self.context_of(&self.addresses[..self.window]);
        self.present = self.context_of(&self.addresses[self.addresses.len() - self.window..]);
    }

    /// The exclusive or of the addresses, each turned by two bits more than the next newer one, so that order counts.
    fn context_of(&self, addresses: &[u64]) -> u32 {
        let mask = (1u64 << self.bits) - 1;
        let turned = |(place, address): (usize, &u64)| {
            let code = (spread(*address) ^ *address >> self.bits) & mask;
            let shift = place as u32 * 2 % self.bits;
            (code << shift | code >> (self.bits - shift)) & mask
        };
        addresses
            .iter()
            .enumerate()
            .map(turned)
            .fold(0, |context, code| context ^ code) as u32
    }

    /// Hardware keeps as many bits of an address as a context has.
    pub(super) fn storage_bits(&self) -> u64 {
        self.addresses.len() as u64 * u64::from(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upcoming_context_becomes_the_present_one() {
        let mut context = RollingContext::new(8, 4, 14);
        let mut upcoming = Vec::new();
        for count in 0..200u64 {
            context.push(0x40_0000 + count * count * 12);
            upcoming.push(context.upcoming);
            if count >= 4 {
                assert_eq!(context.present, upcoming[count as usize - 4]);
            }
        }
        upcoming.dedup();
        assert!(upcoming.len() > 150);
    }

    #[test]
    fn order_counts_and_older_branches_do_not() {
        let after = |addresses: &[u64]| {
            let mut context = RollingContext::new(2, 0, 14);
            addresses.iter().for_each(|&address| context.push(address));
            context.present
        };
        assert_ne!(after(&[0x100, 0x204]), after(&[0x204, 0x100]));
        assert_eq!(after(&[0x300, 0x100, 0x204]), after(&[0x100, 0x204]));
    }
}
