//! The whole: choosing how to sample, opening the events, and making samples and windows of their records.

mod preparation;
mod sampler;
mod window_maker;

pub use preparation::{Choice, OpenSampler, Pace, PreparedSampler, SamplerOptions, USUAL_RATE, USUAL_WINDOW};
pub use sampler::Sampler;
