//! Samples of the instructions that a program executes, and of the memory that these access; the program is not compiled
//! anew, and its threads are stopped for moments only.
//!
//! [`attributes`] chooses what takes samples on a machine, and [`Sampler`] makes samples of a trace of the records that
//! the kernel delivers. Where no processor says which access a sample stands for, `attribution` finds the
//! instruction that stalled, and what it accessed, in `code`; `window` executes the instructions that follow.

pub mod attributes;
mod attribution;
mod budget;
mod code;
mod cpu_time;
mod error;
mod events;
mod loop_times;
mod preparation;
mod processors;
mod registers;
mod ring;
mod sampler;
mod seen_code;
mod skid;
mod speed;
mod stopped;
mod thread_pointers;
mod window;
mod window_maker;

pub use error::SamplerError;
pub use events::Target;
pub use preparation::{Choice, OpenSampler, Pace, PreparedSampler, SamplerOptions, USUAL_RATE, USUAL_WINDOW};
pub use registers::Registers;
pub use sampler::Sampler;
pub use seen_code::SeenBlock;
