//! Where encoded chunks go, and what is known of those that got lost there.

mod beginning;
mod counting;
mod file;
mod first_part;
pub mod flight;
mod missing;

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use trackway_trace::{
    Chunk, ChunkEncoder, ChunkFields, ChunkKind, Codec, EndInfo, TraceError, FILE_HEADER_LENGTH,
};

use crate::options::{Compression, Flight, Output, RecordOptions};
use crate::streaming::Sender;
use crate::{Loss, RecordError};
use beginning::Beginning;
use counting::AccessCounter;
use file::FileSink;
use flight::{FlightSink, SnapshotBoard, SnapshotRequest};
use missing::Missing;

pub use counting::Counted;

/// What happened, to which trace, and what to do, for the user.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// What takes the chunks of a recording, one after the other.
pub trait ChunkSink: Send {
    /// Called first. The flag is set when the user wants to stop waiting and only the sink is left to wait for. The
    /// sink should then give up what takes long.
    fn heed(&mut self, _impatience: Arc<AtomicBool>) {}

    /// Takes the next chunk. It may block; the program's buffers fill up meanwhile. After an error it is given nothing
    /// more, unless it revives.
    fn append(&mut self, chunk: &Chunk) -> Result<(), SinkError>;

    /// What becomes of snapshots; none if this is no flight recorder.
    fn snapshots(&self) -> Option<Arc<SnapshotBoard>> {
        None
    }

    /// Writes what it holds of the newest records.
    fn snapshot(&mut self, _request: SnapshotRequest) {}

    /// Another part of the recording begins: what a thread recorded into a buffer that it took before that time belongs
    /// to the part before.
    fn begin_part(&mut self, _from_ns: u64) {}

    /// Takes the trace's end. It is the last chunk.
    fn end(&mut self, end: &EndInfo, encoder: &mut ChunkEncoder) -> Result<(), SinkError> {
        let json = serde_json::to_vec(end)?;
        self.append(&encoder.encode(&ChunkFields::new(ChunkKind::End), &json)?)
    }

    /// Whether it takes chunks again after an error, beginning with those that say what is missing. Called once, at the
    /// end of the recording.
    fn revive(&mut self) -> bool {
        false
    }

    /// Ends the trace, whose end chunk it was given last. Returns the length of the trace, bytes.
    fn finish(&mut self) -> Result<u64, SinkError>;

    /// The program could not be started: there is to be no trace.
    fn cancel(&mut self) {}
}

/// Passes the recorder's chunks to their sink, if there is one. After an error it counts what gets lost.
pub struct Sink {
    chunks: Option<Box<dyn ChunkSink>>,
    /// Encodes the chunks that the sink itself makes.
    encoder: ChunkEncoder,
    /// What isn't kept; none if all is.
    beginning: Option<Beginning>,
    /// Counts the accesses of what is kept, and what it counted last. None: nobody asks.
    counter: Option<(AccessCounter, Counted)>,
    failure: Option<String>,
    missing: Missing,
    chunk_count: u64,
    stored_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Yes,
    /// This chunk could not be written; the earlier ones were.
    FirstFailure,
    No,
}

pub fn codec(compression: Compression) -> Codec {
    match compression {
        Compression::None => Codec::None,
        Compression::Lz4 => Codec::Lz4,
        Compression::Zstd => Codec::Zstd,
        Compression::Auto | Compression::Columns => Codec::Columns,
    }
}

/// What the options name; none if chunks are to be discarded.
pub fn open(options: &RecordOptions) -> Result<Option<Box<dyn ChunkSink>>, RecordError> {
    Ok(match &options.output {
        Output::Discard => None,
        Output::File { force, .. } if options.flight.is_some() => options
            .flight
            .map(|limits| flight_sink(options, limits, *force))
            .transpose()?,
        Output::File { path, force } => Some(Box::new(FileSink::create(
            path,
            *force,
            codec(options.compression),
        )?)),
        Output::Collector(route) => Some(Box::new(Sender::connect(
            route,
            &options.program,
            options.notify,
        )?)),
    })
}

fn flight_sink(
    options: &RecordOptions,
    limits: Flight,
    force: bool,
) -> Result<Box<dyn ChunkSink>, RecordError> {
    let codec = codec(options.compression);
    let sink = FlightSink::new(limits, force, codec, options.notify);
    Ok(Box::new(match (options.windows.most_bytes, &options.output) {
        (Some(_), Output::File { path, .. }) => sink.with_first_part(FileSink::create(path, force, codec)?),
        _ => sink,
    }))
}

impl Sink {
    /// `skips`: until another part begins, accesses are only counted.
    pub fn new(
        chunks: Option<Box<dyn ChunkSink>>,
        compression: Compression,
        skips: bool,
    ) -> Result<Self, TraceError> {
        Ok(Self {
            chunks,
            encoder: ChunkEncoder::new(codec(compression))?,
            beginning: skips.then(Beginning::default),
            counter: None,
            failure: None,
            missing: Missing::default(),
            chunk_count: 0,
            stored_bytes: 0,
        })
    }

