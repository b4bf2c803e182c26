//! The clock of all stamps of a trace, as the program reads it (`now_ticks` in `collectors/ring/buffer.c`).

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::time::{clock_gettime, ClockId};
use trackway_trace::Clock;

/// The ratio is measured over at least this time, while nothing is drained. It is then off by at most 2 millionths
/// (compared 200 times with a measurement over 2 s, on a virtual machine).
const SHORTEST_CALIBRATION: Duration = Duration::from_millis(1);
/// Readings of both clocks; the one during which the least time passed counts. Together they take 2 µs.
const READINGS: u32 = 64;

/// CLOCK_MONOTONIC, nanoseconds.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What the program stamps with.
#[cfg(target_arch = "x86_64")]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    monotonic_ns()
}

/// One moment in both clocks.
#[derive(Clone, Copy)]
struct Moment {
    ticks: u64,
    ns: u64,
}

impl Moment {
    fn now() -> Self {
        let reading = || {
            let before = ticks();
            let ns = monotonic_ns();
            let took = ticks().wrapping_sub(before);
            (
                took,
                Moment {
                    ticks: before.wrapping_add(took / 2),
                    ns,
                },
            )
        };
        let first = reading();
        let best = (1..READINGS).map(|_| reading()).fold(
            first,
            |best, other| {
                if other.0 < best.0 {
                    other
                } else {
                    best
                }
            },
        );
        best.1
    }
}

/// Measures how fast the clock ticks, from its creation on.
pub struct Calibration {
    begin: Moment,
}

impl Calibration {
    pub fn begin() -> Self {
        Self { begin: Moment::now() }
    }

    /// Waits if too little time has passed since the beginning.
    pub fn finish(self) -> RecordingClock {
        let begin = self.begin;
        let elapsed = Duration::from_nanos(monotonic_ns().saturating_sub(begin.ns));
        thread::sleep(SHORTEST_CALIBRATION.saturating_sub(elapsed));
        let end = Moment::now();
        RecordingClock(Clock {
            source: source().to_owned(),
            base_ticks: begin.ticks,
            base_ns: begin.ns,
            nanoseconds: end.ns.saturating_sub(begin.ns).max(1),
            ticks: end.ticks.saturating_sub(begin.ticks).max(1),
            exact: is_exact(),
        })
    }
}

/// The program's clock, calibrated.
pub struct RecordingClock(Clock);

impl RecordingClock {
    /// The clock as the trace describes it.
    pub fn description(&self) -> &Clock {
        &self.0
    }

    /// A stamp of the program in nanoseconds; 0, which stands for unknown, stays 0.
    pub fn ns(&self, ticks: u64) -> u64 {
        match ticks {
            0 => 0,
            ticks => self.0.ns(ticks),
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.0.ns(ticks())
    }

    /// The difference that gives this clock's time when added to CLOCK_MONOTONIC. It changes, since they drift apart.
    pub fn offset_ns(&self) -> i64 {
        self.now_ns().wrapping_sub(monotonic_ns()) as i64
    }
}

fn source() -> &'static str {
    if cfg!(target_arch = "x86_64") {
        "tsc"
    } else {
        "monotonic"
    }
}

/// Whether the processors' clocks run evenly and agree, as far as the system says. It uses the time stamp counter for
/// its own clocks only while it finds that the processors' counters agree.
fn is_exact() -> bool {
    if source() == "monotonic" {
        return true;
    }
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    counts_evenly(&read("/proc/cpuinfo"))
        && read("/sys/devices/system/clocksource/clocksource0/available_clocksource")
            .split_whitespace()
            .any(|source| source == "tsc")
}

/// Whether the clock has one rate, whatever the processor's frequency, and also while the processor sleeps.
fn counts_evenly(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    let has = |name| flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == name));
    has("constant_tsc") && has("nonstop_tsc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_as_the_systems() {
        let clock = Calibration::begin().finish();
        let before = monotonic_ns();
        let between = clock.now_ns();
        let after = monotonic_ns();
        // 100 millionths of what passed since the calibration began, and of one reading.
        assert!(
            between + 10_000 > before && between < after + 10_000,
            "{before} {between} {after}"
        );
        assert_eq!(clock.ns(0), 0);
        let description = clock.description();
        assert!(description.nanoseconds >= SHORTEST_CALIBRATION.as_nanos() as u64);
    }

    #[test]
    fn a_counter_that_stops_is_not_exact() {
        assert!(counts_evenly(
            "model name : x\nflags : fpu constant_tsc rdtscp nonstop_tsc\n"
        ));
        assert!(!counts_evenly("flags : fpu constant_tsc rdtscp\n"));
        assert!(!counts_evenly("flags : fpu nonstop_tsc\n"));
        assert!(!counts_evenly(""));
    }
}
