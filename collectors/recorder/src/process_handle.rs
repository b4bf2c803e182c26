//! Processes by descriptors, which no other process can take over as it can a number.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

/// A descriptor that becomes readable when the process ends; none if it has ended.
pub fn open_process(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether the process has ended.
pub fn has_ended(descriptor: &OwnedFd) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN)];
    poll(
        &mut watched,
        Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }),
    )
    .is_ok_and(|ready| ready > 0)
}
