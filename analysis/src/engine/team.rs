//! Several threads at one stream: one decodes, and all take parts of the work on what was decoded.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use trackway_trace::Batch;

use crate::{Analysis, WorkPart};

/// Decoded batches that wait for a part, a few hundred kilobytes each. More would leave the caches before they are taken.
const MOST_BATCHES: usize = 8;

/// Shards for all parts of the work, and the batches on their way to them.
pub(crate) struct Team<'r, A: Analysis> {
    analysis: &'r A,
    state: Mutex<State<A::Shard>>,
    changed: Condvar,
}

struct State<S> {
    /// What some part has not taken yet.
    batches: VecDeque<Arc<Batch>>,
    /// How many came before those.
    gone: usize,
    /// No more batches will come.
    is_complete: bool,
    /// A thread has panicked, so that some part is lost.
    is_lost: bool,
    parts: Vec<PartWork<S>>,
    /// Empty ones, to be filled again.
    spare: Vec<Batch>,
}

struct PartWork<S> {
    /// None while a thread lets it take a batch.
    shard: Option<S>,
    /// Number of batches that it has taken.
    taken: usize,
}

/// A part that takes its next batch.
struct Turn<S> {
    part: usize,
    shard: S,
    batch: Arc<Batch>,
}

impl<'r, A: Analysis> Team<'r, A> {
    pub fn new(analysis: &'r A, count: u32, start: impl Fn(WorkPart) -> A::Shard) -> Self {
        let part = |number| PartWork {
            shard: Some(start(WorkPart { number, count })),
            taken: 0,
        };
        Team {
            analysis,
            state: Mutex::new(State {
                batches: VecDeque::new(),
                gone: 0,
                is_complete: false,
                is_lost: false,
                parts: (0..count).map(part).collect(),
                spare: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Calls `decode`, which has to [`Team::push`] all batches, and works on them with this many threads. Returns the
    /// shards.
    pub fn run(self, threads: NonZeroUsize, decode: impl FnOnce(&Self)) -> Vec<A::Shard> {
        let work = || {
            let _alarm = Alarm(&self);
            self.work_until(State::is_over);
        };
        thread::scope(|scope| {
            for _ in 0..self.parts().min(threads.get() - 1) {
                scope.spawn(work);
            }
            let _alarm = Alarm(&self);
            decode(&self);
            self.lock().is_complete = true;
            self.changed.notify_all();
            work();
        });
        let state = self.state.into_inner();
        let parts = state.unwrap_or_else(|poisoned| poisoned.into_inner()).parts;
        parts.into_iter().filter_map(|part| part.shard).collect()
    }

    fn parts(&self) -> usize {
        self.lock().parts.len()
    }

    /// Hands a batch to all parts. Returns one to be filled next.
    pub fn push(&self, batch: Batch) -> Batch {
        self.work_until(|state| state.batches.len() < MOST_BATCHES);
        let mut state = self.lock();
        if state.is_lost {
            return batch;
        }
        state.batches.push_back(Arc::new(batch));
        self.changed.notify_all();
        state.spare.pop().unwrap_or_default()
    }

    /// Lets parts take batches, or waits until there are some.
    fn work_until(&self, is_enough: impl Fn(&State<A::Shard>) -> bool) {
        let mut state = self.lock();
        while !is_enough(&state) && !state.is_lost {
            let Some(mut turn) = state.next_turn() else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            };
            drop(state);
            self.analysis.take_batch(&mut turn.shard, &turn.batch);
            state = self.lock();
            state.end_turn(turn);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<A::Shard>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Tells the other threads of a panic, lest they wait for its part.
struct Alarm<'t, 'r, A: Analysis>(&'t Team<'r, A>);

impl<A: Analysis> Drop for Alarm<'_, '_, A> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_lost = true;
            self.0.changed.notify_all();
        }
    }
}

impl<S> State<S> {
    /// All batches have been decoded, and parts that have not taken all are being worked on.
    fn is_over(&self) -> bool {
        let all = self.gone + self.batches.len();
        self.is_complete
            && self
                .parts
                .iter()
                .all(|part| part.shard.is_none() || part.taken == all)
    }

    /// Starts the next batch of the idle part that has taken the fewest batches.
    fn next_turn(&mut self) -> Option<Turn<S>> {
        let parts = self.parts.iter_mut().enumerate();
        let idle = parts.filter(|(_, part)| part.shard.is_some());
        let (number, part) = idle.min_by_key(|(_, part)| part.taken)?;
        let batch = self.batches.get(part.taken - self.gone)?;
        Some(Turn {
            part: number,
            shard: part.shard.take()?,
            batch: Arc::clone(batch),
        })
    }

    fn end_turn(&mut self, turn: Turn<S>) {
        let part = &mut self.parts[turn.part];
        part.shard = Some(turn.shard);
        part.taken += 1;
        drop(turn.batch);
        let taken_by_all = self.parts.iter().map(|part| part.taken).min();
        while taken_by_all > Some(self.gone) {
            self.gone += 1;
            let batch = self.batches.pop_front().and_then(Arc::into_inner);
            self.spare.extend(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Findings, Order};
    use trackway_trace::Trace;

    /// Notes the batches of each part; the part of that number panics at its third batch.
    struct Notes(u32);

    impl Analysis for Notes {
        type Shard = (u32, Vec<u64>);

        fn order(&self) -> Order {
            Order::PerStream
        }

        fn start_shard(&self) -> Self::Shard {
            (0, Vec::new())
        }

        fn take_batch(&self, (part, taken): &mut Self::Shard, batch: &Batch) {
            taken.push(batch.sequence);
            assert!(*part != self.0 || taken.len() < 3, "as asked");
        }

        fn merge(&self, _: &mut Self::Shard, _: Self::Shard) {}

        fn finish(&self, _: Self::Shard, _: &Trace) -> Findings {
            Findings::default()
        }
    }

    fn taken(panicking: u32, threads: usize) -> Vec<(u32, Vec<u64>)> {
        let notes = Notes(panicking);
        let team = Team::new(&notes, 3, |part| (part.number, Vec::new()));
        team.run(NonZeroUsize::new(threads).unwrap(), |team| {
            let mut batch = Batch::default();
            for sequence in 0..200 {
                batch.sequence = sequence;
                batch = team.push(batch);
            }
        })
    }

    #[test]
    fn each_part_takes_all_batches_in_order() {
        for threads in [1, 2, 3, 7] {
            let expected: Vec<_> = (0..3).map(|part| (part, (0..200).collect())).collect();
            assert_eq!(taken(u32::MAX, threads), expected, "{threads} threads");
        }
    }

    #[test]
    fn a_panic_ends_the_work() {
        for threads in [1, 2, 3] {
            assert!(std::panic::catch_unwind(|| taken(1, threads)).is_err());
        }
    }
}
