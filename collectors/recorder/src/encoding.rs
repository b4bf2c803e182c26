//! Threads that compress chunks and write them in the order in which they were queued.
//!
//! The first of them takes whatever is queued. The others help while the recorder is behind: then the program waits, or
//! will soon, and leaves processors idle. At other times they would only take processors from it.
//!
//! Records are moved out of shared memory first: while the program can still write to them, nothing reads them twice.

mod jobs;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread::Scope;
use std::time::Duration;

use trackway_trace::{plain_chunk, Chunk, ChunkEncoder, ChunkFields, ChunkKind, TraceError};

use jobs::{Job, Jobs};

use crate::pace::{is_behind, timed, Pace};
use crate::ring::Ring;
use crate::sink::{Sink, Written};

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
    discard: bool,
    /// Whether records may be stored uncompressed while the recorder falls behind.
    keeps_pace: bool,
}

impl Output {
    pub fn new(sink: Sink, keeps_pace: bool) -> Self {
        let discard = sink.discards();
        let turns = Mutex::new(Turns { sink, next_ticket: 0 });
        Self {
            turns,
            turn_changed: Condvar::new(),
            jobs: Jobs::default(),
            waiting_bytes: AtomicUsize::new(0),
            discard,
            keeps_pace,
        }
    }

    pub fn into_sink(self) -> Sink {
        self.turns
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .sink
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Writes a chunk, none if chunks are discarded, when its turn has come, and says how long writing took.
    fn write_in_turn(&self, ticket: u64, chunk: Result<Option<Chunk>, TraceError>) -> (Written, Duration) {
        let mut turns = self.lock();
        while turns.next_ticket != ticket {
            turns = self
                .turn_changed
                .wait(turns)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let written = timed(|| turns.sink.append(chunk));
        turns.next_ticket += 1;
        self.turn_changed.notify_all();
        written
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

    pub fn push(&mut self, fields: ChunkFields, payload: Payload) {
        let job = Job {
            ticket: self.next_ticket,
            fields,
            payload,
        };
        self.next_ticket += 1;
        let held = job.payload.held_bytes();
        self.output.waiting_bytes.fetch_add(held, Relaxed);
        self.output.jobs.push(job, self.ring);
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
    let threads = encoders.len();
    for (number, encoder) in encoders.into_iter().enumerate() {
        let worker = Worker {
            encoder,
            output,
            ring,
            workers: threads,
            pace: Pace::default(),
            bytes: Vec::new(),
        };
        scope.spawn(move || worker.run(number > 0));
    }
    Queue {
        output,
        ring,
        next_ticket: 0,
    }
}

struct Worker<'scope> {
    encoder: ChunkEncoder,
    output: &'scope Output,
    ring: &'scope Ring,
    workers: usize,
    pace: Pace,
    /// The payload at hand, if it stood in the ring.
    bytes: Vec<u8>,
}

impl Worker<'_> {
    fn run(mut self, only_helps: bool) {
        let (jobs, mut is_helping) = (&self.output.jobs, false);
        while let Some(job) = match only_helps {
            true => jobs.next_of_too_many(self.ring, &mut is_helping),
            false => jobs.next(),
        } {
            self.store(job);
        }
    }

    fn store(&mut self, job: Job) {
        let held = job.payload.held_bytes();
        let payload = match job.payload {
            Payload::Buffer { index, length } if self.output.discard => {
                self.ring.discard(index, length);
                Vec::new()
            }
            Payload::Buffer { index, length } => {
                let mut bytes = std::mem::take(&mut self.bytes);
                self.ring.move_out(index, length, &mut bytes);
                bytes
            }
            Payload::Bytes(bytes) => bytes,
        };
        let (output, ring) = (self.output, self.ring);
        let chunk = match output.discard {
            true => Ok(None),
            false => self.encode(&job.fields, &payload).map(Some),
        };
        let stored = chunk.as_ref().ok().and_then(|chunk| Some(chunk.as_ref()?.stored));
        let stored_length = stored.map_or(0, <[u8]>::len);
        let (written, took) = output.write_in_turn(job.ticket, chunk);
        output.waiting_bytes.fetch_sub(held, Relaxed);
        if written == Written::FirstFailure {
            ring.stop();
        }
        self.pace.note_written(stored_length, took);
        self.bytes = payload; // its memory serves again
    }

    fn encode<'p>(&'p mut self, fields: &ChunkFields, payload: &'p [u8]) -> Result<Chunk<'p>, TraceError> {
        if fields.kind != ChunkKind::Records {
            return self.encoder.encode(fields, payload);
        }
        if self.output.keeps_pace && is_behind(self.ring) && self.pace.gains_by_storing(self.workers) {
            let (chunk, took) = timed(|| plain_chunk(fields, payload));
            self.pace.note_kept(payload.len(), took);
            return chunk;
        }
        let (chunk, took) = timed(|| self.encoder.encode(fields, payload));
        let stored_length = chunk.as_ref().map_or(0, |chunk| chunk.stored.len());
        self.pace.note_compressed(payload.len(), stored_length, took);
        chunk
    }
}
