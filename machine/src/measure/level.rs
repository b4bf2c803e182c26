//! A cache, or memory: latency and time per line.

use std::io;

use super::arena::{Arena, Pages};
use super::chase::Chase;
use super::rounds::{rounded, Rounds};
use super::stream::ns_per_line;
use crate::costs::{LevelCosts, LINE_BYTES};

const ROUNDS: usize = 60;
/// What a round takes. Shorter than what the system gives a thread before another one has its turn.
const ROUND_NS: f64 = 300_000.0;
/// What a round streams.
const ROUND_BYTES: usize = 4 << 20;
/// Some processors fetch lines in pairs. Where the other line would still be in a cache when its turn comes, the chase
/// leaves it out.
const MEMORY_SPACING: usize = 2 * LINE_BYTES as usize;
/// A part of memory of which every second-level TLB has the pages, be they small: a host may give a virtual machine no
/// others.
const WINDOW_BYTES: usize = 4 << 20;
/// A working set of so many times the cache before finds next to nothing there.
/// The part of its lines that others must have replaced in a turn, at least and at most, for a set to tell how long lines stay.
const LEAST_LOST: f64 = 0.1;
const MOST_LOST: f64 = 0.9;
const TIMES_CACHE_BEFORE: u64 = 3;

/// A working set, and what was measured of it.
#[derive(Debug)]
struct WorkingSet {
    bytes: usize,
    chase: Chase,
    latency: Rounds,
    /// Latency of loads by chance.
    by_chance: Rounds,
}

/// A level, and what was measured of it.
#[derive(Debug)]
pub struct Level {
    name: String,
    size_bytes: Option<u64>,
    /// The smallest has the level's figures. Larger ones tell how much of the cache there is.
    sets: Vec<WorkingSet>,
    line: Rounds,
    /// Where the next round streams from.
    next_word: usize,
}

impl WorkingSet {
    fn dense(bytes: usize) -> io::Result<WorkingSet> {
        let arena = Arena::new(bytes, Pages::Huge)?;
        Ok(WorkingSet {
            bytes,
            chase: Chase::dense(arena, bytes, LINE_BYTES as usize),
            latency: Rounds::default(),
            by_chance: Rounds::default(),
        })
    }

    fn pass(&mut self) {
        let loads = (ROUND_NS / self.chase.ns_per_load(1000)).max(1000.0) as usize;
        let chase = &mut self.chase;
        self.latency
            .add((0..ROUNDS).map(|_| chase.ns_per_load(loads)).collect());
    }

    fn pass_by_chance(&mut self) {
        let loads = (ROUND_NS / self.chase.ns_per_load_by_chance(self.bytes, 1000)).max(1000.0) as usize;
        let (chase, bytes) = (&mut self.chase, self.bytes);
        let round = |_| chase.ns_per_load_by_chance(bytes, loads);
        self.by_chance.add((0..ROUNDS).map(round).collect());
    }
}

impl Level {
    /// What the working sets of a cache take together, at most: each is half of the next one.
    pub fn most_bytes(cache_bytes: u64) -> u64 {
        cache_bytes / 2 * 3
    }

    /// A cache, of which up to three quarters are used, and up to half for its figures.
    pub fn cache(level: u32, size_bytes: u64, bytes_before: Option<u64>) -> io::Result<Level> {
        let (half, most) = (size_bytes / 2, size_bytes / 4 * 3);
        let mut bytes = bytes_before.map_or(half, |before| half.min(before * TIMES_CACHE_BEFORE));
        let mut sets = Vec::new();
        while bytes <= most {
            sets.push(WorkingSet::dense(bytes as usize)?);
            bytes *= 2;
        }
        Ok(Level {
            name: format!("L{level}"),
            size_bytes: Some(size_bytes),
            sets,
            line: Rounds::default(),
            next_word: 0,
        })
    }

    /// Memory, of which so much is used.
    pub fn memory(bytes: usize) -> io::Result<Level> {
        let bytes = bytes / WINDOW_BYTES * WINDOW_BYTES;
        let [places, window] = [bytes, WINDOW_BYTES].map(|bytes| bytes / MEMORY_SPACING);
        let arena = Arena::new(bytes, Pages::Huge)?;
        let chase = Chase::new(arena, places, window, |place| place * MEMORY_SPACING);
        Ok(Level {
            name: "memory".into(),
            size_bytes: None,
            sets: vec![WorkingSet {
                bytes,
                chase,
                latency: Rounds::default(),
                by_chance: Rounds::default(),
            }],
            line: Rounds::default(),
            next_word: 0,
        })
    }

