//! Several threads at one stream: one decodes, and all take parts of the work on what was decoded.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use trackway_trace::{Batch, JoinedBatches};

use crate::{Analysis, WorkPart};

/// Bundles that wait for a part, a few hundred kilobytes each. More would leave the caches before they are taken.
const MOST_BUNDLES: usize = 8;
/// A bundle is handed over with so many accesses and events, or batches: what the hand-over costs is little beside the work.
const ENOUGH_CONTENT: usize = 4096;
const ENOUGH_BATCHES: usize = 512;
/// A batch with more is not short.
const MOST_JOINED: usize = 256;

/// Batches that go to the parts together: short ones, as merged streams have them, and a long one at the end.
#[derive(Default)]
struct Bundle {
    short: JoinedBatches,
    long: Option<Batch>,
    /// Room for a long one.
    spare: Batch,
}

impl Bundle {
    /// Takes what the batch holds, and leaves a batch to be filled next.
    fn take(&mut self, batch: &mut Batch) {
        let is_short = batch.runs.is_empty() && batch.len() + batch.marks.len() <= MOST_JOINED;
        match is_short {
            true => self.short.push(batch),
            false => self.long = Some(std::mem::replace(batch, std::mem::take(&mut self.spare))),
        }
    }

    fn is_enough(&self) -> bool {
        self.long.is_some() || self.short.content() >= ENOUGH_CONTENT || self.short.len() >= ENOUGH_BATCHES
    }

    fn is_empty(&self) -> bool {
        self.long.is_none() && self.short.is_empty()
    }

    fn for_each(&self, room: &mut Batch, mut take: impl FnMut(&Batch)) {
        self.short.for_each(room, &mut take);
        self.long.iter().for_each(take);
    }

    /// Makes room for other batches.
    fn clear(&mut self) {
        self.short.clear();
        if let Some(long) = self.long.take() {
            self.spare = long;
        }
    }
}

/// Shards for all parts of the work, and the bundles on their way to them.
pub(crate) struct Team<'r, A: Analysis> {
    analysis: &'r A,
    state: Mutex<State<A::Shard>>,
    changed: Condvar,
}

struct State<S> {
    /// What some part has not taken yet.
    bundles: VecDeque<Arc<Bundle>>,
    /// How many came before those.
    gone: usize,
    /// No more bundles will come.
    is_complete: bool,
    /// A thread has panicked, so that some part is lost.
    is_lost: bool,
    parts: Vec<PartWork<S>>,
    /// Empty ones, to be filled again.
    spare: Vec<Bundle>,
}

struct PartWork<S> {
    /// None while a thread lets it take a bundle.
    shard: Option<S>,
    /// Number of bundles that it has taken.
    taken: usize,
}

/// A part that takes its next bundle.
struct Turn<S> {
    part: usize,
    shard: S,
    bundle: Arc<Bundle>,
}

/// What is decoded, on its way to a team.
pub(crate) struct Feed<'t, 'r, A: Analysis> {
    team: &'t Team<'r, A>,
    bundle: Bundle,
}

