//! The same from the definitions alone: blocks in a list, one access after the other.

use std::collections::HashMap;

use trackway_trace::{Decoder, Event, MergedStreams, Trace};

use crate::scene::{SITES, STATICS, STATIC_BYTES};

/// A block, and what happened to it.
#[derive(Debug, Clone)]
pub struct Block {
    pub start: u64,
    pub bytes: u64,
    pub site: usize,
    thread: u32,
    pub inherited: bool,
    late: u32,
    pub accesses: u64,
    pub accessed_bytes: u64,
    pub begin: u64,
    pub begin_ns: u64,
    /// How it ended, after how many accesses, and when.
    pub end: Option<(&'static str, u64, u64)>,
}

impl Block {
    fn holds(&self, address: u64) -> bool {
        self.end.is_none() && address >= self.start && u128::from(address) < self.behind()
    }

    /// No block holds the last address of all.
    fn behind(&self) -> u128 {
        (u128::from(self.start) + u128::from(self.bytes.max(1))).min(u128::from(u64::MAX))
    }
}

#[derive(Debug, Clone, Default)]
struct Process {
    blocks: Vec<Block>,
    /// Thread and address.
    stacks: Vec<(u32, u64)>,
}

/// An access of a piece of memory.
#[derive(Debug, Clone)]
pub struct Touch {
    pub owner: String,
    pub stream: u32,
    pub address: u64,
    pub time_ns: u64,
    pub is_write: bool,
    /// 0 if the access was counted by an earlier piece of it.
    pub accesses: u64,
    pub bytes: u64,
    /// Whether a cache of 8 lines of 64 bytes missed it.
    pub missed: bool,
}

/// What blocks were live from some time on, by site: blocks and bytes.
#[derive(Debug, Clone)]
pub struct Moment {
    pub time_ns: u64,
    pub live: [(u64, u64); SITES.len()],
    pub is_allocation: bool,
}

#[derive(Debug, Default)]
pub struct Reference {
    processes: HashMap<u32, Process>,
    caches: HashMap<u32, HashMap<u64, u64>>,
    pub touches: Vec<Touch>,
    pub moments: Vec<Moment>,
    live: [(u64, u64); SITES.len()],
    pub failed: [u64; SITES.len()],
    pub unknown: u64,
    pub accesses: u64,
}

/// Accesses of each chunk by stream and sequence.
fn chunk_counts(trace: &Trace) -> HashMap<(u32, u64), u64> {
    let mut counts = HashMap::new();
    let mut decoder = Decoder::new(trace);
    for stream in trace.streams() {
        for chunk in &stream.chunks {
            let mut batches = decoder.decode(chunk).unwrap();
            let count: &mut u64 = counts.entry((stream.id, chunk.header.sequence)).or_default();
            while let Some(batch) = batches.next_batch().unwrap() {
                *count += batch.len() as u64;
            }
        }
    }
    counts
}

fn times_of(trace: &Trace, stream: u32, sequence: u64) -> (u64, u64) {
    let stream = trace.stream(stream).unwrap();
    let chunk = stream
        .chunks
        .iter()
        .find(|chunk| chunk.header.sequence == sequence)
        .unwrap();
    (chunk.header.first_ns, chunk.header.last_ns)
}

impl Reference {
    pub fn new(trace: &Trace) -> Self {
        let counts = chunk_counts(trace);
        let mut reference = Reference::default();
        let mut done: HashMap<(u32, u64), u64> = HashMap::new();
        let mut merged = MergedStreams::new(trace);
        while let Some(batch) = merged.next_batch().unwrap() {
            let chunk = (batch.stream, batch.sequence);
            let (first, last) = times_of(trace, chunk.0, chunk.1);
            let before = done.get(&chunk).copied().unwrap_or(0);
            done.insert(chunk, before + batch.len() as u64);
            let time = |index: u64| match counts[&chunk] {
                0 => last,
                count => first + (u128::from(last - first) * u128::from(index) / u128::from(count)) as u64,
            };
            if !reference.processes.contains_key(&batch.process) {
                reference.fork(batch.process);
            }
            let mut marks = batch.marks.iter().peekable();
            for index in 0..=batch.len() {
                let time_ns = time(before + index as u64);
                while let Some(mark) = marks.next_if(|mark| mark.before as usize == index) {
                    reference.event(&batch.event(*mark), batch.process, batch.stream, time_ns);
                }
                if index < batch.len() {
                    let site = trace.program().site(batch.site[index]);
                    let local = site.variable_kind.name() == "local";
                    let (address, length) = (batch.address[index], batch.length(index));
                    let who = (batch.process, batch.stream);
                    reference.access(who, address, length, site.kind.writes(), local, time_ns);
                }
            }
        }
        reference
    }

    fn fork(&mut self, number: u32) {
        let mut process = match number {
            0 => Process::default(),
            _ => self.processes.get(&0).cloned().unwrap_or_default(),
        };
        process.blocks.retain(|block| block.end.is_none());
        for block in &mut process.blocks {
            (block.inherited, block.accesses, block.accessed_bytes) = (true, 0, 0);
        }
        self.processes.insert(number, process);
    }

    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.processes.values().flat_map(|process| &process.blocks)
    }

