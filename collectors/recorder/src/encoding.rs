//! Threads that compress chunks and write them in the order in which they were queued.
//!
//! The first of them takes whatever is queued. The others help while the recorder is behind: then the program waits, or
//! will soon, and leaves processors idle. At other times they would only take processors from it.
//!
//! Records are moved out of shared memory first: while the program can still write to them, nothing reads them twice.

mod jobs;
mod worker;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use trackway_trace::{Chunk, ChunkEncoder, ChunkFields, TraceError};

use jobs::{Job, Jobs, Work};
use worker::Worker;

use crate::pace::{timed, Pace};
use crate::ring::Ring;
use crate::sink::flight::SnapshotRequest;
use crate::sink::{Counted, Sink, Written};
use crate::work::RecorderWork;

pub use jobs::Payload;

/// Payloads that may wait in memory of the recorder's own; those in the ring are limited by it.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// The sink, and whose turn it is.
struct Turns {
    sink: Sink,
    next_ticket: u64,
}

/// What the encoding threads share.
pub struct Output {
    turns: Mutex<Turns>,
    turn_changed: Condvar,
    jobs: Jobs,
    /// Bytes of queued payloads.
    waiting_bytes: AtomicUsize,
    /// Bytes that were stored, and accesses that were not kept, for those who don't want to wait for the sink.
    stored_bytes: AtomicU64,
    passed_accesses: AtomicU64,
    burst: Mutex<BurstCount>,
    discard: bool,
    settings: Settings,
    pace: Mutex<Pace>,
    /// What the workers that have ended did.
    work: Mutex<RecorderWork>,
}

/// What was recorded since a burst began, as far as it was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct BurstCount {
    pub accesses: u64,
    from_ns: u64,
    until_ns: u64,
}

impl BurstCount {
    /// How long the counted accesses took.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.until_ns.saturating_sub(self.from_ns))
    }

    /// A thread that comes late hands over what it recorded in an earlier burst, which doesn't count.
    fn add(&mut self, counted: Counted) {
        if counted.first_ns >= self.from_ns && counted.accesses > 0 {
            self.accesses = self.accesses.saturating_add(counted.accesses);
            self.until_ns = self.until_ns.max(counted.last_ns);
        }
    }
}

/// How the threads work.
#[derive(Clone, Copy, Default)]
pub struct Settings {
    /// Whether records may be stored with less effort while the recorder falls behind.
    pub keeps_pace: bool,
    /// Whether their work is measured.
    pub measures: bool,
}

impl Output {
    pub fn new(sink: Sink, settings: Settings) -> Self {
        let discard = sink.discards();
        let turns = Mutex::new(Turns { sink, next_ticket: 0 });
        Self {
            turns,
            turn_changed: Condvar::new(),
            jobs: Jobs::default(),
            waiting_bytes: AtomicUsize::new(0),
            stored_bytes: AtomicU64::new(0),
            passed_accesses: AtomicU64::new(0),
            burst: Mutex::default(),
            discard,
            settings,
            pace: Mutex::default(),
            work: Mutex::default(),
        }
    }

    /// The sink, and what all workers did, after their end.
    pub fn into_parts(self) -> (Sink, RecorderWork) {
        let turns = self.turns.into_inner();
        let work = self.work.into_inner();
        (
            turns.unwrap_or_else(PoisonError::into_inner).sink,
            work.unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn burst(&self) -> MutexGuard<'_, BurstCount> {
        self.burst.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_work(&self, work: RecorderWork) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) += work;
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_in_turn(&self, ticket: u64) -> MutexGuard<'_, Turns> {
        self.turn_changed
            .wait_while(self.lock(), |turns| turns.next_ticket != ticket)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a chunk, none if chunks are discarded, when its turn has come, and says how long writing took.
    fn write_in_turn(&self, ticket: u64, chunk: Result<Option<Chunk>, TraceError>) -> (Written, Duration) {
        let mut turns = self.lock_in_turn(ticket);
        let written = timed(|| turns.sink.append(chunk));
        turns.next_ticket += 1;
        self.stored_bytes.store(turns.sink.stored_bytes(), Relaxed);
        self.passed_accesses.store(turns.sink.passed_accesses(), Relaxed);
        self.burst().add(turns.sink.last_counted());
        self.turn_changed.notify_all();
        written
    }

    /// Tells the sink something when its turn has come.
    fn in_turn(&self, ticket: u64, tell: impl FnOnce(&mut Sink)) {
        let mut turns = self.lock_in_turn(ticket);
        tell(&mut turns.sink);
        turns.next_ticket += 1;
        self.turn_changed.notify_all();
    }
}

/// The entrance of the queue. Once it is dropped, the threads finish what is queued and end.
pub struct Queue<'scope> {
    output: &'scope Output,
    ring: &'scope Ring,
    next_ticket: u64,
}

impl Queue<'_> {
    /// Whether so much is queued that no more should be added.
    pub fn is_overloaded(&self) -> bool {
        self.output.waiting_bytes.load(Relaxed) > MOST_WAITING_BYTES
    }

    /// Bytes that have been stored.
    pub fn stored_bytes(&self) -> u64 {
        self.output.stored_bytes.load(Relaxed)
    }

    /// Accesses that were counted and not kept.
    pub fn passed_accesses(&self) -> u64 {
        self.output.passed_accesses.load(Relaxed)
    }

    /// Counts from that time on.
    pub fn begin_burst(&self, from_ns: u64) {
        *self.output.burst() = BurstCount {
            from_ns,
            ..BurstCount::default()
        };
    }

    /// What was recorded into buffers that threads took since then.
    pub fn burst(&self) -> BurstCount {
        *self.output.burst()
    }

    pub fn push(&mut self, fields: ChunkFields, payload: Payload) {
        let held = payload.held_bytes();
        self.output.waiting_bytes.fetch_add(held, Relaxed);
        self.push_work(Work::Chunk { fields, payload });
    }

    /// Writes what was pushed so far, as far as a flight recorder still holds it.
    pub fn push_snapshot(&mut self, request: SnapshotRequest) {
        self.push_work(Work::Snapshot(request));
    }

    pub fn push_part(&mut self, from_ns: u64) {
        self.push_work(Work::Part(from_ns));
    }

    fn push_work(&mut self, work: Work) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.output.jobs.push(Job { ticket, work }, self.ring);
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        self.output.jobs.close();
    }
}

/// Starts the threads.
pub fn start<'scope>(
    encoders: Vec<ChunkEncoder>,
    output: &'scope Output,
    ring: &'scope Ring,
    scope: &'scope Scope<'scope, '_>,
) -> Queue<'scope> {
    // The program needs a processor of its own.
    let others = std::thread::available_parallelism().map_or(1, |count| count.get() - 1);
    let threads = others.clamp(1, encoders.len().max(1));
    for (number, encoder) in encoders.into_iter().enumerate() {
        let worker = Worker::new(encoder, output, ring, threads);
        scope.spawn(move || worker.run(number > 0));
    }
    Queue {
        output,
        ring,
        next_ticket: 0,
    }
}
