//! The traces of a collector, each in its file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use trackway_trace::{
    check_file_header, ChunkHeader, ChunkKind, Codec, Resumption, TraceWriter, FILE_HEADER_LENGTH,
};

use super::feed::{Feed, TraceFeed};
use super::part::{Part, PartError};
use super::{CollectOptions, CollectOutput, CollectSummary};
use crate::streaming::connection::Connection;
use crate::streaming::protocol::Hello;

/// Codec of the index, the only chunk that the collector makes.
const CODEC: Codec = Codec::Lz4;
/// Bytes by which acknowledgements may lag behind while more data has already arrived.
const LONGEST_LAG: u64 = 1 << 20;
/// The same limit where each acknowledgement takes two answers of a broker.
const LONGEST_FED_LAG: u64 = 8 << 20;
/// Letters of a program's name in the name of its trace.
const LONGEST_NAME: usize = 40;

type Identity = [u8; 16];

pub struct TraceStore {
    output: CollectOutput,
    feed: Option<Arc<dyn Feed>>,
    /// Traces to take in all.
    limit: Option<u64>,
    sync: bool,
    slots: Mutex<HashMap<Identity, Arc<Slot>>>,
}

/// The place of one trace.
pub struct Slot {
    /// Path of its file; if it has none, the path that the file would have.
    pub path: PathBuf,
    has_file: bool,
    force: bool,
    feed: Option<Arc<dyn Feed>>,
    /// Whether everything is on the disk before it is acknowledged.
    sync: bool,
    trace: Mutex<Kept>,
    /// Number and connection of the visitor that brings it. Another one for the same trace replaces it: the sender has
    /// given it up.
    carrier: Mutex<Option<(u64, Connection)>>,
    /// The sender knows that everything is here.
    left: AtomicBool,
    /// `EMPTY`, `TAKEN` or `DISPLACED`; it changes once.
    claim: AtomicU8,
}

/// Nothing has come but a hello.
const EMPTY: u8 = 0;
/// A part of the trace is here.
const TAKEN: u8 = 1;
/// Another trace has got the place.
const DISPLACED: u8 = 2;

/// How much of a trace is here.
pub enum Kept {
    /// It was not looked for, or failed.
    Unknown,
    /// At most the header of a new trace has arrived, and there is no file yet.
    Nothing {
        header: bool,
    },
    Part(Box<Part>),
    Whole {
        end: u64,
    },
}