    fn event(&mut self, event: &Event, process: u32, thread: u32, time_ns: u64) {
        match *event {
            Event::Allocate {
                site,
                address,
                element_size,
                count,
            } => match address {
                0 | u64::MAX => self.failed[site.index()] += 1,
                _ => self.allocate(
                    process,
                    thread,
                    site.index(),
                    address,
                    element_size * count,
                    time_ns,
                ),
            },
            Event::Free { address, .. } => self.release(process, thread, address, "freed", time_ns),
            Event::Reallocate {
                site,
                old_address,
                new_address,
                element_size,
                count,
            } => match (new_address, element_size * count) {
                (0 | u64::MAX, 0) => self.release(process, thread, old_address, "freed", time_ns),
                (0 | u64::MAX, _) => self.failed[site.index()] += 1,
                (_, bytes) => {
                    self.release(process, thread, old_address, "freed", time_ns);
                    self.allocate(process, thread, site.index(), new_address, bytes, time_ns);
                }
            },
            _ => {}
        }
    }

    fn allocate(&mut self, process: u32, thread: u32, site: usize, start: u64, bytes: u64, time_ns: u64) {
        let mut block = Block {
            start,
            bytes,
            site,
            thread,
            inherited: false,
            late: 0,
            accesses: 0,
            accessed_bytes: 0,
            begin: self.accesses,
            begin_ns: time_ns,
            end: None,
        };
        let overlaps = |other: &Block| {
            other.end.is_none()
                && u128::from(other.start) < block.behind()
                && other.behind() > u128::from(start)
        };
        let blocks = &self.processes[&process].blocks;
        let old: Vec<usize> = (0..blocks.len())
            .filter(|index| overlaps(&blocks[*index]))
            .collect();
        for index in old {
            let old = &self.processes[&process].blocks[index];
            if old.start == start {
                block.late = old.late + 1;
            }
            self.end(process, index, "overlapped", time_ns);
        }
        self.live[site].0 += 1;
        self.live[site].1 += bytes;
        self.note(time_ns, true);
        self.processes.get_mut(&process).unwrap().blocks.push(block);
    }

    fn release(&mut self, process: u32, thread: u32, address: u64, how: &'static str, time_ns: u64) {
        let blocks = &mut self.processes.get_mut(&process).unwrap().blocks;
        let found = blocks
            .iter()
            .position(|block| block.end.is_none() && block.start == address);
        match found {
            _ if address == 0 => {}
            None => self.unknown += 1,
            Some(index) if blocks[index].late > 0 && blocks[index].thread != thread => {
                blocks[index].late -= 1
            }
            Some(index) => self.end(process, index, how, time_ns),
        }
    }

    fn end(&mut self, process: u32, index: usize, how: &'static str, time_ns: u64) {
        let block = &mut self.processes.get_mut(&process).unwrap().blocks[index];
        block.end = Some((how, self.accesses, time_ns));
        if !block.inherited {
            self.live[block.site].0 -= 1;
            self.live[block.site].1 -= block.bytes;
            self.note(time_ns, false);
        }
    }

    fn note(&mut self, time_ns: u64, is_allocation: bool) {
        self.moments.push(Moment {
            time_ns,
            live: self.live,
            is_allocation,
        });
    }

    fn access(
        &mut self,
        who: (u32, u32),
        address: u64,
        length: u64,
        is_write: bool,
        local: bool,
        time_ns: u64,
    ) {
        self.accesses += 1;
        let blocks = &mut self.processes.get_mut(&who.0).unwrap().blocks;
        if let Some(block) = blocks.iter_mut().find(|block| block.holds(address)) {
            block.accesses += 1;
            block.accessed_bytes += length;
        }
        let (mut at, end) = (u128::from(address), u128::from(address) + u128::from(length));
        let end = end.min(1 << 64);
        let mut accesses = 1;
        while at < end || accesses == 1 {
            let next = (at / 64 * 64 + 64).min(end);
            let piece = at as u64;
            let touch = Touch {
                owner: self.owner(who, piece, local && accesses == 1),
                stream: who.1,
                address: piece,
                time_ns,
                is_write,
                accesses,
                bytes: (next - at) as u64,
                missed: self.misses(who.1, piece / 64),
            };
            self.touches.push(touch);
            (accesses, at) = (0, next);
        }
    }

    /// Each thread has a cache of one set.
    fn misses(&mut self, thread: u32, line: u64) -> bool {
        let cache = self.caches.entry(thread).or_default();
        cache.insert(line % 8, line) != Some(line)
    }

    fn owner(&mut self, (number, thread): (u32, u32), address: u64, local: bool) -> String {
        let process = self.processes.get_mut(&number).unwrap();
        if let Some(block) = process.blocks.iter().find(|block| block.holds(address)) {
            return SITES[block.site].to_owned();
        }
        let holds = |start: u64| address >= start && address - start < STATIC_BYTES;
        if let Some((name, _)) = STATICS.iter().find(|(_, start)| holds(*start)) {
            return (*name).to_owned();
        }
        let page = address / 4096 * 4096;
        let above = process
            .stacks
            .iter()
            .filter(|(_, anchor)| anchor.saturating_add(64 << 10) >= page);
        let nearest = above.min_by_key(|(_, anchor)| *anchor).copied();
        if let Some((thread, _)) = nearest.filter(|(_, anchor)| page >= anchor.saturating_sub(7 << 20)) {
            return format!("stack of thread {thread}");
        }
        if local && !process.stacks.iter().any(|stack| stack.0 == thread) {
            process.stacks.push((thread, page));
            return format!("stack of thread {thread}");
        }
        "other memory".to_owned()
    }
}
