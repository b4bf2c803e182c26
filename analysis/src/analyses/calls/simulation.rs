//! Misses by site and place in the tree.

use trackway_trace::{Batch, Lane};

use super::functions::SiteTraits;
use super::joint::{Joint, Owner};
use super::{SiteCounts, Tree};
use crate::model::cache::{Access, Accounts, Caches, Missed};
use crate::model::site_counts::address_space;

/// Most owners that are waited for together, apart from those of one run.
const MOST_OWNERS: usize = 4096;

/// Where misses count.
pub(super) struct Charges<'c> {
    pub tree: &'c mut Tree,
    pub counts: &'c mut [SiteCounts],
    pub joint: Option<&'c mut Joint>,
}

impl Charges<'_> {
    fn add(&mut self, owners: &[Owner], missed: Missed) {
        let owner = owners[missed.owner as usize];
        self.counts[owner.site.index()].misses[missed.level] += missed.lines;
        self.tree.add_misses(owner.node, missed.level, missed.lines);
        if let Some(joint) = &mut self.joint {
            joint.add_misses(owner, missed.level, missed.lines);
        }
    }
}

/// Caches, and accesses on their way through them.
pub(super) struct Simulation {
    accounts: Accounts,
    shared: bool,
    core: usize,
    address_space: u64,
    /// Owners by their numbers.
    owners: Vec<Owner>,
}

impl Simulation {
    /// None if there is no level to simulate.
    pub fn new(caches: &Caches) -> Option<Simulation> {
        Some(Simulation {
            accounts: Accounts::new(caches)?,
            shared: caches.any_shared(),
            core: 0,
            address_space: 0,
            owners: Vec::new(),
        })
    }

    pub fn begin(&mut self, batch: &Batch) {
        self.core = self.accounts.core_of(batch.stream);
        self.address_space = address_space(batch, self.shared);
    }

    #[inline]
    pub fn take(&mut self, owner: Owner, address: u64, length: u64, is_write: bool, charges: &mut Charges) {
        let access = Access {
            core: self.core,
            site: owner.site.index(),
            address: address ^ self.address_space,
            length,
            is_write,
        };
        let number = self.owners.len() as u32;
        self.owners.push(owner);
        let owners = &self.owners;
        self.accounts
            .take(number, &access, |miss| charges.add(owners, miss));
        self.settle_if_full(charges);
    }

    /// `count` iterations of the lanes, each with its owner. No address space: threads that share caches have no runs.
    pub fn take_run(
        &mut self,
        owners: &[Owner],
        run: (&[Lane], u64),
        sites: &[SiteTraits],
        charges: &mut Charges,
    ) {
        let (lanes, first) = (run.0, self.owners.len());
        self.owners.extend_from_slice(owners);
        let of_lane = |lane: usize| ((first + lane) as u32, sites[lanes[lane].site.index()].writes);
        let owners = &self.owners;
        self.accounts
            .take_run(self.core, run, of_lane, |miss| charges.add(owners, miss));
        self.settle_if_full(charges);
    }

    fn settle_if_full(&mut self, charges: &mut Charges) {
        if self.owners.len() >= MOST_OWNERS {
            self.settle(charges);
        }
    }

    /// Counts what the accesses until now have missed.
    pub fn settle(&mut self, charges: &mut Charges) {
        let owners = &self.owners;
        self.accounts.settle(|miss| charges.add(owners, miss));
        self.owners.clear();
    }
}