    pub fn pass(&mut self) {
        for set in &mut self.sets {
            if self.size_bytes.is_some() {
                set.chase.warm();
            }
            set.pass();
            if self.size_bytes.is_some() {
                set.pass_by_chance();
            }
        }
        if self.size_bytes.is_some() {
            self.sets[0].chase.warm();
        }
        let rounds = (0..ROUNDS).map(|_| self.stream()).collect();
        self.line.add(rounds);
    }

    /// All of a small set several times; of a larger one, the next part.
    fn stream(&mut self) -> f64 {
        let set = &self.sets[0];
        let words = &set.chase.arena().words()[..set.bytes / 8];
        if set.bytes <= ROUND_BYTES {
            return ns_per_line(words, ROUND_BYTES / set.bytes);
        }
        if self.next_word + ROUND_BYTES / 8 > words.len() {
            self.next_word = 0;
        }
        let part = &words[self.next_word..][..ROUND_BYTES / 8];
        self.next_word += part.len();
        ns_per_line(part, 1)
    }

    pub fn chase(&mut self) -> &mut Chase {
        &mut self.sets[0].chase
    }

    pub fn latency_ns(&self) -> Option<f64> {
        self.sets[0].latency.value()
    }

    /// What of the cache was found, if it wasn't all: of each working set, the loads that were as fast as those of the
    /// smallest, where the others took as long as memory does. Loads are by chance, as each finds a line that is there.
    fn found_bytes(&self, size_bytes: u64, memory_ns: f64) -> Option<u64> {
        let fast_ns = self.sets[0].by_chance.value()?;
        let found = |set: &WorkingSet| {
            let slow = ((set.by_chance.value()? - fast_ns) / (memory_ns - fast_ns)).clamp(0.0, 1.0);
            Some(((1.0 - slow) * set.bytes as f64) as u64)
        };
        let most = self.sets.iter().filter_map(found).max()?;
        let largest = self.sets.last()?.bytes as u64;
        (most < largest / 4 * 3).then_some(most.min(size_bytes) / LINE_BYTES * LINE_BYTES)
    }

    /// The mean time until others replace a line. Each turn of a chase finds what they left since the turn before. The longest
    /// turn that finds enough tells most of how they come and go.
    fn stay_ms(&self, memory_ns: f64) -> Option<f64> {
        let fast_ns = self.latency_ns()?;
        self.sets.iter().rev().find_map(|set| {
            let load_ns = set.latency.value()?;
            let turn_ms = (set.bytes as u64 / LINE_BYTES) as f64 * load_ns / 1e6;
            stay((load_ns - fast_ns) / (memory_ns - fast_ns), turn_ms)
        })
    }

    /// `memory_ns` is the latency of memory.
    pub fn costs(&self, memory_ns: f64) -> Option<LevelCosts> {
        Some(LevelCosts {
            name: self.name.clone(),
            size_bytes: self.size_bytes,
            found_bytes: self.size_bytes.and_then(|size| self.found_bytes(size, memory_ns)),
            stay_ms: self.size_bytes.and_then(|_| self.stay_ms(memory_ns)).map(rounded),
            latency_ns: rounded(self.latency_ns()?),
            line_ns: rounded(self.line.value()?),
        })
    }

    /// What to say if a part of the cache alone was found: other programs or other virtual machines use it, or the host gives
    /// this machine a part only.
    pub fn note(&self, memory_ns: f64) -> Option<String> {
        let size_bytes = self.size_bytes?;
        let found_bytes = self.found_bytes(size_bytes, memory_ns)?;
        let largest = self.sets.last()?;
        Some(format!(
            "{}: of {} KiB, {} were found in the cache, and {} took {:.0} ns per load: others have the rest",
            self.name,
            size_bytes >> 10,
            found_bytes >> 10,
            largest.bytes >> 10,
            largest.by_chance.value()?,
        ))
    }

    /// By the names of the figures.
    pub fn spreads(&self) -> impl Iterator<Item = (String, &Rounds)> {
        let name = |field| format!("{} {field}", self.name);
        [
            (name("latency_ns"), &self.sets[0].latency),
            (name("line_ns"), &self.line),
        ]
        .into_iter()
    }
}

/// The mean time that lines stay, if such a part of them is lost in a turn: as where each is lost with even chance at each moment.
fn stay(lost: f64, turn_ms: f64) -> Option<f64> {
    (LEAST_LOST..MOST_LOST)
        .contains(&lost)
        .then(|| -turn_ms / (1.0 - lost).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stay_follows_from_what_a_turn_loses() {
        // Lines stay 10 ms: 1 - exp(-1/2) of them are lost in 5.
        let found = stay(0.393_469, 5.0).unwrap();
        assert!((found - 10.0).abs() < 1e-3, "{found}");
        assert_eq!([0.02, 0.97, f64::NAN].map(|lost| stay(lost, 5.0)), [None; 3]);
    }
}
