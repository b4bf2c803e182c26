//! A progress bar on standard error, if that is a terminal.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackway_report::grouped;
use trackway_trace::{ChunkRef, Trace};

/// Shows how much of a trace's records has been read, perhaps several times, and at which rate.
pub struct ReadingProgress {
    bar: ProgressBar,
    accesses: AtomicU64,
}

impl ReadingProgress {
    /// Shows how much of so many bytes has been read.
    pub fn new(bytes: u64, quiet: bool) -> ReadingProgress {
        // Nothing is drawn if standard error is no terminal.
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        let template = "{bar:30} {bytes}/{total_bytes}  {msg}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        ReadingProgress {
            bar,
            accesses: AtomicU64::new(0),
        }
    }

    /// Is called after each chunk, from any thread.
    pub fn advance(&self, accesses: u64, bytes: u64) {
        let accesses = self.accesses.fetch_add(accesses, Ordering::Relaxed) + accesses;
        self.bar.inc(bytes);
        if !self.bar.is_hidden() {
            self.bar.set_message(rate(accesses, self.bar.elapsed()));
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Bytes that the records of a trace take in its file.
pub fn record_bytes(trace: &Trace) -> u64 {
    ChunkRef::stored_bytes(trace.streams().iter().flat_map(|stream| &stream.chunks))
}

fn rate(accesses: u64, elapsed: Duration) -> String {
    let per_second = accesses as f64 / elapsed.as_secs_f64().max(1e-3);
    format!("{} accesses/s", grouped(per_second as u64))
}

/// Shows, while `work` is done, how many of so many bytes have been read.
pub fn with_polled_bar<R>(
    total: u64,
    quiet: bool,
    read: &(dyn Fn() -> u64 + Sync),
    work: impl FnOnce() -> R,
) -> R {
    let target = match quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if bar.is_hidden() {
        return work();
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}") {
        bar.set_style(style);
    }
    let is_done = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        let poller = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                bar.set_position(read());
                thread::park_timeout(Duration::from_millis(100));
            }
        });
        let done = work();
        is_done.store(true, Ordering::Relaxed);
        poller.thread().unpark();
        done
    });
    bar.finish_and_clear();
    done
}
