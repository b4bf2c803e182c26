//! Processes by descriptors, which no other process can take over as it can a number.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags};

/// A descriptor that becomes readable when the process ends; none if it has ended.
pub fn open_process(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}
