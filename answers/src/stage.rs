//! A part of an answer's work, for the progress bar.

use std::sync::atomic::{AtomicU64, Ordering};

use trackway_analysis::Observer;
use trackway_trace::Trace;

use crate::progress::record_bytes;

/// Passes over a trace, one after the other, of known costs. What wasn't done of them is skipped at the end.
pub struct Stage<'o> {
    observer: &'o dyn Observer,
    pass_bytes: u64,
    costs: &'o [u64],
    /// Bytes of all passes.
    read: AtomicU64,
    /// The same, each as often as its pass costs.
    told: AtomicU64,
}

impl<'o> Stage<'o> {
    pub fn new(observer: &'o dyn Observer, trace: &Trace, costs: &'o [u64]) -> Stage<'o> {
        Stage::of_bytes(observer, record_bytes(trace), costs)
    }

    fn of_bytes(observer: &'o dyn Observer, pass_bytes: u64, costs: &'o [u64]) -> Stage<'o> {
        Stage {
            observer,
            pass_bytes,
            costs,
            read: AtomicU64::new(0),
            told: AtomicU64::new(0),
        }
    }
}

impl Observer for Stage<'_> {
    fn advance(&self, accesses: u64, bytes: u64) {
        let before = self.read.fetch_add(bytes, Ordering::Relaxed);
        let pass = before.checked_div(self.pass_bytes).unwrap_or(0) as usize;
        // More passes than are known would make the bar run over.
        let cost = self.costs.get(pass).copied().unwrap_or(0);
        let bytes = bytes.saturating_mul(cost);
        self.told.fetch_add(bytes, Ordering::Relaxed);
        self.observer.advance(accesses, bytes);
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let all = self.pass_bytes.saturating_mul(self.costs.iter().sum());
        let rest = all.saturating_sub(*self.told.get_mut());
        if rest > 0 {
            self.observer.skip(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(&'static str, u64)>>);

    impl Observer for Heard {
        fn advance(&self, _: u64, bytes: u64) {
            self.0.lock().unwrap().push(("read", bytes));
        }

        fn skip(&self, bytes: u64) {
            self.0.lock().unwrap().push(("skipped", bytes));
        }
    }

    fn heard(chunks: &[u64]) -> Vec<(&'static str, u64)> {
        let heard = Heard::default();
        let stage = Stage::of_bytes(&heard, 100, &[1, 20]);
        for bytes in chunks {
            stage.advance(7, *bytes);
        }
        drop(stage);
        heard.0.into_inner().unwrap()
    }

    #[test]
    fn each_pass_counts_what_it_costs() {
        assert_eq!(
            heard(&[100, 50, 50]),
            [("read", 100), ("read", 1000), ("read", 1000)]
        );
    }

    #[test]
    fn passes_that_are_not_made_are_skipped() {
        assert_eq!(heard(&[]), [("skipped", 2100)]);
        assert_eq!(heard(&[100]), [("read", 100), ("skipped", 2000)]);
    }
}
