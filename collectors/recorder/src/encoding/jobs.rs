//! The chunks that wait to be encoded.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use trackway_trace::ChunkFields;

use crate::pace::{has_caught_up, is_behind};
use crate::ring::Ring;
use crate::sink::flight::SnapshotRequest;

/// The payload of a chunk.
pub enum Payload {
    /// The first bytes of a taken buffer, which is then freed.
    Buffer {
        index: usize,
        length: usize,
    },
    Bytes(Vec<u8>),
}

impl Payload {
    /// Bytes that it takes of the recorder's own memory.
    pub fn held_bytes(&self) -> usize {
        match self {
            Payload::Buffer { .. } => 0,
            Payload::Bytes(bytes) => bytes.len(),
        }
    }
}

pub enum Work {
    Chunk {
        fields: ChunkFields,
        payload: Payload,
    },
    Snapshot(SnapshotRequest),
    /// Another part of the recording begins at that time.
    Part(u64),
}

pub struct Job {
    pub ticket: u64,
    pub work: Work,
}

/// Jobs in the order of their tickets.
#[derive(Default)]
pub struct Jobs {
    waiting: Mutex<Waiting>,
    /// For the first worker.
    added: Condvar,
    /// For helpers.
    behind: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// No more will come.
    is_closed: bool,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, job: Job, ring: &Ring) {
        self.lock().jobs.push_back(job);
        self.added.notify_one();
        if is_behind(ring) {
            self.behind.notify_all();
        }
    }

    pub fn close(&self) {
        self.lock().is_closed = true;
        self.added.notify_all();
        self.behind.notify_all();
    }

    /// Waits for a job. None at the end.
    pub fn next(&self) -> Option<Job> {
        let waiting = self.added.wait_while(self.lock(), |waiting| {
            waiting.jobs.is_empty() && !waiting.is_closed
        });
        waiting.unwrap_or_else(PoisonError::into_inner).jobs.pop_front()
    }

    /// Waits for a job that the first worker has no time for. None at the end. A helper that has begun goes on until
    /// the recorder has caught up.
    pub fn next_of_too_many(&self, ring: &Ring, is_helping: &mut bool) -> Option<Job> {
        let is_idle = |waiting: &mut Waiting| {
            let helps = match *is_helping {
                true => !has_caught_up(ring),
                false => is_behind(ring),
            };
            *is_helping = helps || waiting.is_closed;
            !waiting.is_closed && (!helps || waiting.jobs.is_empty())
        };
        let waiting = self.behind.wait_while(self.lock(), is_idle);
        waiting.unwrap_or_else(PoisonError::into_inner).jobs.pop_front()
    }
}
