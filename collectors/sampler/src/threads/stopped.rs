//! Threads that are stopped for a moment, so that a window sees registers and memory of one time.

use crate::registers::Registers;

/// Stops threads, one at a time. All calls must come from one thread of this process.
#[derive(Debug, Default)]
pub struct Stopper {
    /// The process that this one has started; other code waits for its end.
    child: Option<u32>,
    /// Threads that couldn't be stopped, most likely because a debugger has them.
    pub refused: u64,
}

/// A thread that is stopped until this is dropped.
#[derive(Debug)]
pub struct Stopped {
    tid: u32,
    /// It stopped for that signal, which it gets when it goes on.
    signal: libc::c_int,
}

impl Stopper {
    pub fn new(child: Option<u32>) -> Self {
        Stopper { child, refused: 0 }
    }

    /// Stops a thread that runs; none if it doesn't, or if it can't be stopped.
    pub fn stop(&mut self, pid: u32, tid: u32) -> Option<Stopped> {
        if !cfg!(target_arch = "x86_64") || !runs(pid, tid) {
            return None;
        }
        if !request(libc::PTRACE_SEIZE, tid, 0) {
            self.refused += u64::from(runs(pid, tid));
            return None;
        }
        // If the thread has ended meanwhile, waiting reports that.
        request(libc::PTRACE_INTERRUPT, tid, 0);
        self.wait(tid).or_else(|| {
            // Where a thread executes another program, it goes on under the number of the process's first one.
            let is_first_ours = tid != pid && is_traced_by_this(pid);
            is_first_ours.then(|| self.wait(pid)).flatten()
        })
    }

    /// Waits until the thread has stopped; none if it has ended.
    fn wait(&self, tid: u32) -> Option<Stopped> {
        let (pid, code, status) = wait(tid, libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT)?;
        let is_stopped = code == libc::CLD_TRAPPED || code == libc::CLD_STOPPED;
        if pid != 0 && !is_stopped && self.child != Some(tid) {
            // Its end is reported to its parent only when its tracer has taken notice.
            wait(tid, libc::WEXITED | libc::WNOHANG);
        }
        is_stopped.then_some(Stopped {
            tid,
            // ptrace's own stops have an event above the signal, which is none of the thread's then.
            signal: if status >> 8 == 0 { status } else { 0 },
        })
    }
}

impl Stopped {
    /// Its general registers; none if it was killed.
    #[cfg(target_arch = "x86_64")]
    pub fn registers(&self) -> Option<Registers> {
        // SAFETY: the kernel fills the structure, for which zeros are valid.
        let user = unsafe {
            let mut user: libc::user_regs_struct = std::mem::zeroed();
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.tid as libc::pid_t, 0, &raw mut user);
            (got == 0).then_some(user)?
        };
        Some(Registers::from_user(&user))
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub fn registers(&self) -> Option<Registers> {
        None
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        request(libc::PTRACE_DETACH, self.tid, self.signal);
    }
}

fn request(request: libc::c_uint, tid: u32, data: libc::c_int) -> bool {
    // SAFETY: these requests take numbers only.
    unsafe { libc::ptrace(request, tid as libc::pid_t, 0, libc::c_long::from(data)) == 0 }
}

/// Process, code and status of what happened to a thread that this one traces.
fn wait(tid: u32, options: libc::c_int) -> Option<(libc::pid_t, libc::c_int, libc::c_int)> {
    loop {
        // SAFETY: the kernel fills the structure, for which zeros are valid, and the fields that are read.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            if libc::waitid(libc::P_PID, tid, &raw mut info, options | libc::__WALL) == 0 {
                return Some((info.si_pid(), info.si_code, info.si_status()));
            }
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return None;
        }
    }
}

/// Whether the thread is on a processor or waits for one: a system call that waits would be interrupted.
fn runs(pid: u32, tid: u32) -> bool {
    state_of(pid, tid) == Some(b'R')
}

