//! Records of Linux's perf events, as ring buffers and files of `perf record` hold them, and what processes have mapped
//! by these records.
//!
//! `linux/perf_event.h` defines the records. The event's attributes say what a sample holds: [`SampleLayout`].

mod address_spaces;
mod fields;
mod identity;
mod objects;
mod record;
mod registers;
mod sample;

pub use address_spaces::AddressSpaces;
pub use objects::ObjectFile;
pub use record::{parse, MappedRecord, Record, RecordHeader, HEADER_LENGTH};
pub use registers::{SampledRegisters, PERF_MASK};
pub use sample::{PerfSample, SampleLayout};
