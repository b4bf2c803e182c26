//! The time of samples, by the loops that they are in. Windows represent that time.

use std::collections::HashMap;

use trackway_perf_records::{AddressSpaces, PerfSample};

use crate::code::{Loop, SeenCode};

/// Loops and instructions that are kept; with more, all begin anew.
const MOST: usize = 1 << 16;
/// After so many failures in a loop, no more windows of older samples are tried there.
const FAILURES: u32 = 2;
/// A loop with fewer windows than this has priority over frequent work.
const FEW: u32 = 8;
const PAGE: u64 = 4096;

/// The innermost loop of a process's code around an instruction: where it begins. Outside of loops a function, and without
/// one a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub pid: u32,
    pub begin: u64,
    /// Where the function begins.
    pub function: u64,
    /// Registers that differ from one iteration to the next: a bit for each.
    pub written: u16,
}

#[derive(Debug, Default)]
struct Time {
    /// Time that no window represents yet.
    open_ns: u64,
    /// How many windows represented it.
    covered: u32,
    failures: u32,
}

/// Time that no window represents yet.
#[derive(Debug, Default)]
pub struct LoopTimes {
    places: HashMap<(u32, u64), Place>,
    times: HashMap<Place, Time>,
}

impl LoopTimes {
    /// Adds the time that a sample stands for to its loop's.
    pub fn add(&mut self, sample: &PerfSample, spaces: &AddressSpaces, code: &mut SeenCode) -> Place {
        let place = self.place(sample.pid, sample.instruction, spaces, code);
        let time = self.times.entry(place).or_default();
        time.open_ns = time.open_ns.saturating_add(sample.period);
        place
    }

    /// The loop around an instruction of a process.
    pub fn place(
        &mut self,
        pid: u32,
        instruction: u64,
        spaces: &AddressSpaces,
        code: &mut SeenCode,
    ) -> Place {
        if self.places.len() >= MOST || self.times.len() >= MOST {
            self.places.clear();
            self.times.clear();
        }
        let place = self.places.entry((pid, instruction));
        *place.or_insert_with(|| find(pid, instruction, spaces, code))
    }

    /// Takes the time that no window represented so far.
    pub fn take(&mut self, place: Place) -> u64 {
        let time = self.times.entry(place).or_default();
        time.covered = time.covered.saturating_add(1);
        std::mem::take(&mut time.open_ns)
    }

    /// Whether there were few windows so far.
    pub fn has_few(&self, place: Place) -> bool {
        self.times.get(&place).is_none_or(|time| time.covered < FEW)
    }

    /// Whether windows of samples that are not the latest can be made there.
    pub fn can_wait(&self, place: Place) -> bool {
        let time = self.times.get(&place);
        time.is_none_or(|time| time.failures < FAILURES)
    }

    /// Notes that one of them could not be made.
    pub fn note_failure(&mut self, place: Place) {
        self.times.entry(place).or_default().failures += 1;
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.places.retain(|(process, _), _| *process != pid);
        self.times.retain(|place, _| place.pid != pid);
    }
}

fn find(pid: u32, instruction: u64, spaces: &AddressSpaces, code: &mut SeenCode) -> Place {
    let found = code.function(spaces, pid, instruction).and_then(|function| {
        let first = function.steps().first()?.address();
        let innermost = function.loop_around(function.index_at(instruction)?);
        let whole = Loop {
            begin: first,
            written: u16::MAX,
        };
        Some((first, innermost.unwrap_or(whole)))
    });
    let page = instruction / PAGE * PAGE;
    let unknown = Loop {
        begin: page,
        written: u16::MAX,
    };
    let (function, innermost) = found.unwrap_or((page, unknown));
    Place {
        pid,
        begin: innermost.begin,
        function,
        written: innermost.written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_adds_up_until_a_window_stands_for_it() {
        let (spaces, mut code) = (AddressSpaces::default(), SeenCode::default());
        let mut times = LoopTimes::default();
        let sample = |instruction| PerfSample {
            pid: 1,
            instruction,
            period: 100,
            ..PerfSample::default()
        };
        let here = times.add(&sample(0x1000), &spaces, &mut code);
        let there = times.add(&sample(0x9000), &spaces, &mut code);
        assert_eq!(times.add(&sample(0x1fff), &spaces, &mut code), here);
        assert_ne!(here, there);
        assert_eq!(
            (times.take(here), times.take(here), times.take(there)),
            (200, 0, 100)
        );
        assert!(times.can_wait(here) && times.has_few(here));
        (2..FEW).for_each(|_| _ = times.take(here));
        assert!(!times.has_few(here) && times.has_few(there));
        (0..FAILURES).for_each(|_| times.note_failure(here));
        assert!(!times.can_wait(here) && times.can_wait(there));
        times.add(&sample(0x1000), &spaces, &mut code);
        times.forget(1);
        assert_eq!(times.take(here), 0);
    }
}
