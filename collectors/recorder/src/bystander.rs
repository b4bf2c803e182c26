//! Tells signals to the recorder alone from those to its whole process group, which the program got as well.
//!
//! A signal doesn't say whether it was sent to a process or to its group. So a bystander process stays in the
//! recorder's group, with all signals blocked: what is pending there was sent to the group. The kernel sends a signal
//! to all processes of the group under one lock, which `setpgid` takes as well. So after such a call the bystander has
//! what the recorder has, however busy the machine is.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use libc::c_int;

/// Standard signals.
const SIGNALS: usize = 32;
/// By signal: the process that sent it, or 0 if it isn't pending.
type Senders = [i32; SIGNALS];
const NOBODY: Senders = [0; SIGNALS];
/// More signals than a recorder has.
const MANY_DESCRIPTORS: RawFd = 4096;
/// How long to wait for a bystander that was stopped.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Bystander {
    process: libc::pid_t,
    /// Closing it ends the process.
    line: Option<UnixStream>,
}

impl Bystander {
    /// None if there can't be a further process.
    pub fn begin() -> io::Result<Self> {
        let (line, far_end) = UnixStream::pair()?;
        line.set_read_timeout(Some(PATIENCE))?;
        // SAFETY: the child calls only what is async-signal-safe. It gets no signal before it has blocked all.
        let process = unsafe {
            let mut all = std::mem::zeroed();
            let mut former = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut former);
            let process = libc::fork();
            if process == 0 {
                stand_by(far_end.as_raw_fd());
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &former, std::ptr::null_mut());
            process
        };
        match process {
            -1 => Err(io::Error::last_os_error()),
            process => Ok(Self {
                process,
                line: Some(line),
            }),
        }
    }

    /// Whether the group got the signal from that sender since the last call. False if that can't be found out.
    pub fn got(&self, signal: c_int, sender: libc::pid_t) -> bool {
        // SAFETY: it changes nothing but takes the lock.
        unsafe { libc::setpgid(0, libc::getpgrp()) };
        let senders = self.ask().unwrap_or(NOBODY);
        usize::try_from(signal).is_ok_and(|signal| senders.get(signal) == Some(&sender))
    }

    fn ask(&self) -> io::Result<Senders> {
        let Some(mut line) = self.line.as_ref() else {
            return Ok(NOBODY);
        };
        let mut answer = [0; size_of::<Senders>()];
        line.write_all(&[0])?;
        line.read_exact(&mut answer)?;
        let mut words = answer.chunks_exact(size_of::<i32>());
        Ok(std::array::from_fn(|_| {
            words
                .next()
                .map_or(0, |word| i32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        }))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.line = None;
        // SAFETY: our own child, which ends now.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            libc::waitpid(self.process, std::ptr::null_mut(), 0);
        }
    }
}

/// The bystander's life: it answers until the recorder's end closes the line. It holds nothing else open, since others may
/// wait for the end of the recorder's pipes.
unsafe fn stand_by(line: RawFd) -> ! {
    let line = line as u32;
    let own = 0;
    libc::syscall(libc::SYS_dup3, line, own, 0);
    if libc::syscall(libc::SYS_close_range, 1, u32::MAX, 0) != 0 {
        // An old kernel.
        for descriptor in 1..MANY_DESCRIPTORS {
            libc::close(descriptor);
        }
    }
    let mut request = 0u8;
    while libc::read(own, (&raw mut request).cast(), 1) == 1 {
        let senders = pending();
        let length = size_of::<Senders>();
        if libc::write(own, senders.as_ptr().cast(), length) != length as isize {
            break;
        }
    }
    libc::_exit(0)
}

/// Takes the signals that are pending.
unsafe fn pending() -> Senders {
    let mut senders = NOBODY;
    let mut all = std::mem::zeroed();
    libc::sigfillset(&mut all);
    let no_time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut info: libc::siginfo_t = std::mem::zeroed();
    loop {
        let signal = libc::sigtimedwait(&all, &mut info, &no_time);
        if signal <= 0 {
            return senders;
        }
        if let Some(sender) = senders.get_mut(signal as usize) {
            *sender = info.si_pid();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bystander_knows_what_it_got() {
        let bystander = Bystander::begin().unwrap();
        let us = std::process::id() as i32;
        assert!(!bystander.got(libc::SIGTERM, us));
        // SAFETY: our own child.
        assert_eq!(unsafe { libc::kill(bystander.process, libc::SIGTERM) }, 0);
        assert!(!bystander.got(libc::SIGTERM, us + 1)); // and it is taken now
        assert!(!bystander.got(libc::SIGTERM, us));
        // SAFETY: the same.
        assert_eq!(unsafe { libc::kill(bystander.process, libc::SIGINT) }, 0);
        assert!(bystander.got(libc::SIGINT, us));
        assert!(!bystander.got(-1, us) && !bystander.got(1000, us));
    }
}