/// As in proc(5): R for one that runs, S for one that waits, t for one that a tracer has stopped.
fn state_of(pid: u32, tid: u32) -> Option<u8> {
    let text = std::fs::read(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    text.get(name_end + 2).copied()
}

fn is_traced_by_this(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // SAFETY: takes and changes nothing.
    let this = unsafe { libc::gettid() };
    tracer.is_some_and(|tracer| tracer.trim() == this.to_string())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    struct Running(Child);

    impl Running {
        fn shell(script: &str) -> Self {
            let mut command = Command::new("/bin/sh");
            let child = command.args(["-c", script]).stdin(Stdio::null()).spawn().unwrap();
            Running(child)
        }

        fn pid(&self) -> u32 {
            self.0.id()
        }

        fn stopper(&self) -> Stopper {
            Stopper::new(Some(self.pid()))
        }

        /// Waits until the shell has got that far.
        fn until_state(&self, state: u8) {
            let began = Instant::now();
            while state_of(self.pid(), self.pid()) != Some(state) {
                assert!(began.elapsed() < Duration::from_secs(20), "it is never {state}");
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        fn send(&self, signal: libc::c_int) {
            // SAFETY: the child hasn't been waited for.
            assert_eq!(unsafe { libc::kill(self.pid() as libc::pid_t, signal) }, 0);
        }

        fn end(&mut self) -> ExitStatus {
            self.0.wait().unwrap()
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Stops it, which takes some tries while it begins.
    fn stopped(stopper: &mut Stopper, running: &Running) -> Stopped {
        let began = Instant::now();
        loop {
            if let Some(stopped) = stopper.stop(running.pid(), running.pid()) {
                return stopped;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "it can't be stopped");
        }
    }

    const FOR_EVER: &str = "while :; do :; done";

    #[test]
    fn a_thread_stands_still_and_goes_on() {
        let running = Running::shell(FOR_EVER);
        let mut stopper = running.stopper();
        for _ in 0..50 {
            let stopped = stopped(&mut stopper, &running);
            assert_eq!(state_of(running.pid(), running.pid()), Some(b't'));
            let registers = stopped.registers().unwrap();
            assert_eq!(stopped.registers(), Some(registers), "it doesn't move");
            assert_ne!(registers.general[crate::registers::STACK_POINTER], 0);
            drop(stopped);
            running.until_state(b'R');
        }
        assert_eq!(stopper.refused, 0);
    }

    #[test]
    fn a_thread_that_waits_is_left_alone() {
        let running = Running::shell("read line; exec sleep 60");
        running.until_state(b'S');
        assert!(running.stopper().stop(running.pid(), running.pid()).is_none());
        assert_eq!(state_of(running.pid(), running.pid()), Some(b'S'));
    }

    #[test]
    fn signals_arrive() {
        let mut running = Running::shell("trap 'exit 7' TERM; kill -STOP $$; while :; do :; done");
        running.until_state(b'T');
        running.send(libc::SIGCONT);
        let mut stopper = running.stopper();
        let still = stopped(&mut stopper, &running);
        running.send(libc::SIGTERM);
        drop(still);
        // Further stops neither lose the signal nor what it does.
        (0..100).for_each(|_| drop(stopper.stop(running.pid(), running.pid())));
        assert_eq!(running.end().code(), Some(7));
    }

    #[test]
    fn an_end_is_seen_by_who_waits_for_it() {
        let mut running = Running::shell(FOR_EVER);
        let mut stopper = running.stopper();
        let still = stopped(&mut stopper, &running);
        running.send(libc::SIGKILL);
        drop(still);
        (0..100).for_each(|_| drop(stopper.stop(running.pid(), running.pid())));
        assert_eq!(running.end().signal(), Some(libc::SIGKILL));
        assert!(stopper.stop(running.pid(), running.pid()).is_none());
    }

    #[test]
    fn children_of_the_program_are_reported_to_it() {
        let mut running =
            Running::shell("(while :; do :; done) & echo $! > /dev/null; wait $!; exit $(($? - 100))");
        let children = format!("/proc/{0}/task/{0}/children", running.pid());
        let began = Instant::now();
        let child: u32 = loop {
            let text = std::fs::read_to_string(&children).unwrap();
            if let Some(Ok(pid)) = text.split_whitespace().next().map(str::parse) {
                break pid;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "it has no child");
        };
        let mut stopper = running.stopper();
        // It is killed before, between and while it is stopped.
        for round in 0..200 {
            let still = stopper.stop(child, child);
            if round == 20 {
                // SAFETY: a process of this test, which its parent hasn't waited for.
                unsafe { libc::kill(child as libc::pid_t, libc::SIGTERM) };
            }
            drop(still);
        }
        assert_eq!(running.end().code(), Some(128 + libc::SIGTERM - 100));
    }

    #[test]
    fn who_has_a_tracer_is_refused() {
        let running = Running::shell(FOR_EVER);
        let mut other = running.stopper();
        let still = stopped(&mut other, &running);
        request(libc::PTRACE_CONT, still.tid, 0);
        running.until_state(b'R');
        let refused = std::thread::scope(|scope| {
            let of_another_thread = scope.spawn(|| {
                let mut stopper = running.stopper();
                assert!(stopper.stop(running.pid(), running.pid()).is_none());
                stopper.refused
            });
            of_another_thread.join().unwrap()
        });
        assert_eq!(refused, 1);
        request(libc::PTRACE_INTERRUPT, still.tid, 0);
        drop(other.wait(still.tid));
        running.until_state(b'R');
    }
}
