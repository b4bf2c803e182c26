//! A progress bar on standard error, if that is a terminal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use trackway_analysis::Observer;
use trackway_report::grouped;
use trackway_trace::{ChunkRef, Trace};

use crate::time_left::TimeLeft;

/// Shows how much of a trace's records has been read, perhaps several times, and at which rate.
pub struct ReadingProgress {
    bar: ProgressBar,
    /// None if nothing is shown.
    shown: Option<Mutex<Shown>>,
}

/// What the bar says.
struct Shown {
    accesses: u64,
    left: TimeLeft,
}

impl ReadingProgress {
    /// Shows how much of so many bytes has been read, and the time left once `settled` of them are.
    pub fn new(bytes: u64, settled: u64, quiet: bool) -> ReadingProgress {
        // Nothing is drawn if standard error is no terminal.
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        let template = "{bar:30} {percent} %  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let shown = (!bar.is_hidden()).then(|| {
            Mutex::new(Shown {
                accesses: 0,
                left: TimeLeft::new(bytes).after(settled),
            })
        });
        ReadingProgress { bar, shown }
    }

    /// Is called after each chunk, from any thread.
    pub fn advance(&self, accesses: u64, bytes: u64) {
        let Some(shown) = &self.shown else { return };
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.accesses = shown.accesses.saturating_add(accesses);
        let left = shown.left.advance(bytes, Instant::now());
        let mut message = rate(shown.accesses, self.bar.elapsed());
        if let Some(left) = left {
            message.push_str(&format!("  {} left", HumanDuration(left)));
        }
        drop(shown);
        self.bar.inc(bytes);
        self.bar.set_message(message);
    }

    /// Is called when so many of the bytes won't be read.
    fn shorten(&self, bytes: u64) {
        let Some(shown) = &self.shown else { return };
        shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .left
            .skip(bytes);
        self.bar.dec_length(bytes);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for ReadingProgress {
    fn advance(&self, accesses: u64, bytes: u64) {
        ReadingProgress::advance(self, accesses, bytes);
    }

    fn skip(&self, bytes: u64) {
        self.shorten(bytes);
    }
}

/// Bytes of a trace's records after decompression, which is what a pass over them [advances](Observer::advance) by.
pub fn record_bytes(trace: &Trace) -> u64 {
    ChunkRef::raw_bytes(records(trace))
}

/// Bytes that they take in the file.
pub fn stored_bytes(trace: &Trace) -> u64 {
    ChunkRef::stored_bytes(records(trace))
}

fn records(trace: &Trace) -> impl Iterator<Item = &ChunkRef> {
    trace.streams().iter().flat_map(|stream| &stream.chunks)
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
