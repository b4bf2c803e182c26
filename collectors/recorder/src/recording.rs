//! The recorder's loop, from the program's start to the end of its last process.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::{Duration, Instant};

use crate::abi;
use crate::clock::RecordingClock;
use crate::collector::{image_of, Collector};
use crate::program::{EndOfProgram, Program};
use crate::ring::Ring;
use crate::sampling::Sampling;
use crate::signals::Signals;

/// The longest sleep: signals and the end of forked processes are noticed that late.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Buffers of threads and processes that are gone are looked for that often, and whenever the program lacks buffers.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);
/// How long, after the program's end, a forked process may take to show itself.
const LONGEST_BIRTH: Duration = Duration::from_secs(2);

pub struct Recording<'a, 'scope> {
    pub ring: &'scope Ring,
    pub collector: &'a mut Collector<'scope>,
    pub program: &'a Program,
    pub end: &'a EndOfProgram,
    pub signals: &'a mut Signals,
    /// When the program was first seen to have ended while children were expected.
    pub end_noticed: Option<Instant>,
    pub sampling: Option<&'a mut Sampling>,
    pub clock: &'a RecordingClock,
}

impl Recording<'_, '_> {
    /// Collects until every recorded process has ended. True if the user didn't want to wait for those that outlive
    /// the program.
    pub fn run(&mut self) -> bool {
        let mut last_sweep = Instant::now();
        loop {
            let seen = self.ring.header().full.full_events.load(SeqCst);
            let program_ended = self.end.get().is_some();
            // Asked before collecting: of those who have ended by now, nothing comes after it.
            let all_ended =
                program_ended && !self.expects_children() && !self.collector.processes.any_lives();
            let mut progress = self.collector.collect();
            if let Some(sampling) = &mut self.sampling {
                sampling.poll(self.clock, self.collector);
            }
            if self.heed_signals(program_ended) {
                self.stop();
                return true;
            }
            let lacks_buffers = progress == 0 && self.ring.header().free.free_waiters.load(Relaxed) != 0;
            if program_ended || lacks_buffers || last_sweep.elapsed() >= SWEEP_INTERVAL {
                progress += self.sweep();
                last_sweep = Instant::now();
            }
            if progress == 0 && all_ended && !self.collector.processes.any_lives() {
                return false;
            }
            if progress == 0 {
                let wait = self
                    .sampling
                    .as_ref()
                    .map_or(LONGEST_WAIT, |sampling| sampling.wait());
                self.ring.wait_for_full(seen, wait.min(LONGEST_WAIT));
            }
        }
    }

    /// Whether a process was forked that has not shown itself yet. A child that is killed at once never does.
    fn expects_children(&mut self) -> bool {
        let pending = self.ring.header().ids.pending_forks.load(Acquire) != 0;
        pending && self.end_noticed.get_or_insert_with(Instant::now).elapsed() < LONGEST_BIRTH
    }

    /// True if the user wants to end the recording.
    fn heed_signals(&mut self, program_ended: bool) -> bool {
        let mut heeded = false;
        for received in self.signals.pending() {
            match program_ended {
                true => heeded = true,
                // The program decides what the signal means.
                false if !received.from_terminal => self.program.send(received.signal),
                false => {}
            }
        }
        heeded
    }

    /// Claims the buffers of threads and processes that are gone. Returns how much news there was.
    fn sweep(&mut self) -> usize {
        let ended = self.collector.processes.note_ends();
        for &(pid, number) in &ended {
            if pid != self.program.pid {
                self.collector.push_process_end(pid, number, None);
            }
        }
        let buffers = self.ring.buffers();
        let claimed = (0..buffers.len())
            .filter(|&index| self.is_orphan(index) && self.ring.claim(index))
            .count();
        claimed + ended.len()
    }

    fn is_orphan(&mut self, index: usize) -> bool {
        let buffer = &self.ring.buffers()[index];
        let owned = match buffer.state.load(Acquire) {
            abi::OWNED => true,
            abi::CLAIMED => false,
            _ => return false,
        };
        let image = image_of(buffer);
        if image.pid == 0 {
            return false; // nothing was written to it yet
        }
        let processes = &mut self.collector.processes;
        processes.notice(image);
        !processes.lives(image.pid) || (owned && !thread_lives(image.pid, buffer.tid.load(Relaxed)))
    }

    /// Takes what the living processes have recorded so far and leaves them alone.
    fn stop(&mut self) {
        self.ring.stop();
        self.sweep();
        let buffers = self.ring.buffers();
        for index in (0..buffers.len()).filter(|&index| image_of(&buffers[index]).pid != 0) {
            self.ring.claim(index);
        }
        while self.collector.collect() > 0 {}
        self.collector.note_unrecorded();
    }
}

fn thread_lives(pid: u32, tid: u32) -> bool {
    // SAFETY: signal 0 is only checked, never sent.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, pid as i32, tid as i32, 0) };
    result == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
