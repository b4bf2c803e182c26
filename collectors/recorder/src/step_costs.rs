//! What counting costs on this machine (`docs/verbs/regions.md`).
//!
//! An addition costs next to nothing where the processor waits for something else, and the most where the same counter in
//! memory was added to right before. Between lies what additions cost that keep each other busy, and this comes nearest to
//! programs (`docs/benchmarks.md`).

use std::hint::black_box;
use std::time::Instant;

use trackway_trace::StepCosts;

const TRIALS: usize = 32;
/// Additions of a trial, some µs.
const ADDITIONS: usize = 8192;

/// Takes a tenth of a millisecond.
pub fn measure() -> StepCosts {
    let mut counters = [0u64; 16];
    StepCosts {
        in_memory_ns: least_ns(|| add_in_memory(black_box(&mut counters))),
        in_register_ns: least_ns(add_in_registers),
    }
}

/// The least time of an addition: other trials were disturbed.
fn least_ns(mut add: impl FnMut()) -> f64 {
    let mut trial = || {
        let begun = Instant::now();
        add();
        begun.elapsed().as_nanos() as f64
    };
    let least = (0..TRIALS).map(|_| trial()).fold(f64::INFINITY, f64::min);
    least / ADDITIONS as f64
}

fn add_in_memory(counters: &mut [u64; 16]) {
    for _ in 0..ADDITIONS / counters.len() {
        for counter in counters.iter_mut() {
            // SAFETY: it is a reference. The compiler may not keep it in a register.
            unsafe { std::ptr::write_volatile(counter, std::ptr::read_volatile(counter).wrapping_add(1)) }
        }
    }
}

fn add_in_registers() {
    let mut counters = [0u64; 4];
    for _ in 0..ADDITIONS / counters.len() {
        for counter in &mut counters {
            *counter = kept(*counter + 1);
        }
    }
    black_box(counters);
}

/// The same number, but hidden from the compiler.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn kept(mut number: u64) -> u64 {
    // SAFETY: there is no instruction.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) number, options(pure, nomem, nostack)) };
    number
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn kept(number: u64) -> u64 {
    black_box(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_cost_something_and_not_much() {
        let costs = measure();
        for cost in [costs.in_memory_ns, costs.in_register_ns] {
            assert!(cost > 0.0 && cost < 20.0, "{costs:?}");
        }
    }
}
