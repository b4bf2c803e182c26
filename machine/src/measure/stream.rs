//! Loads that don't wait: memory is summed up.

use std::hint::black_box;
use std::time::Instant;

use crate::costs::LINE_BYTES;

/// Sums that are added to in turn, so that no addition waits for the one before.
const SUMS: usize = 32;

/// Time per line, where all lines are summed up so many times.
pub fn ns_per_line(words: &[u64], laps: usize) -> f64 {
    let begin = Instant::now();
    for _ in 0..laps {
        black_box(sum(black_box(words)));
    }
    let lines = words.len() as u64 * 8 / LINE_BYTES * laps as u64;
    begin.elapsed().as_nanos() as f64 / lines as f64
}

#[cfg(target_arch = "x86_64")]
fn sum(words: &[u64]) -> u64 {
    #[target_feature(enable = "avx2")]
    fn with_avx2(words: &[u64]) -> u64 {
        plain_sum(words)
    }
    match is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function needs.
        true => unsafe { with_avx2(words) },
        false => plain_sum(words),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn sum(words: &[u64]) -> u64 {
    plain_sum(words)
}

#[inline(always)]
fn plain_sum(words: &[u64]) -> u64 {
    let mut sums = [0u64; SUMS];
    for part in words.chunks_exact(SUMS) {
        for (sum, word) in sums.iter_mut().zip(part) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_summed_up() {
        let words: Vec<u64> = (0..SUMS as u64 * 10).collect();
        assert_eq!(sum(&words), words.iter().sum());
        assert!(ns_per_line(&words, 3) > 0.0);
    }
}
