//! When a flight recorder writes what it holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::abi;
use crate::clock::{self, RecordingClock};
use crate::control::ControlAnswer;
use crate::options::{Output, RecordOptions};
use crate::ring::{Cause, Ring};
use crate::sink::flight::{numbered, SnapshotBoard, SnapshotRequest};
use crate::ProgramEnd;

/// How long threads are given to hand over what they have recorded. One that calls functions does so at once.
const PATIENCE: Duration = Duration::from_millis(100);
/// A program that asks for more has asked often enough: its disk isn't to be filled.
const MOST_BY_PROGRAM: u32 = 20;

/// Who wants a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    Control,
    Program,
}

/// A snapshot that waits for the newest records.
struct Pending {
    request: SnapshotRequest,
    /// When it was asked for: buffers from before are to be handed over.
    ticks: u64,
    deadline: Instant,
}

/// The snapshots of a recording.
pub struct Snapshots {
    /// The name that the user gave.
    output: PathBuf,
    force: bool,
    board: Arc<SnapshotBoard>,
    begin_ns: u64,
    next: u32,
    by_program: u32,
    /// That the program asked for in vain.
    pub refused: u64,
    pending: Option<Pending>,
    /// While the trace is smaller, it has all; none: only the newest are kept.
    first_part_bytes: Option<u64>,
}

impl Snapshots {
    /// None if this is no flight recorder.
    pub fn begin(options: &RecordOptions, board: Option<Arc<SnapshotBoard>>, begin_ns: u64) -> Option<Self> {
        let (Some(_), Some(board), Output::File { path, force }) = (options.flight, board, &options.output)
        else {
            return None;
        };
        Some(Self {
            output: std::path::absolute(path).unwrap_or_else(|_| path.clone()),
            force: *force,
            board,
            begin_ns,
            next: 1,
            by_program: 0,
            refused: 0,
            pending: None,
            first_part_bytes: options.windows.most_bytes,
        })
    }

    /// Whether only the newest records are kept by now.
    pub fn have_begun(&self) -> bool {
        self.first_part_bytes.is_none()
    }

    /// Whether the first part, which is stored, has its greatest size now.
    pub fn are_to_begin(&self, stored_bytes: u64) -> bool {
        self.first_part_bytes.is_some_and(|most| stored_bytes >= most)
    }

    /// How long all was stored, nanoseconds; none: till the end. `start_ns`: when recording began.
    pub fn first_part_ns(&self, start_ns: u64) -> Option<u64> {
        self.have_begun().then(|| self.begin_ns - start_ns)
    }

    pub fn begin_at(&mut self, ns: u64) {
        self.first_part_bytes = None;
        self.begin_ns = ns;
    }

    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns where the snapshot will be, or why there will be none.
    pub fn ask(
        &mut self,
        ring: &Ring,
        clock: &RecordingClock,
        asker: Asker,
        reason: &str,
    ) -> Result<PathBuf, String> {
        if !self.have_begun() {
            return Err(
                "all is stored still; snapshots begin when the trace has its greatest size (--max-size)"
                    .to_owned(),
            );
        }
        let is_too_much = asker == Asker::Program && self.by_program >= MOST_BY_PROGRAM;
        if is_too_much || self.pending.is_some() || self.board.is_writing() {
            self.refused += u64::from(asker == Asker::Program);
            return Err("a snapshot is being written".to_owned());
        }
        let cause = match asker {
            Asker::Control => "control",
            Asker::Program => "program",
        };
        self.by_program += u32::from(asker == Asker::Program);
        let request = self.request(clock, cause, reason.to_owned());
        let path = request.path.clone();
        let ticks = clock::ticks();
        // Threads that see another window hand over what they recorded in the former one.
        ring.begin_next_window(Cause::Control);
        self.pending = Some(Pending {
            request,
            ticks,
            deadline: Instant::now() + PATIENCE,
        });
        Ok(path)
    }

    /// What has become of one that was asked for.
    pub fn outcome_of(&self, path: PathBuf) -> ControlAnswer {
        let done = self.board.done();
        let is_pending = self
            .pending
            .as_ref()
            .is_some_and(|pending| pending.request.path == path);
        match done.iter().rev().find(|snapshot| snapshot.path == path) {
            Some(snapshot) if !is_pending => match &snapshot.written {
                Ok(_) => ControlAnswer::Done(path.display().to_string()),
                Err(error) => ControlAnswer::Refused(format!("the snapshot is lost: {error}")),
            },
            _ => ControlAnswer::Pending(path),
        }
    }

    /// What is to be written now, if all that can be there is there, and when it was asked for.
    pub fn due(&mut self, ring: &Ring) -> Option<(SnapshotRequest, u64)> {
        let pending = self.pending.as_ref()?;
        let behind = older_buffers(ring, abi::OWNED, pending.ticks);
        // Those that threads have handed over are taken before the next question.
        let is_early = older_buffers(ring, abi::FULL, pending.ticks) > 0;
        if is_early || behind > 0 && Instant::now() < pending.deadline {
            return None;
        }
        let pending = self.pending.take()?;
        Some((pending.request, pending.ticks))
    }

    /// The snapshot that a program's end is worth, if it is, or that is pending.
    pub fn at_end(&mut self, clock: &RecordingClock, end: Option<ProgramEnd>) -> Option<SnapshotRequest> {
        if !self.have_begun() {
            return None; // all is stored
        }
        let reason = match end {
            Some(ProgramEnd::Exited(0) | ProgramEnd::RunsOn | ProgramEnd::Replaced) | None => {
                return self.pending.take().map(|pending| pending.request)
            }
            Some(ProgramEnd::Exited(status)) => format!("the program ended with status {status}"),
            Some(ProgramEnd::Signalled(signal)) => format!("signal {signal} ended the program"),
            Some(ProgramEnd::Unknown) => {
                "the program ended; its status isn't known to who came later".to_owned()
            }
        };
        let (exit_status, signal) = end.map_or((None, None), ProgramEnd::parts);
        let pending = self.pending.take().map(|pending| pending.request);
        let request = pending.unwrap_or_else(|| self.request(clock, "end", String::new()));
        Some(SnapshotRequest {
            reason,
            end_ns: clock.now_ns(),
            exit_status,
            signal,
            ..request
        })
    }

    fn request(&mut self, clock: &RecordingClock, cause: &str, reason: String) -> SnapshotRequest {
        SnapshotRequest {
            path: self.next_path(),
            cause: cause.to_owned(),
            reason,
            begin_ns: self.begin_ns,
            end_ns: clock.now_ns(),
            exit_status: None,
            signal: None,
        }
    }

    fn next_path(&mut self) -> PathBuf {
        loop {
            let path = numbered(&self.output, self.next);
            self.next += 1;
            if self.force || !Path::exists(&path) {
                return path;
            }
        }
    }
}

/// Buffers in that state with records from before that time.
fn older_buffers(ring: &Ring, state: u32, ticks: u64) -> usize {
    ring.all_words()
        .filter(|(_, words)| {
            words.state == state
                && words.pid != 0
                && words.kind == abi::KIND_RECORDS
                && words.first_ticks < ticks
        })
        .count()
}
