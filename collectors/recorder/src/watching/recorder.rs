//! Finding the recorder of a process.

use super::attach::{own_ring, ring_name, AttachError};
use super::dormant::recorder_of_dormant;

/// The recorder of which the process is a part, or that it is.
pub fn recorder_of(pid: u32) -> Result<u32, AttachError> {
    let name = ring_name(pid)?;
    if own_ring(pid, name)?.is_some() {
        return Ok(pid);
    }
    name.map(|name| name.recorder)
        .or_else(|| recorder_of_dormant(pid))
        .ok_or(AttachError::NotRecorded { pid })
}
