//! Processors, and threads that stay on one.

use std::io;

use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

use crate::processor::siblings;

/// Partners of transfers at most.
const MOST_PARTNERS: usize = 4;

/// Keeps this thread on a processor.
pub fn pin(processor: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set)?)
}

/// The processors that this process may use.
pub fn allowed() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU)
            .filter(|processor| set.is_set(*processor))
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// Some processors of other cores, evenly taken from all that are allowed.
pub fn partners(processor: usize, allowed: &[usize]) -> Vec<usize> {
    let own = siblings(processor);
    let others: Vec<usize> = allowed
        .iter()
        .copied()
        .filter(|other| !own.contains(other))
        .collect();
    let count = others.len().min(MOST_PARTNERS);
    (0..count)
        .map(|index| others[(index + 1) * others.len() / count - 1])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_spread_over_what_is_allowed() {
        let none = usize::MAX;
        assert_eq!(partners(none, &(0..16).collect::<Vec<_>>()), [3, 7, 11, 15]);
        assert_eq!(partners(none, &[5]), [5]);
        assert!(partners(5, &[5]).is_empty());
        assert!(!allowed().is_empty());
    }
}
