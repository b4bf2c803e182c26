//! Which allocations should lie in which kind of memory.
//!
//! [`Placement::of`] ranks call sites by what they gain from a byte of faster memory, fills tiers of given capacities,
//! and predicts the time. `docs/verbs/place.md` defines the model and its limits.

mod advice;
mod candidates;
mod knapsack;
mod plan;
mod tables;
mod tier;

pub use advice::{AdviceHeader, AdvisedCall, AdvisedFrame, AdvisedSite};
pub use candidates::Candidate;
pub use knapsack::Method;
pub use plan::{Placed, Placement};
pub use tier::{parse_tier, Tier};
