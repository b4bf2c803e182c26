//! How fast a core works: additions that wait for each other take a cycle each, others as little as the core can.
//!
//! A compiler would make one multiplication of them, hence the machine code.

use std::time::Instant;

/// Additions of a turn of the loop.
const ADDITIONS: u64 = 128;
const TURNS: u64 = 2_000;

/// Nanoseconds per addition of a chain, which is a cycle.
pub fn ns_per_dependent_addition() -> f64 {
    timed(dependent_additions)
}

/// Nanoseconds per addition, where eight chains run at once.
pub fn ns_per_independent_addition() -> f64 {
    timed(independent_additions)
}

/// Each turn begins with the sum of the one before, so that turns of a chain wait for each other, too.
fn timed(turn: impl Fn(u64) -> u64) -> f64 {
    let mut sum = 1;
    let begin = Instant::now();
    for _ in 0..TURNS {
        sum = turn(sum);
    }
    std::hint::black_box(sum);
    begin.elapsed().as_nanos() as f64 / (TURNS * ADDITIONS) as f64
}

#[cfg(target_arch = "x86_64")]
macro_rules! addition {
    ($sum:literal) => {
        concat!("add {", $sum, "}, {y}")
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! addition {
    ($sum:literal) => {
        concat!("add {", $sum, "}, {", $sum, "}, {y}")
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn dependent_additions(mut sum: u64) -> u64 {
    // SAFETY: only the named register and flags change.
    unsafe {
        std::arch::asm!(
            ".rept 128",
            addition!("a"),
            ".endr",
            a = inout(reg) sum,
            y = in(reg) 1u64,
            options(nomem, nostack)
        );
    }
    sum
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn independent_additions(mut sum: u64) -> u64 {
    // SAFETY: only the named registers and flags change.
    unsafe {
        std::arch::asm!(
            ".rept 16",
            addition!("a"),
            addition!("b"),
            addition!("c"),
            addition!("d"),
            addition!("e"),
            addition!("f"),
            addition!("g"),
            addition!("h"),
            ".endr",
            a = inout(reg) sum,
            b = inout(reg) 1u64 => _,
            c = inout(reg) 1u64 => _,
            d = inout(reg) 1u64 => _,
            e = inout(reg) 1u64 => _,
            f = inout(reg) 1u64 => _,
            g = inout(reg) 1u64 => _,
            h = inout(reg) 1u64 => _,
            y = in(reg) 1u64,
            options(nomem, nostack)
        );
    }
    sum
}

/// On other processors nothing is measured.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn dependent_additions(sum: u64) -> u64 {
    sum
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn independent_additions(sum: u64) -> u64 {
    sum
}
