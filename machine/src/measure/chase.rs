//! Loads that wait for each other: a cycle of pointers through memory, in random order.

use std::time::Instant;

use super::arena::Arena;
use crate::costs::LINE_BYTES;

/// Chases that can run at once. Each has this part of a window.
pub const MOST_CHAINS: usize = 32;

const MOST_WARM_LAPS: usize = 8;
/// A lap that takes this part of the one before is about as fast.
const SETTLED: f64 = 0.9;

/// A place in the cycle: what stands there is the address of the next one.
type Place = *const usize;

/// A cycle of pointers.
#[derive(Debug)]
pub struct Chase {
    arena: Arena,
    /// Where the next load of a single chase is.
    at: Place,
    places: usize,
    /// By window, the places where chases at once begin.
    begins: Vec<[Place; MOST_CHAINS]>,
    next_window: usize,
    chance: Chance,
}

impl Chase {
    /// A cycle through the arena's first `places`, of which `offset` gives the bytes from its begin. Of each `window`
    /// places all are visited before the next ones, so that a TLB that has their pages is enough.
    pub fn new(mut arena: Arena, places: usize, window: usize, offset: impl Fn(usize) -> usize) -> Chase {
        let order = windowed(places, window);
        let begin = arena.words().as_ptr().cast::<usize>();
        let place = |index: usize| begin.wrapping_byte_add(offset(order[index % places] as usize));
        let words = arena.words_mut();
        for index in 0..places {
            words[offset(order[index] as usize) / 8] = place(index + 1) as u64;
        }
        let windows = (0..places).step_by(window);
        let begins =
            windows.map(|first| std::array::from_fn(|chain| place(first + chain * window / MOST_CHAINS)));
        Chase {
            arena,
            at: place(0),
            places,
            begins: begins.collect(),
            next_window: 0,
            chance: Chance::new(),
        }
    }

    /// A cycle through the first bytes of the arena, with a place in each `spacing` bytes.
    pub fn dense(arena: Arena, bytes: usize, spacing: usize) -> Chase {
        let places = (bytes / spacing).max(MOST_CHAINS);
        Chase::new(arena, places, places, |place| place * spacing)
    }

    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Goes around until that is no longer faster than before, so that caches hold what they can. Some take a line only
    /// when it comes again.
    pub fn warm(&mut self) {
        let mut before = f64::INFINITY;
        for _ in 0..MOST_WARM_LAPS {
            let lap = self.ns_per_load(self.places);
            if lap > before * SETTLED {
                return;
            }
            before = lap;
        }
    }

    /// Time per load of a single chase.
    pub fn ns_per_load(&mut self, loads: usize) -> f64 {
        let begin = Instant::now();
        [self.at] = self.run([self.at], loads);
        begin.elapsed().as_nanos() as f64 / loads as f64
    }

    /// Time per step of a single chase that also loads what stands so many bytes after each place, once it has the place's
    /// own value, and waits for that, too. No place may stand there.
    pub fn ns_per_step_with_neighbour(&mut self, bytes_on: usize, steps: usize) -> f64 {
        const LOW_BITS: usize = 7; // 0 in addresses of places, which the compiler doesn't know
        let words = self.arena.words();
        let base = words.as_ptr() as usize;
        let mut at = self.at as usize - base;
        let begin = Instant::now();
        for _ in 0..steps {
            let next = words[at / 8] as usize;
            let neighbour = words.get(((at + bytes_on) / 8) | (next & LOW_BITS)).copied();
            at = (next - base) | (neighbour.unwrap_or_default() as usize & LOW_BITS);
        }
        let elapsed = begin.elapsed();
        self.at = words.as_ptr().cast::<usize>().wrapping_byte_add(at);
        elapsed.as_nanos() as f64 / steps as f64
    }

    /// Time per load of lines by chance among these first bytes, where each load waits for the one before. Of a cycle that
    /// is larger than a cache, one that lets the oldest line go has nothing; of these it has a part.
    pub fn ns_per_load_by_chance(&mut self, bytes: usize, loads: usize) -> f64 {
        let words = self.arena.words();
        let lines = bytes / LINE_BYTES as usize;
        let mut low_bits = 0;
        let begin = Instant::now();
        for _ in 0..loads {
            let word = self.chance.below(lines) * (LINE_BYTES as usize / size_of::<u64>());
            // What stands there is the address of a line: its lowest bits are 0, which the compiler doesn't know.
            low_bits = words[word | low_bits] as usize & 7;
        }
        std::hint::black_box(low_bits);
        begin.elapsed().as_nanos() as f64 / loads as f64
    }

    /// Time per load, where so many chases run at once with so many loads each, in a window that wasn't visited for long.
    pub fn ns_per_load_at_once(&mut self, chains: usize, loads: usize) -> f64 {
        self.next_window = (self.next_window + 1) % self.begins.len();
        let begin = Instant::now();
        RUNS[chains - 1](self, loads);
        begin.elapsed().as_nanos() as f64 / (chains * loads) as f64
    }

    fn run_at_once<const CHAINS: usize>(&self, loads: usize) {
        let begins = self.begins[self.next_window];
        self.run::<CHAINS>(std::array::from_fn(|chain| begins[chain]), loads);
    }

    fn run<const CHAINS: usize>(&self, mut at: [Place; CHAINS], loads: usize) -> [Place; CHAINS] {
        for _ in 0..loads {
            for place in &mut at {
                // SAFETY: each place of the cycle holds the address of another one, all of them within the arena, which
                // `self` owns. Nobody writes to it.
                *place = unsafe { place.read() } as Place;
            }
        }
        std::hint::black_box(at)
    }
}

macro_rules! runs {
    ($($chains:literal)*) => {
        /// By the number of chases, from one on.
        const RUNS: [fn(&Chase, usize); MOST_CHAINS] = [$(Chase::run_at_once::<$chains>),*];
    };
}

runs! { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 }

/// The numbers below `count` in random order, the same in each run.
pub fn shuffled(count: usize) -> Vec<u32> {
    windowed(count, count)
}

/// The numbers below `count`: each `window` of them in random order, and the windows one after the other.
fn windowed(count: usize, window: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    let mut chance = Chance::new();
    for part in order.chunks_mut(window) {
        for last in (1..part.len()).rev() {
            part.swap(last, chance.below(last + 1));
        }
    }
    order
}

/// Numbers by chance, the same in each run: Marsaglia's xorshift64.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn new() -> Chance {
        Chance(0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Pages;
    use super::*;

    #[test]
    fn a_chase_visits_all_places_before_it_returns() {
        let arena = Arena::new(1 << 20, Pages::Small).unwrap();
        let mut chase = Chase::new(arena, 100, 40, |place| place * 64);
        let begin = chase.at;
        for steps in 1..=100 {
            chase.ns_per_load(1);
            assert_eq!(chase.at == begin, steps == 100, "{steps}");
        }
    }

    #[test]
    fn chases_at_once_have_each_a_part_of_a_window() {
        let arena = Arena::new(1 << 20, Pages::Small).unwrap();
        let chase = Chase::new(arena, 640, 320, |place| place * 64);
        let ends = chase.run(chase.begins[0], 10);
        assert_eq!(ends[..MOST_CHAINS - 1], chase.begins[0][1..]);
        assert_eq!(ends[MOST_CHAINS - 1], chase.begins[1][0]);
    }

    #[test]
    fn windows_come_one_after_the_other() {
        let order = windowed(100, 32);
        for (number, part) in order.chunks(32).enumerate() {
            let mut sorted = part.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq((number as u32 * 32..).take(part.len())));
            assert_ne!(part, sorted);
        }
    }
}
