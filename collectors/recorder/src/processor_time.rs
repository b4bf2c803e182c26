//! How much processor time the recorded processes use: between bursts it stands for their accesses, which nobody counts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// The processor time of all recorded processes since it was first looked at.
pub struct ProcessorTime {
    /// The processor time of each process at the last look.
    last: HashMap<u32, Duration>,
    total: Duration,
    looked: Instant,
}

impl ProcessorTime {
    pub fn new(now: Instant) -> Self {
        Self {
            last: HashMap::new(),
            total: Duration::ZERO,
            looked: now,
        }
    }

    /// Looks again. Where the system doesn't say what processes use, time passes as on a clock.
    pub fn advance(&mut self, processes: impl Iterator<Item = u32>, now: Instant) -> Duration {
        let known = processes.filter_map(|pid| Some((pid, processor_time_of(pid)?)));
        let known: HashMap<u32, Duration> = known.collect();
        let used = |(pid, time): (&u32, &Duration)| {
            let before = self.last.get(pid).unwrap_or(time); // a process that comes has used nothing yet
            time.saturating_sub(*before)
        };
        self.total += match known.is_empty() {
            true => now.saturating_duration_since(self.looked),
            false => known.iter().map(used).sum(),
        };
        self.last = known;
        self.looked = now;
        self.total
    }
}

fn processor_time_of(pid: u32) -> Option<Duration> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both only write to what they are given.
    let is_known = unsafe {
        libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    is_known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn own() -> impl Iterator<Item = u32> {
        std::iter::once(std::process::id())
    }

    #[test]
    fn work_takes_time_and_a_newcomer_brings_none() {
        let mut time = ProcessorTime::new(Instant::now());
        assert_eq!(time.advance(own(), Instant::now()), Duration::ZERO);
        let begun = processor_time_of(std::process::id()).unwrap();
        while processor_time_of(std::process::id()).unwrap() < begun + Duration::from_millis(5) {
            black_box((0..1000).map(black_box).sum::<u64>());
        }
        assert!(time.advance(own(), Instant::now()) >= Duration::from_millis(5));
    }

    #[test]
    fn a_process_that_rests_uses_nothing() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let start = Instant::now();
        let mut time = ProcessorTime::new(start);
        // It begins to sleep soon.
        let mut before = time.advance(std::iter::once(pid), start);
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = time.advance(std::iter::once(pid), Instant::now());
            if now == before {
                break;
            }
            before = now;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Where no process tells what it uses, time passes as on a clock.
        let total = time.advance(std::iter::once(pid), start + Duration::from_secs(60));
        assert!(total > Duration::from_secs(50), "{total:?}");
    }
}
