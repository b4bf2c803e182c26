//! `trackway fix`: patches of the source for changes that were advised, as far as a machine can make them.

mod align;
mod asking;
mod bytes;
mod cards;
mod change;
mod commands;
mod edits;
mod huge;
mod pool;
mod prediction;
mod prefetch;
mod prove;
mod public;
mod refusal;
mod reorder;
mod reserve;
mod source_line;
mod split;
mod structure;
mod uses;
mod verb;

pub use verb::{run, FixArguments};
