//! Traces of DynamoRIO's drmemtrace, in the form that its converter gives them: entries of 12 bytes, compressed.
//!
//! Facts are from DynamoRIO's `clients/drcachesim/common/trace_entry.h` and its manual's page on the format.

mod entry;
mod file;
mod modules;
mod opened;
mod steps;

pub use entry::{file_type, kind, marker, Entry, EPOCH_MICROSECONDS};
pub use file::{application_of, trace_files};
pub use modules::{LoadedObject, LoadedObjects};
pub use steps::{read, Thread, ThreadStep};
