//! Chooses a tier for each call site, and predicts the result.

use super::candidates::{candidates, Candidate};
use super::knapsack::{choose, Item, Method};
use super::tier::Tier;
use crate::analyses::objects::Objects;

/// A call site and the tier it goes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub candidate: Candidate,
    /// Index of the tier.
    pub tier: usize,
}

/// Where call sites go, and what the program weighs then.
#[derive(Debug)]
pub struct Placement<'o> {
    pub objects: &'o Objects,
    pub tiers: Vec<Tier>,
    pub measured_in: usize,
    /// What gains most for each byte of the first tier against the last comes first.
    pub placed: Vec<Placed>,
    /// Predicted weight of everything together.
    pub predicted: f64,
    /// No placement comes to less, even if blocks of a call site were parted. Known for two tiers.
    pub bound: Option<f64>,
    pub method: Method,
    /// Bytes that exceed the capacity of the last tier.
    pub too_large_bytes: u64,
}

impl<'o> Placement<'o> {
    /// Fills the tiers in their order: each takes the call sites that gain most against the next one, as far as they
    /// fit.
    ///
    /// # Panics
    /// If there are no tiers, or `measured_in` is none of them.
    pub fn of(objects: &'o Objects, tiers: Vec<Tier>, measured_in: usize) -> Placement<'o> {
        assert!(
            measured_in < tiers.len(),
            "the program was measured in one of the tiers"
        );
        let last = tiers.len() - 1;
        let mut placement = Placement {
            objects,
            measured_in,
            placed: Vec::new(),
            predicted: 0.0,
            bound: None,
            method: Method::Exact,
            too_large_bytes: 0,
            tiers,
        };
        placement.placed = candidates(objects)
            .into_iter()
            .map(|candidate| Placed {
                candidate,
                tier: last,
            })
            .collect();
        for tier in 0..last {
            placement.fill(tier);
        }
        placement.predicted = placement.weight_with(|placed| placed.tier);
        let used = placement.used_bytes(last);
        let capacity = placement.tiers[last].capacity_bytes.unwrap_or(u64::MAX);
        placement.too_large_bytes = used.saturating_sub(capacity);
        placement.sort();
        placement
    }

    /// Fills a tier with candidates that no faster tier has taken.
    fn fill(&mut self, tier: usize) {
        let last = self.tiers.len() - 1;
        let (near, far, measured) = (
            &self.tiers[tier],
            &self.tiers[tier + 1],
            &self.tiers[self.measured_in],
        );
        let left: Vec<usize> = (0..self.placed.len())
            .filter(|index| self.placed[*index].tier == last)
            .collect();
        let item = |index: &usize| {
            let candidate = &self.placed[*index].candidate;
            Item {
                bytes: candidate.bytes,
                value: candidate.gain(near, far, measured),
            }
        };
        let items: Vec<Item> = left.iter().map(item).collect();
        let choice = choose(&items, near.capacity_bytes.unwrap_or(u64::MAX));
        if choice.method == Method::ByDensity {
            self.method = Method::ByDensity;
        }
        for (index, taken) in left.iter().zip(&choice.taken) {
            if *taken {
                self.placed[*index].tier = tier;
            }
        }
        if self.tiers.len() == 2 {
            self.bound = Some(self.weight_with(|_| last) - choice.bound);
        }
    }

    fn sort(&mut self) {
        let (near, far, measured) = (
            &self.tiers[0],
            &self.tiers[self.tiers.len() - 1],
            &self.tiers[self.measured_in],
        );
        let density = |placed: &Placed| placed.candidate.density(near, far, measured);
        self.placed
            .sort_by(|one, other| density(other).total_cmp(&density(one)));
    }

    /// What everything weighs if call sites lie there; what can't be placed stays as it was measured.
    pub fn weight_with(&self, tier: impl Fn(&Placed) -> usize) -> f64 {
        let measured = &self.tiers[self.measured_in];
        let moved = self.placed.iter().map(|placed| {
            let candidate = &placed.candidate;
            candidate.weight_in(&self.tiers[tier(placed)], measured) - candidate.weight
        });
        self.objects.weight.sum as f64 + moved.sum::<f64>()
    }

    pub fn used_bytes(&self, tier: usize) -> u64 {
        let there = self.placed.iter().filter(|placed| placed.tier == tier);
        there
            .map(|placed| placed.candidate.bytes)
            .fold(0, u64::saturating_add)
    }

    /// The predicted weight for each size of the first tier at which one more call site fits, as bytes and weight. At
    /// these sizes, the order by gain per byte is the best choice. Between them, nothing beats the straight line. All
    /// other call sites lie in the last tier.
    pub fn curve(&self) -> Vec<(u64, f64)> {
        let last = self.tiers.len() - 1;
        let (near, far, measured) = (&self.tiers[0], &self.tiers[last], &self.tiers[self.measured_in]);
        let (mut bytes, mut weight) = (0u64, self.weight_with(|_| last));
        let mut points = vec![(bytes, weight)];
        for placed in &self.placed {
            let gain = placed.candidate.gain(near, far, measured);
            if gain <= 0.0 {
                break;
            }
            bytes = bytes.saturating_add(placed.candidate.bytes);
            weight -= gain;
            points.push((bytes, weight));
        }
        points
    }
}
