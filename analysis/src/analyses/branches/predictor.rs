//! What a predictor of directions is.

use crate::model::control_flow::BranchEvent;

/// A predictor of the directions of conditional branches.
///
/// It sees a branch's outcome before the next branch is predicted, as in trace-driven studies (the Championship Branch
/// Prediction). A processor updates later, but repairs its histories.
pub trait Predictor {
    /// What tables call it.
    fn name(&self) -> &str;

    /// The bits of its tables, counters and histories, counted from the structure. `None`: they grow with the program.
    fn storage_bits(&self) -> Option<u64>;

    /// Whether the conditional branch at an address will be taken. [`Predictor::update`] with this branch must follow.
    fn predict(&mut self, address: u64) -> bool;

    /// Learns what a branch of any kind did. A conditional branch is the one of the preceding [`Predictor::predict`].
    fn update(&mut self, event: &BranchEvent);
}
