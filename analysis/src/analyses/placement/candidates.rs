//! What can be placed, and what its place costs.

use super::tier::Tier;
use crate::analyses::objects::{Objects, Owner, OwnerTotals};

/// The allocations of one call site.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Index among the owners of [`Objects`].
    pub owner: usize,
    /// Most bytes that were live at a time.
    pub bytes: u64,
    /// What its samples weigh that no cache is known to have answered, where the program was measured.
    pub weight: f64,
    /// The same of the least and the most that its interval of 95 % allows.
    pub weight_low: f64,
    pub weight_high: f64,
    pub streaming: f64,
    pub stores: f64,
}

impl Candidate {
    /// The candidate's weight in a tier, if it was measured in `measured_in`.
    pub fn weight_in(&self, tier: &Tier, measured_in: &Tier) -> f64 {
        self.weight * tier.slowdown(measured_in, self.streaming, self.stores)
    }

    /// What a byte gains in `near` against `far`.
    pub fn density(&self, near: &Tier, far: &Tier, measured_in: &Tier) -> f64 {
        self.gain(near, far, measured_in) / self.bytes.max(1) as f64
    }

    pub fn gain(&self, near: &Tier, far: &Tier, measured_in: &Tier) -> f64 {
        self.weight_in(far, measured_in) - self.weight_in(near, measured_in)
    }
}

/// The call sites whose allocations can be placed elsewhere; others stay where they are.
pub fn candidates(objects: &Objects) -> Vec<Candidate> {
    let sites = objects.owners.iter().enumerate();
    sites
        .filter(|(_, (owner, totals))| {
            matches!(owner, Owner::CallSite(_)) && totals.peak_bytes > 0 && !totals.chains.is_empty()
        })
        .map(|(owner, (_, totals))| candidate(objects, owner, totals))
        .collect()
}

/// Without windows, the share of streams is unknown. Then latency is taken to bind.
fn candidate(objects: &Objects, owner: usize, totals: &OwnerTotals) -> Candidate {
    let weight = totals.weight_beyond_caches as f64;
    let whole = objects.weight.sum as f64;
    let beyond = weight / (totals.weight.sum.max(1) as f64);
    let (low, high) = match totals.weight.share_of(&objects.weight) {
        Some(share) => (share.low * whole * beyond, share.high * whole * beyond),
        None => (weight, weight),
    };
    Candidate {
        owner,
        bytes: totals.peak_bytes,
        weight,
        weight_low: low,
        weight_high: high,
        streaming: totals.streaming_share().unwrap_or(0.0),
        stores: totals.store_share().unwrap_or(0.0),
    }
}