impl<A: Analysis> Feed<'_, '_, A> {
    /// Hands what the batch holds to all parts, now or with later ones. It is to be filled next.
    pub fn push(&mut self, batch: &mut Batch) {
        self.bundle.take(batch);
        if self.bundle.is_enough() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if !self.bundle.is_empty() {
            self.bundle = self.team.push(std::mem::take(&mut self.bundle));
        }
    }
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
                bundles: VecDeque::new(),
                gone: 0,
                is_complete: false,
                is_lost: false,
                parts: (0..count).map(part).collect(),
                spare: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Calls `decode`, which has to [`Feed::push`] all batches, and works on them with this many threads. Returns the
    /// shards.
    pub fn run(self, threads: NonZeroUsize, decode: impl FnOnce(&mut Feed<'_, 'r, A>)) -> Vec<A::Shard> {
        let work = || {
            let _alarm = Alarm(&self);
            self.work_until(State::is_over);
        };
        thread::scope(|scope| {
            for _ in 0..self.parts().min(threads.get() - 1) {
                scope.spawn(work);
            }
            let _alarm = Alarm(&self);
            let mut feed = Feed {
                team: &self,
                bundle: Bundle::default(),
            };
            decode(&mut feed);
            feed.hand_over();
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

    /// Hands a bundle to all parts. Returns one to be filled next.
    fn push(&self, mut bundle: Bundle) -> Bundle {
        self.work_until(|state| state.bundles.len() < MOST_BUNDLES);
        let mut state = self.lock();
        if state.is_lost {
            bundle.clear();
            return bundle;
        }
        state.bundles.push_back(Arc::new(bundle));
        self.changed.notify_all();
        state.spare.pop().unwrap_or_default()
    }

    /// Lets parts take bundles, or waits until there are some.
    fn work_until(&self, is_enough: impl Fn(&State<A::Shard>) -> bool) {
        let mut room = Batch::default();
        let mut state = self.lock();
        while !is_enough(&state) && !state.is_lost {
            let Some(mut turn) = state.next_turn() else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            };
            drop(state);
            let shard = &mut turn.shard;
            turn.bundle
                .for_each(&mut room, |batch| self.analysis.take_batch(shard, batch));
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
    /// All bundles have come, and parts that have not taken all are being worked on.
    fn is_over(&self) -> bool {
        let all = self.gone + self.bundles.len();
        self.is_complete
            && self
                .parts
                .iter()
                .all(|part| part.shard.is_none() || part.taken == all)
    }

    /// Starts the next bundle of the idle part that has taken the fewest.
    fn next_turn(&mut self) -> Option<Turn<S>> {
        let parts = self.parts.iter_mut().enumerate();
        let idle = parts.filter(|(_, part)| part.shard.is_some());
        let (number, part) = idle.min_by_key(|(_, part)| part.taken)?;
        let bundle = self.bundles.get(part.taken - self.gone)?;
        Some(Turn {
            part: number,
            shard: part.shard.take()?,
            bundle: Arc::clone(bundle),
        })
    }

    fn end_turn(&mut self, turn: Turn<S>) {
        let part = &mut self.parts[turn.part];
        part.shard = Some(turn.shard);
        part.taken += 1;
        drop(turn.bundle);
        let taken_by_all = self.parts.iter().map(|part| part.taken).min();
        while taken_by_all > Some(self.gone) {
            self.gone += 1;
            let bundle = self.bundles.pop_front().and_then(Arc::into_inner);
            self.spare.extend(bundle.map(|mut bundle| {
                bundle.clear();
                bundle
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Findings, Order};
    use trackway_trace::{SiteId, Trace};

    /// Notes the batches of each part, and how long they are; the part of that number panics at its third batch.
    struct Notes(u32);

    impl Analysis for Notes {
        type Shard = (u32, Vec<(u64, usize)>);

        fn order(&self) -> Order {
            Order::PerStream
        }

        fn start_shard(&self) -> Self::Shard {
            (0, Vec::new())
        }

        fn take_batch(&self, (part, taken): &mut Self::Shard, batch: &Batch) {
            taken.push((batch.sequence, batch.len()));
            assert!(*part != self.0 || taken.len() < 3, "as asked");
        }

        fn merge(&self, _: &mut Self::Shard, _: Self::Shard) {}

        fn finish(&self, _: Self::Shard, _: &Trace) -> Findings {
            Findings::default()
        }
    }

    /// Short ones and, now and then, a long one.
    fn length(sequence: u64) -> usize {
        match sequence % 97 {
            0 => 2 * MOST_JOINED,
            _ => sequence as usize % 23,
        }
    }

    fn taken(panicking: u32, threads: usize) -> Vec<(u32, Vec<(u64, usize)>)> {
        let notes = Notes(panicking);
        let team = Team::new(&notes, 3, |part| (part.number, Vec::new()));
        team.run(NonZeroUsize::new(threads).unwrap(), |feed| {
            let mut batch = Batch::default();
            for sequence in 0..5000 {
                batch.clear();
                batch.address.resize(length(sequence), 0);
                batch.size.resize(length(sequence), 8);
                batch.site.resize(length(sequence), SiteId(0));
                batch.sequence = sequence;
                feed.push(&mut batch);
            }
        })
    }

    #[test]
    fn each_part_takes_all_batches_in_order() {
        let all: Vec<_> = (0..5000).map(|sequence| (sequence, length(sequence))).collect();
        for threads in [1, 2, 3, 7] {
            let expected: Vec<_> = (0..3).map(|part| (part, all.clone())).collect();
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
