//! Signals that would end the recorder: it stays until the program has ended and the trace is complete.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::iterator::SignalsInfo;
use signal_hook::low_level::siginfo::Cause;

use crate::bystander::Bystander;

pub struct Signals {
    caught: SignalsInfo<WithOrigin>,
    former: Vec<(i32, libc::sigaction)>,
    /// None if no further process may be started. Then all signals but the terminal's are taken to be for the recorder
    /// alone.
    bystander: Option<Bystander>,
}

/// The receivers of a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The terminal's foreground process group.
    Terminal,
    /// The recorder's process group.
    Group,
    /// The recorder.
    Recorder,
}

/// A signal that the recorder got.
pub struct Received {
    pub signal: i32,
    pub reach: Reach,
}

impl Signals {
    /// Signals that are ignored stay so, for the program too (`nohup`).
    pub fn catch() -> io::Result<Self> {
        let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ];
        let mut former: Vec<_> = ending.map(|signal| (signal, action(signal))).into();
        former.retain(|(_, action)| action.sa_sigaction != libc::SIG_IGN);
        let signals: Vec<_> = former.iter().map(|&(signal, _)| signal).collect();
        Ok(Self {
            caught: SignalsInfo::with_exfiltrator(signals, WithOrigin::default())?,
            former,
            bystander: Bystander::begin().ok(),
        })
    }

    /// Signals since the last call, except SIGXFSZ: the write that exceeded the limit fails, which says more.
    pub fn pending(&mut self) -> impl Iterator<Item = Received> + '_ {
        let bystander = &self.bystander;
        self.caught
            .pending()
            .filter(|origin| origin.signal != SIGXFSZ)
            .map(move |origin| {
                let sender = origin.process.as_ref().map_or(0, |process| process.pid);
                let group_got_it = || {
                    bystander
                        .as_ref()
                        .is_some_and(|other| other.got(origin.signal, sender))
                };
                let reach = match origin.cause {
                    Cause::Kernel => Reach::Terminal,
                    _ if group_got_it() => Reach::Group,
                    _ => Reach::Recorder,
                };
                Received {
                    signal: origin.signal,
                    reach,
                }
            })
    }
}

/// Sets `flag` at the next signal of the user, too.
pub fn set_at_next(flag: &Arc<AtomicBool>) {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        // It fails only for signals that can't be caught.
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, action) in &self.former {
            // SAFETY: installs what was installed before.
            unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
        }
    }
}

fn action(signal: i32) -> libc::sigaction {
    // SAFETY: with no new action, sigaction only writes the present one, for which zeros are valid.
    unsafe {
        let mut present = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present);
        present
    }
}
