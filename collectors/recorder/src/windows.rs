//! When recording is on: windows that the recorder opens and closes by the clock and by the size of the trace.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use crate::options::{Bursts, WindowOptions};
use crate::ring::{Cause, Ring};

/// What is to happen next, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Nothing,
    Open(Instant),
    Close(Instant),
}

/// Opens and closes windows in a recording.
pub struct Schedule {
    options: WindowOptions,
    next: Next,
    /// When no further window is opened, and an open one is closed.
    end: Option<Instant>,
    /// When the present period of bursts begins.
    period: Instant,
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
            is_over: false,
        };
        schedule.next = match (options.bursts, options.paused) {
            (_, true) => Next::Nothing,
            _ if options.start_after_accesses.is_some() => Next::Nothing,
            _ if options.has_regions_at_first() => schedule.closing(),
            (Some(bursts), _) => Next::Open(schedule.in_period(bursts)),
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

    fn in_period(&self, bursts: Bursts) -> Instant {
        self.period + random_below(bursts.every.saturating_sub(bursts.length))
    }

    /// How long nothing is to be done.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        match self.next {
            Next::Nothing => None,
            Next::Open(at) | Next::Close(at) => Some(at.saturating_duration_since(now)),
        }
    }

    /// Does what is due. `stored_bytes`: of the trace so far.
    pub fn poll(&mut self, ring: &Ring, now: Instant, stored_bytes: u64) {
        if self.is_full(stored_bytes) {
            self.finish();
            ring.forget_regions();
            ring.end_window(Cause::Size);
            return;
        }
        match self.next {
            Next::Open(at) if at <= now => self.open(ring, at, now),
            Next::Close(at) if at <= now => self.close(ring, now),
            _ => {}
        }
    }

    /// Whether the trace is as large as it may be: then no window is opened any more.
    pub fn is_full(&self, stored_bytes: u64) -> bool {
        self.options.most_bytes.is_some_and(|most| stored_bytes >= most)
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
                ring.begin_window(Cause::Burst);
                Next::Close(now + bursts.length)
            }
            None => {
                ring.begin_window(Cause::Time);
                self.closing()
            }
        };
    }

    fn close(&mut self, ring: &Ring, now: Instant) {
        let Some(bursts) = self.options.bursts else {
            ring.forget_regions();
            ring.end_window(Cause::Time);
            self.finish();
            return;
        };
        ring.end_window(Cause::Burst);
        self.period += bursts.every;
        // Periods that passed while the recorder did not run are left out.
        while self.period + bursts.every <= now {
            self.period += bursts.every;
        }
        self.next = Next::Open(self.in_period(bursts));
    }
}

fn random_below(limit: Duration) -> Duration {
    let random = RandomState::new().hash_one(0);
    limit.mul_f64((random >> 11) as f64 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Output, RecordOptions};

    #[test]
    fn a_burst_that_begins_late_is_as_long_as_others() {
        let bursts = Bursts {
            length: Duration::from_millis(10),
            every: Duration::from_secs(1),
        };
        let mut options = RecordOptions::new("p", Output::Discard);
        options.windows.bursts = Some(bursts);
        let ring = Ring::create(&options).unwrap();
        let start = Instant::now();
        let mut schedule = Schedule::begin(&options.windows, start);
        let late = start + 2 * bursts.every;
        schedule.poll(&ring, late, 0);
        assert!(ring.open_window().is_some());
        assert_eq!(schedule.wait(late), Some(bursts.length));
        schedule.poll(&ring, late + bursts.length, 0);
        assert!(ring.open_window().is_none());
        // In the period after that, none is made up for.
        let wait = schedule.wait(late + bursts.length).unwrap();
        assert!(wait < bursts.every, "{wait:?}");
    }
}
