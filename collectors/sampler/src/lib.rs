//! Samples of the instructions that a program executes, and of the memory that these access; the program is not compiled
//! anew, and its threads are stopped for moments only.
//!
//! `events` chooses what takes samples on a machine, and [`Sampler`] makes samples of a trace of the records that the
//! kernel delivers. Where no processor says which access a sample stands for, `attribution` finds the instruction that
//! stalled, and what it accessed, in `code`; `window` executes the instructions that follow.

mod attribution;
mod code;
mod error;
mod events;
mod overhead;
mod registers;
mod sampling;
mod speed;
mod threads;
mod window;

pub use code::SeenBlock;
pub use error::SamplerError;
pub use events::Target;
pub use registers::Registers;
pub use sampling::{
    Choice, OpenSampler, Pace, PreparedSampler, Sampler, SamplerOptions, USUAL_RATE, USUAL_WINDOW,
};
