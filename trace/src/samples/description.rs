//! What the start chunk says of sampling.

use serde::{Deserialize, Serialize};

/// How the samples of a trace were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplingInfo {
    /// What triggered samples; [`crate::Sample::event`] is an index into it.
    pub events: Vec<SampledEvent>,
    /// Samples for each second of a thread's running that were asked for; 0 if the recorder chose by
    /// `overhead_millionths`.
    pub rate_hz: u64,
    /// Share of the program's time that sampling may take, millionths; 0 if a rate was asked for.
    pub overhead_millionths: u64,
    /// Instructions of a window at most.
    pub window_instructions: u32,
    /// Where samples of the clock fall relative to what stalls; none if the processor names the instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skid: Option<Skid>,
}

/// What triggers samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledEvent {
    /// `cpu-clock`, `ibs_op`, `mem-loads`, `mem-stores`, ...
    pub name: String,
    /// `clock`, `ibs`, `pebs`, `power`, or `perf` for samples that another tool took.
    pub source: String,
    /// Unit of [`crate::Sample::weight`]: `ns`, or what is counted, such as `cycles`, `loads`, `operations`.
    pub weight_unit: String,
}

/// Where samples of the clock were seen in a loop in which one load takes nearly all time, measured at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skid {
    /// Samples within the loop.
    pub samples: u64,
    /// Those of them that were seen at the load itself.
    pub at_load: u64,
    /// Those of them that were seen at the instruction after it.
    pub behind_load: u64,
}

impl Skid {
    /// Whether the time of a sample belongs to the instruction before the sampled PC.
    pub fn is_to_successor(&self) -> bool {
        self.behind_load > self.at_load
    }
}