impl TraceStore {
    pub fn new(options: &CollectOptions) -> Self {
        let limit = match options.output {
            CollectOutput::File { .. } => Some(1),
            CollectOutput::Folder(_) | CollectOutput::FeedOnly => options.count,
        };
        Self {
            output: options.output.clone(),
            feed: options.feed.clone(),
            limit,
            sync: options.sync,
            slots: Mutex::new(HashMap::new()),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Identity, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The place of the trace; an error is for its sender.
    pub fn slot(&self, hello: &Hello) -> Result<Arc<Slot>, String> {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(&hello.identity) {
            return Ok(Arc::clone(slot));
        }
        if self.limit.is_some_and(|limit| slots.len() as u64 >= limit) {
            // A hello alone reserves nothing, else any client that can connect could keep recorders out.
            let Some(empty) =
                { slots.iter() }.find_map(|(identity, slot)| slot.displace().then_some(*identity))
            else {
                return Err("this collector takes no more traces; start another one".into());
            };
            slots.remove(&empty);
        }
        let (path, force) = match &self.output {
            CollectOutput::File { path, force } => (path.clone(), *force),
            CollectOutput::Folder(folder) => (folder.join(file_name(hello)), false),
            CollectOutput::FeedOnly => (file_name(hello).into(), false),
        };
        let slot = Arc::new(Slot {
            path,
            has_file: self.output != CollectOutput::FeedOnly,
            force,
            feed: self.feed.clone(),
            sync: self.sync,
            trace: Mutex::new(Kept::Unknown),
            carrier: Mutex::new(None),
            left: AtomicBool::new(false),
            claim: AtomicU8::new(EMPTY),
        });
        slots.insert(hello.identity, Arc::clone(&slot));
        Ok(slot)
    }

    /// Forgets a trace of which nothing has come, and which no other visitor brings.
    pub fn forget_if_empty(&self, identity: &Identity, slot: Arc<Slot>) {
        const HERE_AND_ON_THE_SHELF: usize = 2;
        let mut slots = self.slots();
        let is_alone = Arc::strong_count(&slot) == HERE_AND_ON_THE_SHELF;
        if is_alone && matches!(*slot.lock(), Kept::Unknown | Kept::Nothing { .. }) {
            slots.remove(identity);
        }
    }

    /// Whether as many traces as wanted are complete.
    pub fn all_complete(&self) -> bool {
        self.limit.is_some_and(|limit| {
            let slots = self.slots();
            slots.len() as u64 >= limit && slots.values().all(|slot| slot.is_complete())
        })
    }

    /// Whether all their senders know it.
    pub fn all_left(&self) -> bool {
        self.slots().values().all(|slot| slot.left.load(Relaxed))
    }

    pub fn summary(&self) -> CollectSummary {
        let mut summary = CollectSummary::default();
        for slot in self.slots().values() {
            match *slot.lock() {
                Kept::Whole { .. } => summary.complete += 1,
                Kept::Part(_) => summary.unfinished.push(slot.path.clone()),
                Kept::Unknown if slot.has_file && slot.path.exists() => {
                    summary.unfinished.push(slot.path.clone())
                }
                Kept::Unknown | Kept::Nothing { .. } => {}
            }
        }
        summary.unfinished.sort();
        summary
    }
}

impl Slot {
    pub fn lock(&self) -> MutexGuard<'_, Kept> {
        self.trace.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn is_complete(&self) -> bool {
        // The visitor that holds the lock is bringing the rest.
        self.trace
            .try_lock()
            .is_ok_and(|trace| matches!(*trace, Kept::Whole { .. }))
            || self.left.load(Relaxed)
    }

    pub fn note_farewell(&self) {
        self.left.store(true, Relaxed);
    }

    fn carrier(&self) -> MutexGuard<'_, Option<(u64, Connection)>> {
        self.carrier
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Makes this visitor the one that brings the trace, and sends the earlier one away.
    pub fn take_over(&self, visitor: u64, connection: Connection) {
        if let Some((_, earlier)) = self.carrier().replace((visitor, connection)) {
            earlier.shut_down();
        }
    }

    /// Gives the place up for another trace, unless a part of this one is here already. The visitor that wanted it is
    /// sent away, and may come again.
    fn displace(&self) -> bool {
        let displaced = self
            .claim
            .compare_exchange(EMPTY, DISPLACED, Relaxed, Relaxed)
            .is_ok();
        if displaced {
            if let Some((_, connection)) = self.carrier().take() {
                connection.shut_down();
            }
        }
        displaced
    }

    pub fn is_displaced(&self) -> bool {
        self.claim.load(Relaxed) == DISPLACED
    }

    /// From now on the place is this trace's; false if it was given up before.
    fn claim(&self) -> bool {
        match self.claim.compare_exchange(EMPTY, TAKEN, Relaxed, Relaxed) {
            Ok(_) => true,
            Err(found) => found == TAKEN,
        }
    }

    pub fn leave(&self, visitor: u64) {
        self.carrier().take_if(|(number, _)| *number == visitor);
    }

    /// Looks for the trace's file. Returns how much of the trace is safe, bytes; none of it waits any more.
    pub fn open(&self, kept: &mut Kept, hello: &Hello) -> Result<u64, String> {
        if matches!(kept, Kept::Unknown) {
            *kept = self.find(hello)?;
        }
        if matches!(kept, Kept::Part(_) | Kept::Whole { .. }) && !self.claim() {
            return Err("its place was given to another trace; connect again".into());
        }
        Ok(match kept {
            Kept::Unknown | Kept::Nothing { header: false } => 0,
            Kept::Nothing { header: true } => FILE_HEADER_LENGTH as u64,
            Kept::Part(part) => {
                part.forget_waiting();
                part.position()
            }
            Kept::Whole { end } => *end,
        })
    }

    fn find(&self, hello: &Hello) -> Result<Kept, String> {
        let nothing = Kept::Nothing { header: false };
        if !self.has_file {
            // What the sender has forgotten was acknowledged, so the feed has it.
            return Ok(match hello.first {
                0 => nothing,
                first => Kept::Part(Box::new(Part::new(None, self.feed(hello), first))),
            });
        }
        if std::fs::symlink_metadata(&self.path).is_err() {
            return Ok(nothing);
        }
        let exists = || {
            format!(
                "{} exists already at the collector; choose another name there, or overwrite it with -f",
                self.path.display()
            )
        };
        match identity_of(&self.path) {
            Ok(found) if found == hello.identity => {}
            _ if self.force => return Ok(nothing),
            _ => return Err(exists()),
        }
        let (resumption, _) = TraceWriter::resume(&self.path, CODEC).map_err(|error| error.to_string())?;
        let writer = match resumption {
            Resumption::Finished { end } => return Ok(Kept::Whole { end }),
            Resumption::Unfinished(writer) => *writer,
        };
        let (end, has_end) = (writer.bytes_written(), writer.has_end());
        let part = Part::new(Some(writer), self.feed(hello), end);
        match has_end {
            true => part
                .complete()
                .map(|()| Kept::Whole { end })
                .map_err(|error| error.to_string()),
            false => Ok(Kept::Part(Box::new(part))),
        }
    }

    fn feed(&self, hello: &Hello) -> Option<Box<dyn TraceFeed>> {
        let feed = self.feed.as_ref();
        feed.map(|feed| feed.begin(hello.identity, &hello.name))
    }

    /// Takes the file's header.
    pub fn take_header(&self, kept: &mut Kept, header: &[u8], identity: &Identity) -> Result<(), String> {
        match check_file_header(Path::new("the stream"), header) {
            Ok(found) if found == *identity => {
                *kept = Kept::Nothing { header: true };
                Ok(())
            }
            Ok(_) => Err("the trace has another identity than its sender said".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Takes a chunk; the first one creates the file, the end chunk completes it. Returns how much of the trace is here
    /// now, bytes; of that, what has waited since [`Slot::settle`] is not safe yet.
    pub fn take_chunk(
        &self,
        kept: &mut Kept,
        hello: &Hello,
        header: &ChunkHeader,
        chunk: &[u8],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<u64, PartError> {
        // Should it fail and the sender come back, the file is looked at anew.
        let mut part = match std::mem::replace(kept, Kept::Unknown) {
            Kept::Part(part) => part,
            Kept::Whole { end } => {
                *kept = Kept::Whole { end };
                return Ok(end);
            }
            Kept::Unknown | Kept::Nothing { .. } if !self.claim() => return Err(PartError::Stopped),
            Kept::Unknown | Kept::Nothing { .. } => Box::new(self.begin(hello)?),
        };
        part.take(header, chunk)?;
        let position = part.position();
        *kept = match header.kind {
            ChunkKind::End => {
                part.settle(self.sync, goes_on)?;
                part.complete()?;
                Kept::Whole { end: position }
            }
            _ => Kept::Part(part),
        };
        Ok(position)
    }

    fn begin(&self, hello: &Hello) -> Result<Part, PartError> {
        let file = match self.has_file {
            true => Some(TraceWriter::create_identified(
                &self.path,
                self.force,
                CODEC,
                hello.identity,
            )?),
            false => None,
        };
        Ok(Part::new(file, self.feed(hello), FILE_HEADER_LENGTH as u64))
    }

    /// Must be called before an acknowledgement.
    pub fn settle(&self, kept: &mut Kept, goes_on: &dyn Fn() -> bool) -> Result<(), PartError> {
        match kept {
            Kept::Part(part) => part.settle(self.sync, goes_on),
            _ => Ok(()),
        }
    }

    pub fn is_fed(&self) -> bool {
        self.feed.is_some()
    }

    /// How many bytes, at most, may wait for their acknowledgement while more is here already.
    pub fn longest_lag(&self) -> u64 {
        match self.is_fed() {
            true => LONGEST_FED_LAG,
            false => LONGEST_LAG,
        }
    }
}

/// The identity of the trace in a file.
fn identity_of(path: &Path) -> io::Result<Identity> {
    let no_trace = |_| io::Error::new(io::ErrorKind::InvalidData, "it is no trace");
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut header = [0; FILE_HEADER_LENGTH];
    File::open(path)?.read_exact(&mut header)?;
    check_file_header(path, &header).map_err(no_trace)
}

/// `PROGRAM-IDENTITY.trackway`; it is a valid name whatever the sender calls its program.
fn file_name(hello: &Hello) -> String {
    let is_harmless = |letter: char| letter.is_alphanumeric() || "._+-".contains(letter);
    let program: String = hello
        .name
        .trim_start_matches('.')
        .chars()
        .map(|letter| if is_harmless(letter) { letter } else { '_' })
        .take(LONGEST_NAME)
        .collect();
    let program = if program.is_empty() { "program" } else { &program };
    let identity = trackway_trace::hexadecimal(&hello.identity[..8]);
    format!("{program}-{identity}.trackway")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(program: &str) -> String {
        file_name(&Hello {
            identity: [0xab; 16],
            first: 0,
            name: program.to_owned(),
        })
    }

    #[test]
    fn files_are_named_after_program_and_identity() {
        assert_eq!(name("prog"), "prog-abababababababab.trackway");
        assert_eq!(name("ü b"), "ü_b-abababababababab.trackway");
    }

    #[test]
    fn names_of_senders_cannot_leave_the_folder() {
        assert_eq!(
            name("../../etc/passwd"),
            "_.._etc_passwd-abababababababab.trackway"
        );
        assert_eq!(name("a\0b\n"), "a_b_-abababababababab.trackway");
        assert_eq!(name(".."), "program-abababababababab.trackway");
        assert!(name(&"ü".repeat(500)).len() < 255);
    }
}
