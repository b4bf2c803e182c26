//! What memory costs on a machine: measured in seconds, stored for the next time, and ready-made for known processors.
//!
//! [`MemoryCosts`] has the figures, [`MemoryCosts::for_this_machine`] finds or measures them. [`Calibration`] also knows
//! when they were measured, and how far the parts of the measurement differ.

mod calibration;
mod costs;
mod error;
mod measure;
mod memory_left;
mod presets;
mod processor;
mod stored;
mod toml_form;

pub use calibration::{Calibration, Measured, Step, STEPS};
pub use costs::{LevelCosts, MemoryCosts, TlbCosts, DEFAULT_FAULT_NS, DEFAULT_WINDOW, LINE_BYTES};
pub use error::CostsError;
pub use presets::preset_names;
pub use processor::processor_name;
pub use stored::{path_of_user, Event};
