//! When recording is on: windows that the recorder opens and closes by the clock and by the size of the trace.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use crate::options::{BurstMeasure, Bursts, WindowOptions};
use crate::ring::{Cause, Ring};

/// What is to happen next, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Nothing,
    Open(Instant),
    Close(Instant),
    CloseAfter(u64),
    /// Once the program has used so much processor time.
    OpenAfter(Duration),
    /// No window is opened any more.
    Finish(Instant),
}

/// How often it is looked whether a burst has its accesses, and whether a pause is over.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_INTERVAL: Duration = Duration::from_millis(20);

/// How far the recording is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Bytes of the trace so far.
    pub stored_bytes: u64,
    /// Accesses of the present burst, if they are counted.
    pub burst_accesses: u64,
    /// The processor time that these took.
    pub burst_time: Duration,
    /// The processor time of all recorded processes so far.
    pub processor_time: Duration,
}

/// Opens and closes windows in a recording.
pub struct Schedule {
    options: WindowOptions,
    next: Next,
    /// When no further window is opened, and an open one is closed.
    end: Option<Instant>,
    /// When the present period of bursts by time begins.
    period: Instant,
    /// At which part of its period's pause the present burst of so many accesses came.
    part_before: f64,
    /// The processor time that was used by the last look.
    used: Duration,
    /// What the user asked for is recorded.
    is_over: bool,
}

impl Schedule {
    pub fn begin(options: &WindowOptions, now: Instant) -> Self {
        let first = now + options.start_after.unwrap_or_default();
        let mut schedule = Self {
            options: options.clone(),
            next: Next::Nothing,
            end: options.duration.map(|duration| first + duration),
            period: first,
            part_before: 0.0,
            used: Duration::ZERO,
            is_over: false,
        };
        schedule.next = match (options.bursts, options.paused) {
            (_, true) => Next::Nothing,
            _ if options.start_after_accesses.is_some() => Next::Nothing,
            _ if options.has_regions_at_first() => schedule.closing(),
            (Some(bursts), _) => Next::Open(schedule.first_burst(bursts)),
            (None, _) if options.begins_open() => schedule.closing(),
            (None, _) => Next::Open(first),
        };
        schedule
    }

    /// The accesses after which it is to begin have been made.
    pub fn begin_after_accesses(&mut self, now: Instant) {
        let options = WindowOptions {
            start_after_accesses: None,
            ..self.options.clone()
        };
        *self = Self::begin(&options, now);
    }

    fn closing(&self) -> Next {
        self.end.map_or(Next::Nothing, Next::Close)
    }

    /// One by accesses comes at once: without it nothing is known of how long they take.
    fn first_burst(&self, bursts: Bursts) -> Instant {
        match bursts.measure {
            BurstMeasure::Time { length, every } => self.in_period(bursts, every.saturating_sub(length)),
            BurstMeasure::Accesses { .. } => self.period,
        }
    }

    fn in_period(&self, bursts: Bursts, pause: Duration) -> Instant {
        self.period + pause.mul_f64(part_of_pause(bursts))
    }

    fn next_burst(&mut self, bursts: Bursts, now: Instant, progress: Progress) -> Next {
        match bursts.measure {
            BurstMeasure::Time { length, every } => {
                self.period += every;
                // Periods that passed while the recorder did not run are left out.
                while self.period + every <= now {
                    self.period += every;
                }
                match self.in_period(bursts, every.saturating_sub(length)) {
                    at if self.has_passed(at) => self.end.map_or(Next::Nothing, Next::Finish),
                    at => Next::Open(at),
                }
            }
            BurstMeasure::Accesses { length, every } => {
                let accesses = progress.burst_accesses.max(1);
                let pause = progress
                    .burst_time
                    .mul_f64((every - length) as f64 / accesses as f64);
                let part = part_of_pause(bursts);
                let rest = 1.0 - self.part_before;
                self.part_before = part;
                Next::OpenAfter(progress.processor_time + pause.mul_f64(rest + part))
            }
        }
    }

