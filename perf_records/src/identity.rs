//! What stands at the end of records that are no samples (`sample_id_all`).

use perf_event_open_sys::bindings as perf;

use crate::fields::Fields;
use crate::sample::SampleLayout;

/// The process, thread and time of a record; what it doesn't say is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    /// Id of the event.
    pub id: u64,
    pub processor: u32,
}

impl SampleLayout {
    /// The identity of a record that isn't a sample; none if the record has none, or is too short.
    pub(crate) fn identity_of_other(&self, content: &[u8]) -> Option<Identity> {
        if !self.identifies_all {
            return None;
        }
        let parts = [
            perf::PERF_SAMPLE_TID,
            perf::PERF_SAMPLE_TIME,
            perf::PERF_SAMPLE_ID,
            perf::PERF_SAMPLE_STREAM_ID,
            perf::PERF_SAMPLE_CPU,
            perf::PERF_SAMPLE_IDENTIFIER,
        ];
        let length = 8 * parts.into_iter().filter(|part| self.has(*part)).count();
        let start = content.len().checked_sub(length)?;
        let mut fields = Fields::new(&content[start..]);
        let mut identity = Identity::default();
        for part in parts.into_iter().filter(|part| self.has(*part)) {
            match part {
                perf::PERF_SAMPLE_TID => (identity.pid, identity.tid) = (fields.u32()?, fields.u32()?),
                perf::PERF_SAMPLE_TIME => identity.time_ns = fields.u64()?,
                perf::PERF_SAMPLE_ID | perf::PERF_SAMPLE_IDENTIFIER => identity.id = fields.u64()?,
                perf::PERF_SAMPLE_CPU => (identity.processor, _) = (fields.u32()?, fields.u32()?),
                _ => drop(fields.u64()?),
            }
        }
        Some(identity)
    }
}
