//! From a store to a load of the same word.

use std::hint::black_box;
use std::time::Instant;

/// Bits of an array are set in steps of so many, from its beginning to its end, as in a sieve: a word is loaded and stored some
/// twenty times, one after the other, and its address is computed anew each time. Processors keep up with a
/// word whose address stands in the instruction, but not with these.
const STEP: usize = 3;
const BITS: usize = 1 << 16;

/// Nanoseconds for each bit that is set: a load, an instruction, a store, until the next load has the word.
pub fn ns_per_turn() -> f64 {
    let mut words = black_box(vec![0u64; BITS / 64]);
    let begin = Instant::now();
    for bit in (0..BITS).step_by(STEP) {
        let word = &mut words[bit / 64];
        // Else the compiler could keep the word in a register.
        *black_box(word) |= 1 << (bit % 64);
    }
    let ns = begin.elapsed().as_nanos() as f64;
    black_box(words);
    ns / (BITS / STEP) as f64
}