    /// Counts the accesses of each chunk from now on.
    pub fn count_accesses(&mut self) {
        self.counter = Some(Default::default());
    }

    /// What the last chunk held.
    pub fn last_counted(&self) -> Counted {
        self.counter
            .as_ref()
            .map_or(Counted::default(), |(_, counted)| *counted)
    }

    pub fn heed(&mut self, impatience: &Arc<AtomicBool>) {
        if let Some(chunks) = &mut self.chunks {
            chunks.heed(Arc::clone(impatience));
        }
    }

    pub fn snapshots(&self) -> Option<Arc<SnapshotBoard>> {
        self.chunks.as_ref()?.snapshots()
    }

    pub fn snapshot(&mut self, request: SnapshotRequest) {
        if let Some(chunks) = &mut self.chunks {
            chunks.snapshot(request);
        }
    }

    pub fn begin_part(&mut self, from_ns: u64) {
        if let Some(beginning) = &mut self.beginning {
            beginning.end_at(from_ns);
        }
        if let Some(chunks) = &mut self.chunks {
            chunks.begin_part(from_ns);
        }
    }

    /// Accesses that were counted and not kept.
    pub fn passed_accesses(&self) -> u64 {
        self.beginning.as_ref().map_or(0, Beginning::accesses)
    }

    pub fn discards(&self) -> bool {
        self.chunks.is_none()
    }

    /// Writes a chunk, if it could be encoded and nothing failed before.
    pub fn append(&mut self, encoded: Result<Option<Chunk>, TraceError>) -> Written {
        let Some(chunks) = &mut self.chunks else {
            return Written::Yes;
        };
        let failed_before = self.failure.is_some();
        let chunk = match encoded {
            Ok(None) => return Written::Yes,
            Ok(Some(chunk)) => chunk,
            Err(error) => {
                self.missing.note_unencoded();
                return self.fail(error.to_string());
            }
        };
        let kept = match &mut self.beginning {
            Some(beginning) => beginning.kept(chunk),
            None => Some(chunk),
        };
        let Some(chunk) = kept else {
            return Written::Yes;
        };
        if let Some((counter, counted)) = &mut self.counter {
            *counted = counter.take(&chunk);
        }
        if failed_before {
            self.missing.note_lost(&chunk);
            return Written::No;
        }
        match chunks.append(&chunk) {
            Ok(()) => {
                self.missing.note_written(&chunk.header);
                self.chunk_count += 1;
                self.stored_bytes += chunk.header.chunk_length();
                Written::Yes
            }
            Err(error) => {
                self.missing.note_lost(&chunk);
                self.fail(error.to_string())
            }
        }
    }

    fn fail(&mut self, message: String) -> Written {
        if self.failure.is_some() {
            return Written::No;
        }
        self.failure = Some(message);
        Written::FirstFailure
    }

    /// Writes the end chunk and ends the trace. After a failure, only if what takes the chunks has come back.
    pub fn finish(&mut self, end: &EndInfo) {
        let Some(mut chunks) = self.chunks.take() else {
            return;
        };
        self.stored_bytes += FILE_HEADER_LENGTH as u64;
        if self.failure.is_some() && !chunks.revive() {
            return;
        }
        if let Err(error) = self.end_trace(chunks.as_mut(), end) {
            self.failure.get_or_insert(error.to_string());
        }
    }

    fn end_trace(&mut self, chunks: &mut dyn ChunkSink, end: &EndInfo) -> Result<(), SinkError> {
        let mut last_chunks = self.missing.chunks(&mut self.encoder)?;
        if let Some(beginning) = &self.beginning {
            let (fields, payload) = beginning.mark();
            let chunk = self.encoder.encode(&fields, &payload)?;
            last_chunks.push((chunk.header, chunk.stored.to_vec()));
        }
        for (header, stored) in &last_chunks {
            let header = *header;
            chunks.append(&Chunk { header, stored })?;
            self.chunk_count += 1;
        }
        let end = EndInfo {
            chunks: self.chunk_count,
            ..end.clone()
        };
        chunks.end(&end, &mut self.encoder)?;
        self.chunk_count += 1;
        self.stored_bytes = chunks.finish()?;
        Ok(())
    }

    pub fn chunks(&self) -> u64 {
        self.chunk_count
    }

    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// `never_handed_over`: buffers that the program wrote to its private memory after the failure.
    pub fn loss(&self, never_handed_over: u64) -> Option<Loss> {
        let buffers = self.missing.buffers() + never_handed_over;
        self.failure.clone().map(|message| Loss { buffers, message })
    }

    /// The program could not be started: nothing is left behind.
    pub fn cancel(self) {
        if let Some(mut chunks) = self.chunks {
            chunks.cancel();
        }
    }
}
