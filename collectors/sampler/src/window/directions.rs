//! Chooses the direction of jumps whose outcome isn't known, such as those that depend on vector registers. They go to
//! either side as often as they did where the outcome was known.

use std::collections::HashMap;

/// Fewer known outcomes than these say nothing.
const LEAST: u32 = 24;

/// How often a jump was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    all: u32,
    taken: u32,
}

/// Outcomes of jumps by process and address.
#[derive(Debug)]
pub struct Directions {
    jumps: HashMap<(u32, u64), Outcomes>,
    pid: u32,
    /// State of the random number generator.
    state: u64,
}

impl Default for Directions {
    fn default() -> Self {
        Directions {
            jumps: HashMap::new(),
            pid: 0,
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl Directions {
    /// Outcomes that follow belong to that process.
    pub fn begin(&mut self, pid: u32) {
        self.pid = pid;
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.jumps.retain(|(process, _), _| *process != pid);
    }

    /// Notes a known outcome.
    pub fn note(&mut self, jump: u64, is_taken: bool) {
        let seen = self.jumps.entry((self.pid, jump)).or_default();
        if seen.all < u32::MAX {
            seen.all += 1;
            seen.taken += u32::from(is_taken);
        }
    }

    /// Chooses whether a jump with unknown outcome is taken; none if too few outcomes are known.
    pub fn draw(&mut self, jump: u64) -> Option<bool> {
        let seen = *self.jumps.get(&(self.pid, jump))?;
        (seen.all >= LEAST).then(|| self.number() * f64::from(seen.all) < f64::from(seen.taken))
    }

    /// A random number from 0 to 1 (G. Marsaglia, Xorshift RNGs, 2003).
    fn number(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUMP: u64 = 0x1000;

    #[test]
    fn ways_are_drawn_as_often_as_they_were_seen() {
        let mut directions = Directions::default();
        (0..100).for_each(|number| directions.note(JUMP, number < 30));
        let drawn = (0..1000).filter(|_| directions.draw(JUMP) == Some(true));
        let taken = drawn.count();
        assert!((240..360).contains(&taken), "{taken}");
    }

    #[test]
    fn few_outcomes_say_nothing() {
        let mut directions = Directions::default();
        (1..LEAST).for_each(|_| directions.note(JUMP, true));
        assert_eq!(directions.draw(JUMP), None);
        directions.note(JUMP, true);
        assert_eq!(directions.draw(JUMP), Some(true));
    }

    #[test]
    fn processes_are_told_apart_and_forgotten() {
        let mut directions = Directions::default();
        directions.begin(1);
        (0..LEAST).for_each(|_| directions.note(JUMP, true));
        assert_eq!(directions.draw(JUMP), Some(true));
        directions.begin(2);
        assert_eq!(directions.draw(JUMP), None);
        directions.begin(1);
        directions.forget(1);
        assert_eq!(directions.draw(JUMP), None);
    }
}