    /// How long nothing is to be done.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        match self.next {
            Next::Nothing => None,
            Next::Open(at) | Next::Close(at) | Next::Finish(at) => Some(at.saturating_duration_since(now)),
            Next::CloseAfter(_) => Some(SHORTEST_INTERVAL),
            // Several threads use more than time passes.
            Next::OpenAfter(time) => {
                let some = time.saturating_sub(self.used) / 2;
                Some(some.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL))
            }
        }
    }

    /// Does what is due. `stored_bytes`: of the trace so far.
    pub fn poll(&mut self, ring: &Ring, now: Instant, progress: Progress) {
        if self.is_full(progress.stored_bytes) {
            self.finish();
            ring.forget_regions();
            ring.end_window(Cause::Size);
            return;
        }
        self.used = progress.processor_time;
        match self.next {
            Next::Open(at) if at <= now => self.open(ring, at, now),
            Next::OpenAfter(time) if time <= self.used || self.has_passed(now) => self.open(ring, now, now),
            Next::Close(at) if at <= now => self.close(ring, now, progress),
            Next::CloseAfter(accesses) if progress.burst_accesses >= accesses || self.has_passed(now) => {
                self.close(ring, now, progress);
            }
            Next::Finish(at) if at <= now => self.finish(),
            _ => {}
        }
    }

    /// Whether the trace is as large as it may be: then no window is opened any more.
    pub fn is_full(&self, stored_bytes: u64) -> bool {
        self.options.most_bytes.is_some_and(|most| stored_bytes >= most)
    }

    /// Whether bursts are measured by accesses.
    pub fn goes_by_accesses(&self) -> bool {
        self.options.counts_accesses()
    }

    fn has_passed(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| end <= now)
    }

    fn finish(&mut self) {
        self.next = Next::Nothing;
        self.is_over = true;
    }

    /// Whether it opens no window any more, as the user wants it.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Somebody else decides from now on.
    pub fn give_up(&mut self, ring: &Ring) {
        self.next = Next::Nothing;
        ring.forget_regions();
    }

    /// `at`: when it was to be opened. A burst that begins late is as long as the others: a short one knows only cold caches.
    fn open(&mut self, ring: &Ring, at: Instant, now: Instant) {
        if self.end.is_some_and(|end| at >= end) {
            self.finish();
            return;
        }
        if !self.options.only_regions.is_empty() {
            ring.prepare_regions(&self.options.globs());
            self.next = self.closing();
            return;
        }
        self.next = match self.options.bursts {
            Some(bursts) => {
                ring.begin_window(cause_of(bursts));
                match bursts.measure {
                    BurstMeasure::Time { length, .. } => Next::Close(now + length),
                    BurstMeasure::Accesses { length, .. } => Next::CloseAfter(length),
                }
            }
            None => {
                ring.begin_window(Cause::Time);
                self.closing()
            }
        };
    }

    fn close(&mut self, ring: &Ring, now: Instant, progress: Progress) {
        let Some(bursts) = self.options.bursts else {
            ring.forget_regions();
            ring.end_window(Cause::Time);
            self.finish();
            return;
        };
        ring.end_window(cause_of(bursts));
        self.next = self.next_burst(bursts, now, progress);
    }
}

fn cause_of(bursts: Bursts) -> Cause {
    match bursts.are_even {
        true => Cause::EvenBurst,
        false => Cause::Burst,
    }
}

/// Which part of a period's pause passes before its burst.
fn part_of_pause(bursts: Bursts) -> f64 {
    match bursts.are_even {
        true => 0.0,
        false => random_part(),
    }
}

