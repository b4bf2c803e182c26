//! What has become of snapshots, and what is held for the next one.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A trace that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub path: PathBuf,
    /// Why, for people.
    pub reason: String,
    /// Bytes of the file, or why there is none.
    pub written: Result<u64, String>,
    /// Nanoseconds of which all records are there.
    pub covered_ns: u64,
}

/// What has become of the snapshots, for those who ask and for the sink.
#[derive(Debug, Default)]
pub struct SnapshotBoard {
    state: Mutex<BoardState>,
}

#[derive(Debug, Default)]
struct BoardState {
    is_writing: bool,
    done: Vec<Snapshot>,
    memory: FlightMemory,
}

/// What a flight recorder holds, bytes of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlightMemory {
    pub newest: u64,
    /// What records need.
    pub definitions: u64,
}

impl SnapshotBoard {
    fn lock(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_writing(&self) -> bool {
        self.lock().is_writing
    }

    pub fn done(&self) -> Vec<Snapshot> {
        self.lock().done.clone()
    }

    pub fn memory(&self) -> FlightMemory {
        self.lock().memory
    }

    pub(super) fn show(&self, memory: FlightMemory) {
        self.lock().memory = memory;
    }

    pub(super) fn begin(&self) {
        self.lock().is_writing = true;
    }

    pub(super) fn end(&self, snapshot: Snapshot) {
        let mut state = self.lock();
        state.is_writing = false;
        state.done.push(snapshot);
    }
}
