//! The recorder's loop, from the program's start to the end of its last process.

use std::time::{Duration, Instant};

use crate::abi;
use crate::clock::RecordingClock;
use crate::collector::Collector;
use crate::control::{ControlAnswer, ControlRequest, ControlSocket};
use crate::program::{EndOfProgram, Program};
use crate::ring::{BufferWords, Cause, Ring};
use crate::sampling::Sampling;
use crate::signals::Signals;
use crate::snapshots::{Asker, Snapshots};
use crate::windows::Schedule;
use crate::{ProgramEnd, Remains};

/// The longest sleep, and so the longest delay until signals and the end of forked processes are noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// How often it is looked whether threads have handed over what a snapshot is to have.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
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
    pub schedule: Schedule,
    /// None: it could not be made.
    pub control: Option<&'a ControlSocket>,
    /// None: this is no flight recorder.
    pub snapshots: Option<&'a mut Snapshots>,
    pub started: Instant,
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
            if let Some(sampling) = &mut self.sampling {
                sampling.poll(self.clock, self.collector);
            }
            self.switch_windows();
            let is_interrupted = self.heed_signals(program_ended);
            if self.ring.is_session() && (is_interrupted || self.schedule.is_over()) {
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
                progress += self.sweep();
                last_sweep = Instant::now();
            }
            if progress == 0 && all_ended && !is_overloaded && !self.collector.processes.any_lives() {
                self.collector.take_marks();
                self.take_snapshots();
                return false;
            }
            if progress == 0 {
                let wait = self
                    .sampling
                    .as_ref()
                    .map_or(LONGEST_WAIT, |sampling| sampling.wait());
                let until_switch = self.schedule.wait(Instant::now()).unwrap_or(LONGEST_WAIT);
                let until_switch = until_switch.min(match self.waits_for_snapshot() {
                    true => SHORTEST_WAIT,
                    false => LONGEST_WAIT,
                });
                self.ring
                    .wait_for_full(seen, wait.min(until_switch).min(LONGEST_WAIT));
            }
        }
    }

    /// Opens and closes windows as the user wants it, and notes what happened.
    fn switch_windows(&mut self) {
        let stored = self.collector.stored_bytes();
        self.schedule.poll(self.ring, Instant::now(), stored);
        if let Some(control) = self.control {
            control.serve(|request| self.answer(request));
        }
        self.collector.take_marks();
        self.take_snapshots();
    }

    /// Asks for the snapshots that the program wants, and has those written that are ready.
    fn take_snapshots(&mut self) {
        let reasons = std::mem::take(&mut self.collector.wanted_snapshots);
        let Some(snapshots) = &mut self.snapshots else {
            return;
        };
        for reason in reasons {
            // The summary says how many were refused.
            let _ = snapshots.ask(self.ring, self.clock, Asker::Program, &reason);
        }
        if let Some(request) = snapshots.due(self.ring) {
            self.collector.push_snapshot(request);
        }
    }

    fn waits_for_snapshot(&self) -> bool {
        self.snapshots
            .as_ref()
            .is_some_and(|snapshots| snapshots.is_pending())
    }

    fn answer(&mut self, request: ControlRequest) -> ControlAnswer {
        let stored = self.collector.stored_bytes();
        match request {
            ControlRequest::Start | ControlRequest::Stop if self.snapshots.is_some() => ControlAnswer::Refused(
                "a flight recorder records all the time; `trackway control PID snapshot` writes what it holds".to_owned(),
            ),
            ControlRequest::Snapshot => self.snapshot(),
            ControlRequest::Start if self.schedule.is_full(stored) => ControlAnswer::Refused(format!(
                "the trace has its greatest size, {stored} bytes (--max-size)"
            )),
            ControlRequest::Start => {
                self.schedule.give_up();
                ControlAnswer::Done(match self.ring.begin_window(Cause::Control) {
                    true => "recording".to_owned(),
                    false => "recording already".to_owned(),
                })
            }
            ControlRequest::Stop => {
                self.schedule.give_up();
                ControlAnswer::Done(match self.ring.end_window(Cause::Control) {
                    true => "recording is off; the program runs on".to_owned(),
                    false => "recording was off already".to_owned(),
                })
            }
            ControlRequest::Mark(text) if text.is_empty() => {
                ControlAnswer::Refused("a mark needs a text".to_owned())
            }
            ControlRequest::Mark(text) => {
                self.ring.mark(&text);
                ControlAnswer::Done("marked".to_owned())
            }
            ControlRequest::Status => ControlAnswer::Done(self.status(stored)),
        }
    }

    fn snapshot(&mut self) -> ControlAnswer {
        let Some(snapshots) = &mut self.snapshots else {
            return ControlAnswer::Refused(
                "this is no flight recorder (`trackway record --flight 512M`): all is written as it comes"
                    .to_owned(),
            );
        };
        let asked = snapshots.ask(
            self.ring,
            self.clock,
            Asker::Control,
            "`trackway control` asked for it",
        );
        match asked {
            Ok(path) => ControlAnswer::Written(path),
            Err(reason) => ControlAnswer::Refused(reason),
        }
    }

    fn status(&self, stored_bytes: u64) -> String {
        let now = match self.ring.open_window() {
            Some(_) => "recording",
            None => "not recording",
        };
        format!(
            "{now}; {} windows so far; {stored_bytes} bytes stored of {} bytes recorded in {:.1} s",
            self.ring.window_count(),
            self.collector.totals.record_bytes,
            self.started.elapsed().as_secs_f64()
        )
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
