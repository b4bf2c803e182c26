//! The codec of record streams (`docs/format.md`, section 3.1): records split into columns, with what can be foreseen
//! left out.
//!
//! [`Shapes`] knows from the module tables how long the records are and which roots they hold, and it remembers the
//! records of a chunk so far. [`split`] and [`join`] run over the records in the same way and keep the same memory:
//! [`split`] writes what was not foreseen, and [`join`] reads it. [`packed`] is how the columns are stored.

mod join;
mod packed;
mod preference;
mod reader;
mod shapes;
mod split;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use join::ColumnCursor;
pub(crate) use preference::Preference;
pub(crate) use reader::{ColumnReader, ColumnState};
pub(crate) use shapes::Root;
pub(crate) use writer::{has_compressed_columns, ColumnWriter, RecordShapes};

/// Longer records stand in the rest, as they are. No program writes any: a buffer has no room for them.
const MAX_RECORD_LENGTH: u32 = 4096;

/// What follows the previous record's id: 2 bits for each record, from the lowest bits of a byte on.
mod step {
    /// A lower one is the number of a successor.
    pub(super) const STATED: u8 = 2;
}

/// Steps in a byte.
const STEPS_PER_BYTE: usize = 4;
/// Lengths in a byte.
const LENGTHS_PER_BYTE: usize = 2;

/// Whether the processor counts leading zeros and shifts by variable amounts in one instruction each.
#[cfg(target_arch = "x86_64")]
fn is_x86_64_detected() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")
}
