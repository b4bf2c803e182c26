//! Which way jumps go that depend on memory: as samples saw it, where memory says otherwise by the time it is read.
//!
//! A program that changes what it tests (a sort, a search that marks what it visited) leaves memory behind in which the
//! test comes out differently. But of the jump next to a sample the outcome often rests on the sample's registers alone:
//! the value was loaded before. Where these outcomes and those by memory differ by more than chance, memory isn't asked:
//! the way is drawn as often to either side as samples saw it.

use std::collections::HashMap;

/// Less outcomes than that say nothing.
const LEAST: u32 = 24;
/// Standard errors by which shares must differ.
const ERRORS: f64 = 4.0;
/// Differences that are smaller change little.
const SMALLEST_DIFFERENCE: f64 = 0.05;

/// How often a jump was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    all: u32,
    taken: u32,
}

impl Outcomes {
    fn note(&mut self, is_taken: bool) {
        if self.all < u32::MAX {
            self.all += 1;
            self.taken += u32::from(is_taken);
        }
    }

    fn share(self) -> f64 {
        f64::from(self.taken) / f64::from(self.all.max(1))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Jump {
    by_registers: Outcomes,
    by_memory: Outcomes,
}

impl Jump {
    /// Whether memory says something else than registers did. Of one window outcomes depend on each other, so that
    /// chance is larger than it is taken for here; what is drawn then goes the same ways as often.
    fn disagrees(self) -> bool {
        let (sure, late) = (self.by_registers, self.by_memory);
        if sure.all < LEAST || late.all < LEAST {
            return false;
        }
        let counts = (f64::from(sure.all), f64::from(late.all));
        let pooled = f64::from(sure.taken + late.taken) / (counts.0 + counts.1);
        let error = (pooled * (1.0 - pooled) * (1.0 / counts.0 + 1.0 / counts.1)).sqrt();
        let difference = (sure.share() - late.share()).abs();
        difference > SMALLEST_DIFFERENCE && difference > ERRORS * error
    }
}

/// Outcomes of jumps by process and address.
#[derive(Debug)]
pub struct Directions {
    jumps: HashMap<(u32, u64), Jump>,
    pid: u32,
    /// Of the drawing.
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
    /// What follows is of that process.
    pub fn begin(&mut self, pid: u32) {
        self.pid = pid;
    }

    /// The process executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.jumps.retain(|(process, _), _| *process != pid);
    }

    /// The outcome rests on registers of the sample alone.
    pub fn note_sure(&mut self, jump: u64, is_taken: bool) {
        self.jump(jump).by_registers.note(is_taken);
    }

    /// Whether a jump is taken that depends on memory which was read late; `outcome` is by this memory, none if that
    /// isn't known. None if nothing says which way it goes.
    pub fn choose(&mut self, jump: u64, outcome: Option<bool>) -> Option<bool> {
        let seen = self.jump(jump);
        if let Some(is_taken) = outcome {
            seen.by_memory.note(is_taken);
        }
        let seen = *seen;
        let is_drawn = match outcome {
            Some(_) => seen.disagrees(),
            None => seen.by_registers.all >= LEAST,
        };
        match is_drawn {
            true => Some(self.draw() < seen.by_registers.share()),
            false => outcome,
        }
    }

    fn jump(&mut self, jump: u64) -> &mut Jump {
        self.jumps.entry((self.pid, jump)).or_default()
    }

    /// From 0 to 1 (G. Marsaglia, Xorshift RNGs, 2003).
    fn draw(&mut self) -> f64 {
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

    /// How many of a thousand jumps are taken if memory says so of `by_memory` in 100, and registers did of
    /// `by_registers`.
    fn taken(by_registers: u32, by_memory: u32) -> u32 {
        let mut directions = Directions::default();
        for number in 0..100 {
            directions.note_sure(JUMP, number < by_registers);
            directions.choose(JUMP, Some(number < by_memory));
        }
        let outcomes = (0..1000).map(|number| directions.choose(JUMP, Some(number % 100 < by_memory)));
        outcomes.filter(|outcome| *outcome == Some(true)).count() as u32
    }

    #[test]
    fn memory_is_believed_unless_it_says_something_else() {
        assert_eq!(taken(50, 50), 500);
        assert_eq!(taken(50, 53), 530);
        assert!((430..570).contains(&taken(50, 100)), "{}", taken(50, 100));
        assert!(taken(0, 60) < 10);
    }

    #[test]
    fn few_outcomes_say_nothing() {
        let mut directions = Directions::default();
        for _ in 0..LEAST - 1 {
            directions.note_sure(JUMP, true);
            directions.choose(JUMP, Some(false));
        }
        assert_eq!(directions.choose(JUMP, Some(false)), Some(false));
        assert_eq!(directions.choose(JUMP, None), None);
        directions.note_sure(JUMP, true);
        assert_eq!(directions.choose(JUMP, None), Some(true));
        assert_eq!(directions.choose(JUMP, Some(false)), Some(true));
    }

    #[test]
    fn processes_are_told_apart_and_forgotten() {
        let mut directions = Directions::default();
        directions.begin(1);
        (0..LEAST).for_each(|_| directions.note_sure(JUMP, true));
        assert_eq!(directions.choose(JUMP, None), Some(true));
        directions.begin(2);
        assert_eq!(directions.choose(JUMP, None), None);
        directions.begin(1);
        directions.forget(1);
        assert_eq!(directions.choose(JUMP, None), None);
    }
}
