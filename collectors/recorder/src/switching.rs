//! What happens to a recording while it runs: its windows open and close, by the clock and as it is told from outside, and
//! snapshots are written.

use std::time::{Duration, Instant};

use crate::clock::RecordingClock;
use crate::collector::Collector;
use crate::control::{ControlAnswer, ControlRequest, ControlSocket};
use crate::encoding::BurstCount;
use crate::processor_time::ProcessorTime;
use crate::ring::{Cause, Ring};
use crate::snapshots::{Asker, Snapshots};
use crate::windows::{Progress, Schedule};

/// How often it is looked whether threads have handed over what a snapshot is to have.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
/// Bytes of a mark's text. A longer one would be cut off, and nobody would find it by its name.
const MOST_TEXT: usize = 91;

pub struct Switching<'a> {
    pub schedule: Schedule,
    /// None: it could not be made.
    pub control: Option<&'a ControlSocket>,
    /// None: this is no flight recorder.
    pub snapshots: Option<&'a mut Snapshots>,
    pub started: Instant,
    /// Records are kept when so many accesses have been made; none: they are kept already.
    pub after_accesses: Option<u64>,
    pub bursts: Burst,
}

/// When the present burst began, if bursts are measured by accesses.
#[derive(Default)]
pub struct Burst {
    clock: Option<ProcessorTime>,
    /// By the clock of the trace, and in processor time.
    begin_ns: u64,
    begin: Duration,
}

impl Burst {
    /// Which part of the processor time since its begin belongs to what was counted so far: the recorder counts late.
    fn counted_time(&self, counted: BurstCount, now_ns: u64, now: Duration) -> Duration {
        let passed = now_ns.saturating_sub(self.begin_ns).max(1);
        let part = counted.time().as_nanos() as f64 / passed as f64;
        now.saturating_sub(self.begin).mul_f64(part.min(1.0))
    }
}

/// What an answer to a question rests on.
struct Scene<'s> {
    ring: &'s Ring,
    clock: &'s RecordingClock,
    stored_bytes: u64,
    record_bytes: u64,
    passed_accesses: u64,
}

