//! Values that go through memory: a load takes the value of a store of the same word that came just before, and so waits for
//! what that value follows from. Counters, bit sets and code without optimisation are chains of such loads and stores.

/// Words that are remembered, by their lowest bits: more than there are stores in flight.
const WORDS: usize = 256;

/// A word of eight bytes, and what accesses lately did with it. Times are in nanoseconds; 0 is none.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    number: u64,
    /// When the value of the last load since the last store was there.
    loaded: f64,
    /// When a load of the stored value has it.
    stored: f64,
    /// When the store has gone to its line. Until then loads take its value without the line.
    written: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Forwarding {
    words: Vec<Word>,
}

impl Default for Forwarding {
    fn default() -> Forwarding {
        Forwarding {
            words: vec![Word::default(); WORDS],
        }
    }
}

impl Forwarding {
    /// When a load has its value, of which the address is known at `ready`, and which would have it from the line at `done`. A
    /// line that isn't there was taken away, after what was stored was written.
    #[inline(always)]
    pub fn load(&mut self, word: u64, ready: f64, done: f64, is_there: bool) -> f64 {
        let last = self.word(word);
        let known = match (ready < last.written, is_there) {
            (true, true) => ready.max(last.stored),
            (true, false) => last.written + (done - ready),
            (false, _) => done,
        };
        last.loaded = known;
        known
    }

    /// A store that enters at `entered`, and has gone to its line at `written`. What is stored where the program loaded just
    /// before follows from the loaded value by an instruction.
    #[inline(always)]
    pub fn store(&mut self, word: u64, entered: f64, written: f64, cycle_ns: f64, forward_ns: f64) {
        let last = self.word(word);
        let known = entered.max(last.loaded + cycle_ns);
        last.stored = known + forward_ns;
        last.written = written.max(last.stored);
        last.loaded = 0.0;
    }

    #[inline(always)]
    fn word(&mut self, number: u64) -> &mut Word {
        let last = &mut self.words[number as usize % WORDS];
        if last.number != number {
            *last = Word {
                number,
                ..Word::default()
            };
        }
        last
    }
}
