//! One connection: greets the sender, takes its chunks and acknowledges them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use trackway_trace::chunk::HEADER_LENGTH;
use trackway_trace::{ChunkHeader, ChunkKind, FILE_HEADER_LENGTH, MAX_RAW_LENGTH};
use xxhash_rust::xxh3::xxh3_64;

use super::part::PartError;
use super::trace_store::{Kept, Slot};
use super::visitors::Stage;
use super::{CollectEvent, Server};
use crate::streaming::connection::{is_timeout, Connection};
use crate::streaming::protocol::{Hello, Reply, FAREWELL};

const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// Between chunks a sender may be silent for as long as its program computes, but not within one.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a sender may not read its acknowledgements.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);
const READ_BUFFER: usize = 256 << 10;
/// Memory for chunks that is kept from one to the next.
const KEPT_ROOM: usize = 16 << 20;

/// Takes what one visitor brings.
pub fn receive(server: &Server, visitor: u64, connection: &Connection) {
    let mut session = Session {
        server,
        visitor,
        connection,
        source: BufReader::with_capacity(READ_BUFFER, connection),
        chunk: Vec::new(),
        acknowledged: 0,
    };
    let hello = match session.greet() {
        Ok(hello) => hello,
        Err(error) => {
            if error.kind() == io::ErrorKind::Unsupported {
                session.refuse(&format!("the sender does not fit: {error}"));
            } else {
                session.reject(&error.to_string());
            }
            return;
        }
    };
    server.note(visitor, Stage::Greeted);
    match server.trace_store.slot(&hello) {
        Err(reason) => session.refuse(&reason),
        Ok(slot) => {
            session.visit(&slot, &hello);
            slot.leave(visitor);
            server.trace_store.forget_if_empty(&hello.identity, slot);
        }
    }
}

struct Session<'h, 'o> {
    server: &'h Server<'o>,
    visitor: u64,
    connection: &'h Connection,
    source: BufReader<&'h Connection>,
    /// The present chunk, with its header.
    chunk: Vec<u8>,
    acknowledged: u64,
}

/// Why no more comes over a connection.
enum Ending {
    /// The sender knows that everything is here.
    Farewell,
    Interrupted(String),
    /// The collector can't go on; the sender is told why.
    Refused(String),
}

impl From<PartError> for Ending {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Stopped => Self::Interrupted("the collector ends".into()),
            PartError::Failed(why) => Self::Refused(why),
        }
    }
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Interrupted("it was cut within a chunk".into()),
            _ if is_timeout(&error) => Self::Interrupted("it stopped within a chunk".into()),
            _ => Self::Interrupted(error.to_string()),
        }
    }
}

impl Session<'_, '_> {
    fn greet(&mut self) -> io::Result<Hello> {
        self.connection.set_timeouts(HELLO_TIMEOUT, REPLY_TIMEOUT)?;
        Hello::read(&mut self.source)
    }

    fn reject(&self, why: &str) {
        if !self.server.closing.load(Relaxed) {
            (self.server.on_event)(CollectEvent::Rejected { why });
        }
    }

    /// The sender learns the reason, if it listens.
    fn refuse(&mut self, reason: &str) {
        self.reject(reason);
        let _ = self.reply(&Reply::Refusal(reason.to_owned()));
    }

    fn reply(&mut self, reply: &Reply) -> io::Result<()> {
        let mut connection = self.connection;
        connection.write_all(&reply.to_bytes())
    }

    fn visit(&mut self, slot: &Slot, hello: &Hello) {
        let Ok(connection) = self.connection.try_clone() else {
            return self.reject("there are too many open files");
        };
        slot.take_over(self.visitor, connection);
        if slot.is_displaced() {
            return; // it may come again
        }
        let mut kept = slot.lock();
        let position = match slot.open(&mut kept, hello) {
            Ok(position) if position >= hello.first => position,
            Ok(position) => {
                return self.refuse(&format!(
                "only {position} bytes of it are at the collector, and its sender has forgotten all before \
                     {}; do not remove traces that are being written",
                hello.first
            ))
            }
            Err(reason) => return self.refuse(&reason),
        };
        if position > 0 && matches!(*kept, Kept::Part(_)) {
            (self.server.on_event)(CollectEvent::Resumed {
                path: &slot.path,
                position,
            });
        }
        match self.take_trace(slot, &mut kept, hello, position) {
            Ending::Farewell => slot.note_farewell(),
            Ending::Refused(reason) => self.refuse(&reason),
            Ending::Interrupted(why) => {
                if matches!(*kept, Kept::Part(_)) && !self.server.closing.load(Relaxed) {
                    (self.server.on_event)(CollectEvent::Interrupted {
                        path: &slot.path,
                        position: self.acknowledged,
                        why: &why,
                    });
                }
            }
        }
    }

