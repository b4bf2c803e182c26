//! Threads that compress chunks, straight from shared memory, and write them in the order in which they were queued.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Scope;
use std::time::Duration;

use trackway_trace::{ChunkEncoder, ChunkFields, ChunkHeader, ChunkKind, TraceError};

use crate::pace::{is_behind, timed, Pace};
use crate::ring::Ring;
use crate::sink::{Sink, Written};

/// The payload of a chunk.
pub enum Payload {
    /// The first bytes of a taken buffer, which is then freed.
    Buffer {
        index: usize,
        length: usize,
    },
    Bytes(Vec<u8>),
}

struct Job {
    ticket: u64,
    fields: ChunkFields,
    payload: Payload,
}

/// The sink, and whose turn it is.
struct Turns {
    sink: Sink,
    next_ticket: u64,
}

/// What the encoding threads share.
pub struct Output {
    turns: Mutex<Turns>,
    turn_changed: Condvar,
    discard: bool,
    /// Whether records may be stored plainly while the recorder falls behind.
    keeps_pace: bool,
}

impl Output {
    pub fn new(sink: Sink, keeps_pace: bool) -> Self {
        let discard = sink.discards();
        let turns = Mutex::new(Turns { sink, next_ticket: 0 });
        Self {
            turns,
            turn_changed: Condvar::new(),
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

    /// Writes an encoded chunk when its turn has come, and says how long writing took.
    fn write_in_turn(
        &self,
        ticket: u64,
        encoded: Result<Option<(ChunkHeader, &[u8])>, TraceError>,
    ) -> (Written, Duration) {
        let mut turns = self.lock();
        while turns.next_ticket != ticket {
            turns = self
                .turn_changed
                .wait(turns)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let written = timed(|| turns.sink.append(encoded));
        turns.next_ticket += 1;
        self.turn_changed.notify_all();
        written
    }
}

/// The entrance of the queue. Once it is dropped the threads end after what is queued.
pub struct Queue {
    jobs: Sender<Job>,
    next_ticket: u64,
}

impl Queue {
    pub fn push(&mut self, fields: ChunkFields, payload: Payload) {
        let job = Job {
            ticket: self.next_ticket,
            fields,
            payload,
        };
        self.next_ticket += 1;
        // It fails only if all threads have panicked, which the scope reports.
        let _ = self.jobs.send(job);
    }
}

/// Starts the threads.
pub fn start<'scope>(
    encoders: Vec<ChunkEncoder>,
    output: &'scope Output,
    ring: &'scope Ring,
    scope: &'scope Scope<'scope, '_>,
) -> Queue {
    let (jobs, queue) = channel();
    let queue = Arc::new(Mutex::new(queue));
    let workers = encoders.len();
    for encoder in encoders {
        let queue = Arc::clone(&queue);
        scope.spawn(move || {
            Worker {
                encoder,
                output,
                ring,
                workers,
                pace: Pace::default(),
            }
            .run(&queue)
        });
    }
    Queue { jobs, next_ticket: 0 }
}

struct Worker<'scope> {
    encoder: ChunkEncoder,
    output: &'scope Output,
    ring: &'scope Ring,
    workers: usize,
    pace: Pace,
}

impl Worker<'_> {
    fn run(mut self, queue: &Mutex<Receiver<Job>>) {
        let mut chunk = Vec::new();
        while let Some(job) = next_job(queue) {
            let encoded = self.encode(&job, &mut chunk);
            // Freed before it is written, so that the program needn't wait for the disk.
            if let Payload::Buffer { index, length } = job.payload {
                self.ring.free(index, length);
            }
            let encoded = encoded.map(|header| header.map(|header| (header, chunk.as_slice())));
            let (written, took) = self.output.write_in_turn(job.ticket, encoded);
            if written == Written::FirstFailure {
                self.ring.stop();
            }
            self.pace.note_written(chunk.len(), took);
        }
    }

    /// `None` if chunks are discarded.
    fn encode(&mut self, job: &Job, chunk: &mut Vec<u8>) -> Result<Option<ChunkHeader>, TraceError> {
        if self.output.discard {
            return Ok(None);
        }
        let payload = match &job.payload {
            Payload::Buffer { index, length } => self.ring.bytes(*index, *length),
            Payload::Bytes(bytes) => bytes,
        };
        if job.fields.kind != ChunkKind::Records {
            return self.encoder.encode(&job.fields, payload, chunk).map(Some);
        }
        if self.output.keeps_pace && is_behind(self.ring) && self.pace.gains_by_storing(self.workers) {
            let (header, took) = timed(|| self.encoder.encode_plainly(&job.fields, payload, chunk));
            self.pace.note_kept(payload.len(), took);
            return header.map(Some);
        }
        let (header, took) = timed(|| self.encoder.encode(&job.fields, payload, chunk));
        self.pace.note_compressed(payload.len(), chunk.len(), took);
        header.map(Some)
    }
}

fn next_job(queue: &Mutex<Receiver<Job>>) -> Option<Job> {
    queue
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .recv()
        .ok()
}