/// From 0 to 1.
fn random_part() -> f64 {
    let random = RandomState::new().hash_one(0);
    (random >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Output, RecordOptions};

    const PERIOD: Duration = Duration::from_secs(1);

    fn by_time(are_even: bool) -> Bursts {
        Bursts {
            measure: BurstMeasure::Time {
                length: Duration::from_millis(10),
                every: PERIOD,
            },
            are_even,
        }
    }

    fn by_accesses(are_even: bool) -> Bursts {
        Bursts {
            measure: BurstMeasure::Accesses {
                length: 1_000,
                every: 100_000,
            },
            are_even,
        }
    }

    fn begin(bursts: Bursts, start: Instant) -> (Ring, Schedule) {
        let mut options = RecordOptions::new("p", Output::Discard);
        options.windows.bursts = Some(bursts);
        let ring = Ring::create(&options).unwrap();
        let schedule = Schedule::begin(&options.windows, start);
        (ring, schedule)
    }

    /// `used`: processor time of the program by then.
    fn so_many(burst_accesses: u64, burst_time: Duration, used: Duration) -> Progress {
        Progress {
            burst_accesses,
            burst_time,
            processor_time: used,
            ..Progress::default()
        }
    }

    #[test]
    fn a_burst_that_begins_late_is_as_long_as_others() {
        let _turn = crate::watching::take_turn();
        let start = Instant::now();
        let (ring, mut schedule) = begin(by_time(false), start);
        let (late, length) = (start + 2 * PERIOD, Duration::from_millis(10));
        schedule.poll(&ring, late, Progress::default());
        assert!(ring.open_window().is_some());
        assert_eq!(schedule.wait(late), Some(length));
        schedule.poll(&ring, late + length, Progress::default());
        assert!(ring.open_window().is_none());
        // In the period after that, none is made up for.
        let wait = schedule.wait(late + length).unwrap();
        assert!(wait < PERIOD, "{wait:?}");
    }

    #[test]
    fn even_bursts_come_when_their_periods_begin() {
        let _turn = crate::watching::take_turn();
        let start = Instant::now();
        let (ring, mut schedule) = begin(by_time(true), start);
        for period in 0..3 {
            let at = start + period * PERIOD;
            assert_eq!(schedule.wait(at), Some(Duration::ZERO));
            schedule.poll(&ring, at, Progress::default());
            let end = at + Duration::from_millis(10);
            schedule.poll(&ring, end, Progress::default());
            assert_eq!(schedule.wait(end), Some(PERIOD - Duration::from_millis(10)));
        }
    }

    #[test]
    fn a_burst_by_accesses_lasts_until_it_has_them() {
        let _turn = crate::watching::take_turn();
        let start = Instant::now();
        let (ring, mut schedule) = begin(by_accesses(true), start);
        schedule.poll(&ring, start, Progress::default());
        assert!(ring.open_window().is_some(), "the first one comes at once");
        let (now, took) = (start + Duration::from_secs(5), Duration::from_millis(20));
        schedule.poll(&ring, now, so_many(999, took, took));
        assert!(ring.open_window().is_some());
        // Twice as many were recorded meanwhile, so that 99,000 would take 0.99 s.
        schedule.poll(&ring, now, so_many(2_000, took, took));
        assert!(ring.open_window().is_none());
        // A program that rests makes no accesses.
        let (later, pause) = (now + Duration::from_secs(60), Duration::from_millis(990));
        schedule.poll(&ring, later, so_many(0, took, took + pause - SHORTEST_INTERVAL));
        assert!(ring.open_window().is_none());
        assert_eq!(schedule.wait(later), Some(SHORTEST_INTERVAL));
        schedule.poll(&ring, later, so_many(0, took, took + pause));
        assert!(ring.open_window().is_some());
    }

    #[test]
    fn the_end_comes_in_a_pause_and_in_a_burst_by_accesses() {
        let _turn = crate::watching::take_turn();
        let duration = Duration::from_millis(500);
        for burst_accesses in [0, 1_000] {
            let start = Instant::now();
            let mut options = RecordOptions::new("p", Output::Discard);
            options.windows.bursts = Some(by_accesses(true));
            options.windows.duration = Some(duration);
            let ring = Ring::create(&options).unwrap();
            let mut schedule = Schedule::begin(&options.windows, start);
            schedule.poll(&ring, start, Progress::default());
            let used = Duration::from_millis(10);
            schedule.poll(&ring, start + used, so_many(burst_accesses, used, used));
            assert_eq!(ring.open_window().is_some(), burst_accesses == 0);
            assert!(!schedule.is_over());
            for _ in 0..2 {
                schedule.poll(&ring, start + duration, so_many(burst_accesses, used, used));
            }
            assert!(schedule.is_over() && ring.open_window().is_none());
        }
    }

    #[test]
    fn pauses_of_bursts_by_accesses_are_as_long_in_the_mean() {
        let _turn = crate::watching::take_turn();
        let now = Instant::now();
        let (ring, mut schedule) = begin(by_accesses(false), now);
        let (mut pauses, count, took) = (Vec::new(), 1000, Duration::from_millis(10));
        let mut used = Duration::ZERO;
        schedule.poll(&ring, now, Progress::default());
        for _ in 0..count {
            used += took;
            schedule.poll(&ring, now, so_many(1_000, took, used));
            let Next::OpenAfter(at) = schedule.next else {
                panic!("no burst is to come");
            };
            pauses.push((at - used).as_secs_f64());
            used = at;
            schedule.poll(&ring, now, so_many(0, took, used));
        }
        // 99,000 accesses take 0.99 s. Two bursts are at most two pauses apart.
        let mean = pauses.iter().sum::<f64>() / f64::from(count);
        assert!((mean - 0.99).abs() < 0.01, "{mean}");
        assert!(pauses.iter().all(|pause| *pause <= 2.0 * 0.99));
        assert!(pauses.iter().any(|pause| (pause - 0.99).abs() > 0.3));
    }
}
