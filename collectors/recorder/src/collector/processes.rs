//! The recorded processes in the trace: their beginnings, ends, and parents.

use trackway_trace::{encode_stacks, ChunkKind, GapReason, ProcessEvent, ProcessInfo};

use super::{Collector, Description};
use crate::processes::Image;
use crate::ring::BufferWords;
use crate::ProgramEnd;

/// Ancestors of a process that may begin in the trace together with it.
const MOST_GENERATIONS: u32 = 64;

impl Collector<'_> {
    /// Processes whose stream has begun, even if no buffer of theirs comes for a long time; and where its stack is.
    pub(super) fn notice_streams(&mut self) {
        let mut has_new_threads = false;
        let mut stacks = Vec::new();
        for slot in self.ring.slots(self.noticed) {
            let image = Image {
                pid: slot.pid,
                image: slot.image,
            };
            if image.pid == 0 || !self.processes.has_room_for(image) {
                break; // it is about to say
            }
            self.processes.notice(image);
            if let Some(address) = self.ring.stack_of(self.noticed) {
                stacks.push((self.noticed as u32, address)); // the ring's numbers have no more bits
            }
            self.noticed += 1;
            has_new_threads |= image.pid == self.program;
        }
        if has_new_threads {
            self.thread_stacks.look_at(self.program);
        }
        if !stacks.is_empty() {
            self.push_whole(ChunkKind::Stacks, 0, encode_stacks(&stacks));
        }
    }

    pub(super) fn process_number(&mut self, buffer: &Description) -> u32 {
        if !self.processes.is_numbered(buffer.image) {
            let words: Vec<BufferWords> = self.ring.all_words().map(|(_, words)| words).collect();
            self.number_earlier(buffer, &words, MOST_GENERATIONS);
        }
        self.number(buffer)
    }

    /// A child may hand over a buffer before its parent has filled its first one, and a program before what the process
    /// ran until exec. `words`: of all buffers, as they were.
    fn number_earlier(&mut self, buffer: &Description, words: &[BufferWords], generations: u32) {
        let Image { pid, image } = buffer.image;
        let is_earlier = |other: &BufferWords| match other.image == image {
            _ if other.pid == 0 => false,
            true => other.pid == buffer.parent_pid && other.pid != pid,
            false => other.pid == pid,
        };
        for other in words.iter().filter(|other| is_earlier(other)) {
            let other = Description::new(other, self.clock);
            let is_new = !self.processes.is_numbered(other.image) && self.processes.has_room_for(other.image);
            if other.first_ns < buffer.first_ns && is_new && generations > 0 {
                self.number_earlier(&other, words, generations - 1);
                self.number(&other);
            }
        }
    }

    fn number(&mut self, buffer: &Description) -> u32 {
        let process = self.processes.number(buffer.image, buffer.parent_pid);
        if process.is_new {
            let info = ProcessInfo {
                pid: buffer.image.pid,
                parent: process.parent,
                event: ProcessEvent::Start,
                exit_status: None,
                signal: None,
                monotonic_ns: buffer.first_ns,
            };
            self.push_json(ChunkKind::Process, process.number, &info);
            self.note_origin(buffer, process.parent.is_some());
        }
        process.number
    }

    /// `end`: known only of the program that the recorder started.
    pub fn push_process_end(&mut self, pid: u32, number: u32, end: Option<ProgramEnd>) {
        let (exit_status, signal) = end.map_or((None, None), ProgramEnd::parts);
        let info = ProcessInfo {
            pid,
            parent: None,
            event: ProcessEvent::Exit,
            exit_status,
            signal,
            monotonic_ns: self.clock.now_ns(),
        };
        self.push_json(ChunkKind::Process, number, &info);
    }

    /// The program that the recorder started has ended.
    pub fn push_program_end(&mut self, pid: u32, end: Option<ProgramEnd>) {
        if let Some(number) = self.processes.latest_number(pid) {
            self.push_process_end(pid, number, end);
        }
    }

    /// Streams of living processes go on unrecorded.
    pub fn note_unrecorded(&mut self) {
        for (stream, slot) in (0..).zip(self.ring.slots(0)) {
            let is_recorded = self
                .streams
                .get(&stream)
                .is_some_and(|state| !state.only_counts());
            if is_recorded && self.processes.lives(slot.pid) {
                self.push_gap(stream, 0, GapReason::RecordingStopped);
            }
        }
    }
}
