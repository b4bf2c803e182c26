//! Room on the stack for the larger frames of code that records.

use std::fs;
use std::io;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

/// Recording adds up to 48 bytes to a frame (docs/collectors/stack-and-signals.md), which takes 16 and more besides.
const TIMES: u64 = 4;

/// What the program's limits of the stack are to be; none: as they are. The C library gives threads stacks of that size,
/// so nothing changes where address space is counted.
pub fn wanted() -> Option<Rlimit> {
    let stack = getrlimit(Resource::Stack);
    let address_space_counts = getrlimit(Resource::As).current.is_some()
        || fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2");
    if address_space_counts {
        return None;
    }
    raised(stack)
}

/// The raised limit, as far as the hard limit allows; none if nothing changes. No soft limit stays none.
fn raised(stack: Rlimit) -> Option<Rlimit> {
    let current = stack.current?;
    let grown = current.saturating_mul(TIMES);
    let current = stack.maximum.map_or(grown, |maximum| grown.min(maximum));
    (Some(current) != stack.current).then_some(Rlimit {
        current: Some(current),
        maximum: stack.maximum,
    })
}

/// The soft limit of a process that runs, or that ended and wasn't waited for; none if it has none, or it is unknown.
pub fn limit_of(pid: u32) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: only reads the limit, into a structure that lives until the call returns.
    let done = unsafe {
        libc::prlimit(
            pid as libc::pid_t,
            libc::RLIMIT_STACK,
            std::ptr::null(),
            &mut limit,
        )
    };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Called in the program's process, before it is executed.
pub fn give(limit: Rlimit) -> io::Result<()> {
    // A program with less room is better than none.
    let _ = setrlimit(Resource::Stack, limit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(current: Option<u64>, maximum: Option<u64>) -> Rlimit {
        Rlimit { current, maximum }
    }

    #[test]
    fn grows_up_to_the_hard_limit() {
        assert_eq!(raised(limit(Some(8), None)), Some(limit(Some(32), None)));
        assert_eq!(
            raised(limit(Some(8), Some(100))),
            Some(limit(Some(32), Some(100)))
        );
        assert_eq!(raised(limit(Some(8), Some(20))), Some(limit(Some(20), Some(20))));
        assert_eq!(raised(limit(Some(8), Some(8))), None);
    }

    #[test]
    fn limits_of_processes_are_known() {
        let own = getrlimit(Resource::Stack).current;
        assert_eq!(limit_of(std::process::id()), own);
        assert_eq!(limit_of(0x7fff_fff0), None);
    }

    #[test]
    fn without_limit_stays_so() {
        assert_eq!(raised(limit(None, None)), None);
        assert_eq!(
            raised(limit(Some(u64::MAX / 2), None)),
            Some(limit(Some(u64::MAX), None))
        );
    }
}
