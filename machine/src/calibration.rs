//! Figures together with how they came about.

use std::collections::BTreeMap;

use crate::costs::MemoryCosts;

/// How often each figure is measured, some time apart, unless the machine is too busy.
pub(crate) const PASSES: u32 = 5;
/// Steps of a pass.
pub(crate) const PARTS: u32 = 6;
/// The number of steps of a measurement. Before the passes, memory is prepared.
pub const STEPS: u32 = 1 + PASSES * PARTS;

/// The way in which figures are measured. Another one has another number, and figures of one before are measured anew.
pub(crate) const METHOD: u32 = 4;
/// Of figures that were stored without the number.
pub(crate) const FIRST_METHOD: u32 = 1;

/// Figures, and how they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    pub costs: MemoryCosts,
    /// None if the figures are ready-made.
    pub measured: Option<Measured>,
}

/// How figures were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// In which way, of those that this program had in its time.
    pub(crate) method: u32,
    /// When, in seconds since 1970.
    pub unix_s: u64,
    pub took_s: f64,
    /// What the figures lack.
    pub notes: Vec<String>,
    /// By how much the middle one of the passes lies above the least, as a share of it; by the figure's name:
    /// `ghz`, or the level's name and the field's, such as `L1 latency_ns`.
    pub spread: BTreeMap<String, f64>,
}

/// How far a measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Finished steps, of [`STEPS`].
    pub done: u32,
    /// What is done now.
    pub what: &'static str,
}
