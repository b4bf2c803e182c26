//! A thread that encodes.

use std::sync::atomic::Ordering::Relaxed;

use trackway_trace::{ChunkEncoder, ChunkFields, ChunkKind, Effort};

use crate::encoding::jobs::{Payload, Work};
use crate::encoding::Output;
use crate::pace::{is_behind, timed};
use crate::ring::Ring;
use crate::sink::Written;
use crate::work::Meter;

pub struct Worker<'scope> {
    encoder: ChunkEncoder,
    output: &'scope Output,
    ring: &'scope Ring,
    /// How many encode at a time while the recorder is behind.
    threads: usize,
    /// The payload at hand, if it stood in the ring.
    bytes: Vec<u8>,
    meter: Meter,
}

impl<'scope> Worker<'scope> {
    pub fn new(
        mut encoder: ChunkEncoder,
        output: &'scope Output,
        ring: &'scope Ring,
        threads: usize,
    ) -> Self {
        Worker {
            meter: Meter::new(output.settings.measures, &mut encoder),
            encoder,
            output,
            ring,
            threads,
            bytes: Vec::new(),
        }
    }

    /// Works until the queue ends. `only_helps`: while the recorder is behind.
    pub fn run(mut self, only_helps: bool) {
        let (jobs, mut is_helping) = (&self.output.jobs, false);
        while let Some(job) = match only_helps {
            true => jobs.next_of_too_many(self.ring, &mut is_helping),
            false => jobs.next(),
        } {
            match job.work {
                Work::Chunk { fields, payload } => self.store(job.ticket, &fields, payload),
                Work::Snapshot(request) => self.output.in_turn(job.ticket, |sink| sink.snapshot(request)),
                Work::Part(from_ns) => self.output.in_turn(job.ticket, |sink| sink.begin_part(from_ns)),
            }
        }
        self.meter.work.encoding = self.encoder.times();
        self.output.add_work(self.meter.work);
    }

    fn store(&mut self, ticket: u64, fields: &ChunkFields, payload: Payload) {
        let held = payload.held_bytes();
        let payload = self.moved_out(payload);
        let (output, ring) = (self.output, self.ring);
        let effort = self.effort(fields.kind);
        let encoder = &mut self.encoder;
        let (chunk, took) = timed(|| match output.discard {
            true => Ok(None),
            false => encoder.encode_by(fields, &payload, effort).map(Some),
        });
        let mut stored_length = 0;
        if let Ok(Some(chunk)) = &chunk {
            stored_length = chunk.stored.len();
            self.meter.work.chunks.note(chunk);
            if fields.kind == ChunkKind::Records {
                output
                    .pace()
                    .note_encoded(effort, payload.len(), stored_length, took);
            }
        }
        let (written, took) = self
            .meter
            .step(|work| &mut work.writing, || output.write_in_turn(ticket, chunk));
        output.waiting_bytes.fetch_sub(held, Relaxed);
        if written == Written::FirstFailure {
            ring.stop();
        }
        self.meter.work.writing_wall += took;
        output.pace().note_written(stored_length, took);
        self.bytes = payload; // its memory serves again
    }

    fn moved_out(&mut self, payload: Payload) -> Vec<u8> {
        let (index, length) = match payload {
            Payload::Buffer { index, length } => (index, length),
            Payload::Bytes(bytes) => return bytes,
        };
        let (ring, discard) = (self.ring, self.output.discard);
        let mut bytes = std::mem::take(&mut self.bytes);
        self.meter.step(
            |work| &mut work.moving,
            || match discard {
                true => ring.discard(index, length),
                false => ring.move_out(index, length, &mut bytes),
            },
        );
        bytes
    }

    fn effort(&self, kind: ChunkKind) -> Effort {
        let is_hasty = kind == ChunkKind::Records && self.output.settings.keeps_pace && is_behind(self.ring);
        match is_hasty {
            true => self.output.pace().effort(self.threads),
            false => Effort::Full,
        }
    }
}
