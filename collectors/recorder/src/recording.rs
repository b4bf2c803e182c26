//! The recorder's loop, from the program's start to the end of its last process.

use std::time::{Duration, Instant};

use crate::abi;
use crate::clock::RecordingClock;
use crate::collector::Collector;
use crate::program::{EndOfProgram, Program};
use crate::region_holders::RegionHolders;
use crate::ring::{BufferWords, Cause, Ring};
use crate::sampling::Sampling;
use crate::signals::Signals;
use crate::switching::Switching;
use crate::{ProgramEnd, Remains};

/// The longest sleep, and so the longest delay until signals and the end of forked processes are noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Interval between searches for buffers of threads and processes that are gone. The recorder also searches whenever
/// the program lacks buffers.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);
/// How long, after the program's end, a forked process may take to show itself.
const LONGEST_BIRTH: Duration = Duration::from_secs(2);
/// How often in a row the count of full buffers must be wrong by the same amount, while nothing else happens, before it
/// is corrected.
const LOOKS_AT_COUNT: u32 = 50;
/// Limits the rounds after the end: a program that heeds nothing may hand over buffers for ever.
const MOST_LAST_ROUNDS: u32 = 64;

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
    /// What the last look at the count of full buffers found, and how often.
    pub count_looks: ((u32, u32), u32),
    pub switching: Switching<'a>,
    pub region_holders: RegionHolders,
}

impl Recording<'_, '_> {
    /// Collects until every recorded process has ended. True if the user didn't want to wait for those that outlive
    /// the program.
    pub fn run(&mut self) -> bool {
        let mut last_sweep = Instant::now();
        loop {
            let seen = self.ring.full_events();
            if self.ring.is_session() && self.end.get().is_none() && self.program.has_ended() {
                self.end.set(ProgramEnd::Unknown, Remains::default());
            }
            let program_ended = self.end.get().is_some();
            // Asked before collecting: processes that have ended by now hand nothing over after it.
            let all_ended =
                program_ended && !self.expects_children() && !self.collector.processes.any_lives();
            let is_overloaded = self.collector.is_overloaded();
            let mut progress = if is_overloaded {
                0
            } else {
                self.collector.collect()
            };
            self.switching.poll(self.ring, self.clock, self.collector);
            if let Some(sampling) = &mut self.sampling {
                sampling.poll(self.clock, self.collector);
            }
            let is_interrupted = self.heed_signals(program_ended);
            if self.ring.is_session() && (is_interrupted || self.switching.is_over()) {
                self.leave();
                return false;
            }
            if is_interrupted {
                self.stop();
                return true;
            }
            let lacks_buffers = progress == 0 && self.ring.has_waiters();
            if lacks_buffers && !is_overloaded {
                self.look_at_count();
            }
            if all_ended {
                self.collector.processes.give_up_foreign();
            }
            if program_ended || lacks_buffers || last_sweep.elapsed() >= SWEEP_INTERVAL {
                if self.ring.is_session() && progress == 0 {
                    self.note_execs();
                }
                progress += self.sweep();
                self.region_holders.poll(self.ring);
                last_sweep = Instant::now();
            }
            if progress == 0 && all_ended && !is_overloaded && !self.collector.processes.any_lives() {
                self.switching.take_marks(self.ring, self.clock, self.collector);
                return false;
            }
            if progress == 0 {
                let wait = self
                    .sampling
                    .as_ref()
                    .map_or(LONGEST_WAIT, |sampling| sampling.wait());
                self.ring
                    .wait_for_full(seen, wait.min(self.switching.wait()).min(LONGEST_WAIT));
            }
        }
    }

    /// Whether a process was forked that has not shown itself yet. A child that is killed at once never does.
    fn expects_children(&mut self) -> bool {
        self.ring.expects_forks()
            && self.end_noticed.get_or_insert_with(Instant::now).elapsed() < LONGEST_BIRTH
    }

    /// True if the user wants to end the recording.
    fn heed_signals(&mut self, program_ended: bool) -> bool {
        let mut heeded = false;
        for received in self.signals.pending() {
            match program_ended {
                true => heeded = true,
                // Nobody asked the program.
                false if self.ring.is_session() => heeded = true,
                // The program decides what the signal means.
                false if !self.program.got(received.reach) => self.program.send(received.signal),
                false => {}
            }
        }
        heeded
    }

    /// In a session, notes the processes that execute another program by now, and so have lost the recorder's memory. To be
    /// called while nothing comes from the program, since looking costs it a lock.
    fn note_execs(&mut self) {
        let mut pids: Vec<u32> = self.collector.processes.watched().collect();
        if self.end.get().is_none() && !pids.contains(&self.program.pid) {
            pids.push(self.program.pid);
        }
        for pid in pids {
            if self.ring.is_mapped_in(pid) {
                continue;
            }
            let number = self.collector.processes.note_exec(pid);
            if pid == self.program.pid {
                self.ring.end_window(Cause::Recorder);
                self.end.set(ProgramEnd::Replaced, Remains::default());
            } else if let Some(number) = number {
                self.collector.push_process_end(pid, number, None);
            }
        }
    }

    /// Claims the buffers of threads and processes that are gone. Returns how much news there was.
    fn sweep(&mut self) -> usize {
        let ended = self.collector.processes.note_ends();
        for &(pid, number) in &ended {
            if pid != self.program.pid {
                self.collector.push_process_end(pid, number, None);
            }
        }
        let words: Vec<(usize, BufferWords)> = self.ring.every_words().collect();
        let claimed = words
            .iter()
            .filter(|(index, words)| self.is_orphan(words) && self.ring.claim(*index))
            .count();
        claimed + ended.len()
    }

    fn is_orphan(&mut self, words: &BufferWords) -> bool {
        let owned = match words.state {
            abi::OWNED => true,
            abi::CLAIMED => false,
            _ => return false,
        };
        let image = words.owner();
        let processes = &mut self.collector.processes;
        if image.pid == 0 || !processes.has_room_for(image) {
            return false; // nothing was written to it yet
        }
        processes.notice(image);
        !processes.lives(image.pid) || (owned && !thread_lives(image.pid, words.tid))
    }

    /// A program that overwrites the count of full buffers may wait for ever.
    fn look_at_count(&mut self) {
        let counts = self.ring.counts_of_full();
        let looks = match counts == self.count_looks.0 {
            true => self.count_looks.1 + 1,
            false => 0,
        };
        self.count_looks = (counts, looks);
        if counts.0 != counts.1 && looks >= LOOKS_AT_COUNT {
            self.ring.correct_full_count(counts.0, counts.1);
        }
    }

    /// Leaves the program, which goes on as it did before the recorder came.
    fn leave(&mut self) {
        self.ring.forget_regions();
        self.ring.end_window(Cause::Recorder);
        self.collector.take_last();
        self.collector.take_marks();
        self.end.set(ProgramEnd::RunsOn, Remains::default());
    }

    /// Takes what the living processes have recorded so far and leaves them alone.
    fn stop(&mut self) {
        self.ring.stop();
        self.sweep();
        let owned: Vec<usize> = self
            .ring
            .all_words()
            .filter(|(_, words)| words.pid != 0)
            .map(|(index, _)| index)
            .collect();
        for index in owned {
            self.ring.claim(index);
        }
        for _ in 0..MOST_LAST_ROUNDS {
            if self.collector.collect() == 0 {
                break;
            }
        }
        self.collector.note_unrecorded();
    }
}

fn thread_lives(pid: u32, tid: u32) -> bool {
    // SAFETY: signal 0 is only checked, never sent.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, pid as i32, tid as i32, 0) };
    result == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