impl Switching<'_> {
    /// Whether the schedule opens no window any more.
    pub fn is_over(&self) -> bool {
        self.schedule.is_over()
    }

    /// How long there is nothing to do but to answer questions.
    pub fn wait(&self) -> Duration {
        let snapshots = self.snapshots.as_ref();
        let until_ready = match snapshots.is_some_and(|snapshots| snapshots.is_pending()) {
            true => SHORTEST_WAIT,
            false => Duration::MAX,
        };
        let until_switch = self.schedule.wait(Instant::now());
        until_switch.unwrap_or(Duration::MAX).min(until_ready)
    }

    /// Opens and closes windows as the user wants it, and notes what happened.
    pub fn poll(&mut self, ring: &Ring, clock: &RecordingClock, collector: &mut Collector) {
        let scene = Scene {
            ring,
            clock,
            stored_bytes: collector.stored_bytes(),
            record_bytes: collector.totals.record_bytes,
            passed_accesses: collector.passed_accesses(),
        };
        self.begin_flight(&scene, collector);
        self.begin_after_accesses(&scene, collector);
        self.poll_schedule(&scene, collector);
        if let Some(control) = self.control {
            // Who was answered may rely on it: what is counted from then on lies on this side of the switch.
            control.serve(|request| {
                let answer = self.answer(request, &scene);
                collector.follow_counted_windows();
                answer
            });
        }
        collector.follow_counted_windows();
        self.take_marks(ring, clock, collector);
    }

    fn poll_schedule(&mut self, scene: &Scene, collector: &Collector) {
        let (now, now_ns) = (Instant::now(), scene.clock.now_ns());
        let windows = scene.ring.window_count();
        let processor_time = self.processor_time(collector, now);
        let counted = collector.burst();
        let progress = Progress {
            stored_bytes: scene.stored_bytes,
            burst_accesses: counted.accesses,
            burst_time: self.bursts.counted_time(counted, now_ns, processor_time),
            processor_time,
        };
        self.schedule.poll(scene.ring, now, progress);
        if scene.ring.window_count() != windows {
            (self.bursts.begin_ns, self.bursts.begin) = (now_ns, processor_time);
            collector.begin_burst(now_ns);
        }
    }

    /// What the program has used, if the schedule goes by it.
    fn processor_time(&mut self, collector: &Collector, now: Instant) -> Duration {
        if !self.schedule.goes_by_accesses() {
            return Duration::ZERO;
        }
        let clock = self.bursts.clock.get_or_insert_with(|| ProcessorTime::new(now));
        clock.advance(collector.recorded_processes(), now)
    }

    /// The trace has its greatest size: from here on only the newest records are kept.
    fn begin_flight(&mut self, scene: &Scene, collector: &mut Collector) {
        let is_due = |snapshots: &&mut &mut Snapshots| snapshots.are_to_begin(scene.stored_bytes);
        if let Some(snapshots) = self.snapshots.as_mut().filter(is_due) {
            collector.hide_later_windows();
            let from_ns = scene.clock.now_ns();
            scene.ring.begin_next_window(Cause::Size);
            collector.take_marks(); // the first part says that its window ended
            snapshots.begin_at(from_ns);
            collector.begin_part(from_ns);
        }
    }

    fn begin_after_accesses(&mut self, scene: &Scene, collector: &mut Collector) {
        if self
            .after_accesses
            .is_some_and(|most| scene.passed_accesses >= most)
        {
            self.after_accesses = None;
            collector.forget_windows_so_far();
            collector.begin_part(scene.clock.now_ns());
            scene.ring.begin_next_window(Cause::Accesses);
            self.schedule.begin_after_accesses(Instant::now());
        }
    }

    /// Notes what happened since the last time, and has those snapshots written that are asked for and ready.
    pub fn take_marks(&mut self, ring: &Ring, clock: &RecordingClock, collector: &mut Collector) {
        collector.take_marks();
        let reasons = std::mem::take(&mut collector.wanted_snapshots);
        let Some(snapshots) = &mut self.snapshots else {
            return;
        };
        for reason in reasons {
            // The summary says how many were refused.
            let _ = snapshots.ask(ring, clock, Asker::Program, &reason);
        }
        if let Some((request, asked_ticks)) = snapshots.due(ring) {
            collector.push_snapshot(request, asked_ticks);
        }
    }

    fn answer(&mut self, request: ControlRequest, scene: &Scene) -> ControlAnswer {
        let (ring, stored) = (scene.ring, scene.stored_bytes);
        match request {
            ControlRequest::Start | ControlRequest::Stop if self.snapshots.is_some() => ControlAnswer::Refused(
                "a flight recorder records all the time; `trackway control PID snapshot` writes what it holds".to_owned(),
            ),
            ControlRequest::Start | ControlRequest::Stop if self.after_accesses.is_some() => {
                ControlAnswer::Refused(format!(
                    "recording begins after {} accesses (--start-after), of which {} were counted so far",
                    self.after_accesses.unwrap_or_default(),
                    scene.passed_accesses
                ))
            }
            ControlRequest::Snapshot => self.snapshot(scene),
            ControlRequest::OutcomeOf(path) => match &self.snapshots {
                Some(snapshots) => snapshots.outcome_of(path),
                None => ControlAnswer::Refused("this is no flight recorder".to_owned()),
            },
            ControlRequest::Start if self.schedule.is_full(stored) => ControlAnswer::Refused(format!(
                "the trace has its greatest size, {stored} bytes (--max-size)"
            )),
            ControlRequest::Start => {
                self.schedule.give_up(ring);
                ControlAnswer::Done(match ring.begin_window(Cause::Control) {
                    true => "recording".to_owned(),
                    false => "recording already".to_owned(),
                })
            }
            ControlRequest::Stop => {
                self.schedule.give_up(ring);
                ControlAnswer::Done(match ring.end_window(Cause::Control) {
                    true => "recording is off; the program runs on".to_owned(),
                    false => "recording was off already".to_owned(),
                })
            }
            ControlRequest::Mark(text) if text.is_empty() => {
                ControlAnswer::Refused("a mark needs a text".to_owned())
            }
            ControlRequest::Mark(text) if text.len() > MOST_TEXT => ControlAnswer::Refused(format!(
                "a mark has at most {MOST_TEXT} bytes of text; this one has {}",
                text.len()
            )),
            ControlRequest::Mark(text) => {
                ring.mark(&text);
                ControlAnswer::Done("marked".to_owned())
            }
            ControlRequest::Status => ControlAnswer::Done(self.status(scene)),
        }
    }

    fn snapshot(&mut self, scene: &Scene) -> ControlAnswer {
        let Some(snapshots) = &mut self.snapshots else {
            return ControlAnswer::Refused(
                "this is no flight recorder (`trackway record --flight 512M`): all is written as it comes"
                    .to_owned(),
            );
        };
        let asked = snapshots.ask(
            scene.ring,
            scene.clock,
            Asker::Control,
            "`trackway control` asked for it",
        );
        match asked {
            Ok(path) => ControlAnswer::Pending(path),
            Err(reason) => ControlAnswer::Refused(reason),
        }
    }

    fn status(&self, scene: &Scene) -> String {
        let now = match scene.ring.open_window() {
            Some(_) => "recording",
            None => "not recording",
        };
        let recorded = match scene.record_bytes {
            0 => String::new(), // samples
            bytes => format!(" of {bytes} bytes recorded"),
        };
        let windows = match scene.ring.window_count() {
            1 => "1 window".to_owned(),
            count => format!("{count} windows"),
        };
        format!(
            "{now}; {windows} so far; {} bytes stored{recorded} in {:.1} s",
            scene.stored_bytes,
            self.started.elapsed().as_secs_f64()
        )
    }
}
