//! A line that two cores write in turn.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::pinned::pin;

/// What ends the partner.
const END: u64 = u64::MAX;
/// So few that some rounds end while both threads run, however busy the cores are.
const ROUND_TRIPS: u64 = 50;
const ROUNDS: usize = 500;
/// Other threads may run on the cores; then a round takes milliseconds.
const MOST_TIME: Duration = Duration::from_millis(100);
/// Far more than an answer takes.
const MOST_LOOKS: u32 = 20_000;
/// What takes longer is the system's time to let the other thread run.
pub const MOST_NS: f64 = 10_000.0;

/// A word with no other on its line, nor on the one that is fetched with it.
#[repr(align(256))]
struct Alone(AtomicU64);

/// Halves of round trips between this thread, on its processor, and one on that processor: a value for each round.
pub fn ns_per_transfer(partner: usize) -> Vec<f64> {
    let word = Alone(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| answer(&word.0, partner));
        let rounds = ask(&word.0);
        word.0.store(END, Ordering::Release);
        rounds
    })
}

/// Adds one to each even number and waits for the partner to do the same. To wait without a pause keeps the time that
/// processors take for one out of the figure.
fn ask(word: &AtomicU64) -> Vec<f64> {
    let begin = Instant::now();
    let mut rounds = Vec::new();
    let mut value = 0;
    while rounds.len() < ROUNDS && begin.elapsed() < MOST_TIME {
        let begin = Instant::now();
        for _ in 0..ROUND_TRIPS {
            word.store(value + 1, Ordering::Release);
            value += 2;
            let mut looks = 0;
            while word.load(Ordering::Acquire) != value {
                let_others_run(&mut looks);
            }
        }
        rounds.push(begin.elapsed().as_nanos() as f64 / (2 * ROUND_TRIPS) as f64);
    }
    rounds
}

fn answer(word: &AtomicU64, processor: usize) {
    // Where that isn't allowed any more, the figure is that of two processors that the system chooses.
    let _ = pin(processor);
    let mut looks = 0;
    loop {
        match word.load(Ordering::Acquire) {
            END => return,
            value if value % 2 == 1 => {
                word.store(value + 1, Ordering::Release);
                looks = 0;
            }
            _ => let_others_run(&mut looks),
        }
    }
}

/// Each of the threads may have its turn whenever the other one hasn't. To give the turn away ends that.
fn let_others_run(looks: &mut u32) {
    *looks += 1;
    if *looks == MOST_LOOKS {
        *looks = 0;
        thread::yield_now();
    }
}
