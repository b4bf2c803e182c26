//! Sixteen accesses at once.

use crate::SiteId;

/// Sixteen successive accesses, to be written and moved on.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) addresses: [u64; Block::LENGTH],
    /// What is added to each address after it was written.
    pub(super) steps: [u64; Block::LENGTH],
    pub(super) sites: [SiteId; Block::LENGTH],
    pub(super) sizes: [u32; Block::LENGTH],
}

impl Block {
    pub(super) const LENGTH: usize = 16;

    pub(super) const EMPTY: Block = Block {
        addresses: [0; Block::LENGTH],
        steps: [0; Block::LENGTH],
        sites: [SiteId(0); Block::LENGTH],
        sizes: [0; Block::LENGTH],
    };

    /// Writes the sixteen accesses.
    ///
    /// # Safety
    /// Each pointer must be valid for writes of `LENGTH` entries.
    #[inline(always)]
    pub(super) unsafe fn write(&mut self, sites: *mut SiteId, addresses: *mut u64, sizes: *mut u32) {
        // SAFETY: the caller's duty.
        unsafe {
            sites.cast::<[SiteId; Block::LENGTH]>().write(self.sites);
            sizes.cast::<[u32; Block::LENGTH]>().write(self.sizes);
            addresses.cast::<[u64; Block::LENGTH]>().write(self.addresses);
        }
        for (address, step) in self.addresses.iter_mut().zip(&self.steps) {
            *address = address.wrapping_add(*step);
        }
    }
}