    /// Takes all that comes, from `position` of the trace on.
    fn take_trace(&mut self, slot: &Slot, kept: &mut Kept, hello: &Hello, position: u64) -> Ending {
        let begun = self
            .connection
            .set_timeouts(CHUNK_TIMEOUT, REPLY_TIMEOUT)
            .map_err(Ending::from)
            .and_then(|()| self.acknowledge(slot, kept, position));
        if let Err(ending) = begun {
            return ending;
        }
        loop {
            if let Err(ending) = self.take_next(slot, kept, hello) {
                // What has come is kept, although the sender can't be told any more.
                let settled = slot.settle(kept, &|| self.goes_on());
                return settled.map_or_else(Ending::from, |()| ending);
            }
        }
    }

    /// Takes the header, a chunk or the farewell, whichever is next.
    fn take_next(&mut self, slot: &Slot, kept: &mut Kept, hello: &Hello) -> Result<(), Ending> {
        match kept {
            Kept::Whole { .. } => Err(self.take_farewell()),
            Kept::Unknown | Kept::Nothing { header: false } => {
                self.wait_for_more()?;
                let mut header = [0; FILE_HEADER_LENGTH];
                self.source.read_exact(&mut header)?;
                slot.take_header(kept, &header, &hello.identity)
                    .map_err(Ending::Refused)
            }
            Kept::Nothing { header: true } | Kept::Part(_) => {
                self.wait_for_more()?;
                let header = self.read_chunk()?;
                self.server.note(self.visitor, Stage::BringsChunks);
                let is_first = matches!(kept, Kept::Nothing { .. });
                let position = slot.take_chunk(kept, hello, &header, &self.chunk, &|| self.goes_on())?;
                self.tell(slot, kept, is_first, position);
                self.chunk.shrink_to(KEPT_ROOM);
                match self.has_more(slot) && position - self.acknowledged < slot.longest_lag() {
                    true => Ok(()),
                    false => self.acknowledge(slot, kept, position),
                }
            }
        }
    }

    fn tell(&self, slot: &Slot, kept: &Kept, is_first: bool, position: u64) {
        let path = &slot.path;
        if is_first {
            (self.server.on_event)(CollectEvent::Began { path });
        }
        if matches!(kept, Kept::Whole { .. }) {
            (self.server.on_event)(CollectEvent::Completed {
                path,
                bytes: position,
            });
        }
    }

    fn goes_on(&self) -> bool {
        !self.server.closing.load(Relaxed)
    }

    fn acknowledge(&mut self, slot: &Slot, kept: &mut Kept, position: u64) -> Result<(), Ending> {
        slot.settle(kept, &|| self.goes_on())?;
        self.reply(&Reply::Position(position))?;
        self.acknowledged = position;
        Ok(())
    }

    fn take_farewell(&mut self) -> Ending {
        let mut farewell = [0; FAREWELL.len()];
        match self.source.read_exact(&mut farewell) {
            Ok(()) if farewell == *FAREWELL => Ending::Farewell,
            Ok(()) => Ending::Interrupted("something came behind the end".into()),
            Err(error) => error.into(),
        }
    }

    /// Waits, however long, until a byte is there to be read.
    fn wait_for_more(&mut self) -> Result<(), Ending> {
        loop {
            match self.source.fill_buf() {
                Ok([]) => return Err(Ending::Interrupted("its sender closed it".into())),
                Ok(_) => return Ok(()),
                Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether it is better to take the next chunk than to acknowledge the last one. With a feed, a chunk that has
    /// begun to arrive is waited for.
    fn has_more(&self, slot: &Slot) -> bool {
        match slot.is_fed() {
            true => !self.source.buffer().is_empty() || self.connection.has_input(),
            false => self.has_next_chunk(),
        }
    }

    /// Whether all of the next chunk has come already.
    fn has_next_chunk(&self) -> bool {
        let come = self.source.buffer();
        come.first_chunk()
            .and_then(|header| ChunkHeader::from_bytes(header).ok())
            .is_some_and(|header| header.chunk_length() <= come.len() as u64)
    }

    /// Reads a chunk and checks it. Memory is taken only as its bytes come.
    fn read_chunk(&mut self) -> Result<ChunkHeader, Ending> {
        let bad = |what: &str| Ending::Interrupted(format!("it brought a damaged chunk: {what}"));
        let mut bytes = [0; HEADER_LENGTH];
        self.source.read_exact(&mut bytes)?;
        let header = ChunkHeader::from_bytes(&bytes).map_err(|_| bad("its header is wrong"))?;
        if header.stored_length > MAX_RAW_LENGTH {
            return Err(bad("it is too long"));
        }
        if header.kind == ChunkKind::Index {
            return Err(bad("the index is the collector's"));
        }
        self.chunk.clear();
        self.chunk.extend_from_slice(&bytes);
        let stored_length = u64::from(header.stored_length);
        let read = self
            .source
            .by_ref()
            .take(stored_length)
            .read_to_end(&mut self.chunk)?;
        if (read as u64) < stored_length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        match xxh3_64(&self.chunk[HEADER_LENGTH..]) == header.payload_checksum {
            true => Ok(header),
            false => Err(bad("its checksum is wrong")),
        }
    }
}
