//! What threads have recorded in buffers that they keep: it is copied when the recorder leaves a program that goes on, and
//! for a snapshot.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use trackway_trace::chunk::FLAG_TAIL;
use trackway_trace::{ChunkFields, ChunkKind};

use super::{Collector, Description, Turn};
use crate::abi;
use crate::encoding::Payload;
use crate::ring::BufferWords;

/// How long threads are given that wait for a buffer.
const PATIENCE: Duration = Duration::from_millis(100);
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

impl Collector<'_> {
    /// Takes all that was recorded in windows that are closed now. Nothing may be collected afterwards.
    pub fn take_last(&mut self) {
        let (closed_ns, deadline) = (self.clock.now_ns(), Instant::now() + PATIENCE);
        // Threads take no further buffers, but for those that waited for one when the window closed.
        while self.collect() > 0 || self.ring.has_waiters() && Instant::now() < deadline {
            std::thread::sleep(SHORTEST_WAIT);
        }
        let kept = self.kept();
        let copied: HashSet<usize> = kept
            .iter()
            .filter(|(index, words)| self.copy(*index, words, closed_ns))
            .map(|(index, _)| *index)
            .collect();
        self.has_left = true;
        // Buffers that were handed over just now.
        for (index, buffer) in self.full_buffers(|index| !copied.contains(&index)) {
            self.take_in_turn(index, &buffer);
        }
    }

    /// Buffers of streams that threads keep.
    fn kept(&self) -> Vec<(usize, BufferWords)> {
        let is_kept = |words: &BufferWords| {
            words.state == abi::OWNED
                && words.pid != 0
                && matches!(words.kind, abi::KIND_RECORDS | abi::KIND_ORACLE_RECORDS)
        };
        self.ring
            .all_words()
            .filter(|(_, words)| is_kept(words))
            .collect()
    }

    /// False if it isn't kept any more.
    fn copy(&mut self, index: usize, words: &BufferWords, closed_ns: u64) -> bool {
        let Some((buffer, bytes)) = self.copied(index, words) else {
            return false;
        };
        if bytes.is_empty() {
            return true;
        }
        let fields = self.begin_chunk(&buffer);
        self.note_bytes(fields.kind, bytes.len());
        self.push_copy(fields, bytes, closed_ns);
        true
    }

    /// None if it isn't kept any more, or if it isn't the turn of what is there.
    fn copied(&self, index: usize, words: &BufferWords) -> Option<(Description, Vec<u8>)> {
        let buffer = Description::new(words, self.clock);
        let is_next = buffer.is_possible(self.ring.buffer_size())
            && self.processes.has_room_for(buffer.image)
            && matches!(self.turn(index, &buffer), Turn::Now);
        let kind = match words.kind {
            abi::KIND_RECORDS => ChunkKind::Records,
            _ => ChunkKind::OracleRecords,
        };
        let bytes = self.ring.copied(index, words, self.size_for(kind))?;
        is_next.then_some((buffer, bytes))
    }

    fn push_copy(&mut self, mut fields: ChunkFields, mut bytes: Vec<u8>, until_ns: u64) {
        fields.flags |= FLAG_TAIL;
        fields.last_ns = until_ns.max(fields.first_ns);
        bytes.resize(self.tail_length(fields.kind, bytes.len()), 0);
        self.queue.push(fields, Payload::Bytes(bytes));
    }

    /// Copies what threads have recorded before that time and still keep, for a snapshot: a flight recorder forgets the
    /// copy when the buffer comes. Returns of how many threads that couldn't be.
    pub(super) fn copy_newest(&mut self, before_ticks: u64) -> usize {
        let is_older =
            |words: &BufferWords| words.kind == abi::KIND_RECORDS && words.first_ticks < before_ticks;
        let mut kept = self.kept();
        kept.retain(|(_, words)| is_older(words));
        let copied = kept
            .iter()
            .filter(|(index, words)| self.copy_for_snapshot(*index, words));
        kept.len() - copied.count()
    }

    /// Machine code is left out: what its records mean is handed over with the buffer only.
    fn copy_for_snapshot(&mut self, index: usize, words: &BufferWords) -> bool {
        let Some((buffer, bytes)) = self.copied(index, words) else {
            return false;
        };
        if self.code.contains_key(&buffer.image) {
            return false;
        }
        if !bytes.is_empty() {
            let fields = self.fields_of(&buffer);
            self.push_copy(fields, bytes, self.clock.now_ns());
        }
        true
    }
}
