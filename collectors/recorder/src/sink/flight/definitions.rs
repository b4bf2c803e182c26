//! What records need: the start, modules, processes, and where threads' stacks are. Of a long run most processes and threads
//! have ended, and no record of them is held any more. They are let go.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use trackway_trace::chunk::FLAG_LAST;
use trackway_trace::{
    encode_stacks, read_stacks, Chunk, ChunkFields, ChunkHeader, ChunkKind, ProcessEvent, ProcessInfo,
    TraceError, TraceWriter,
};

/// What a chunk of a module takes beside its payload, and what a process and a thread take: bytes of memory.
pub const CHUNK_COST: u64 = 128;
pub const PROCESS_COST: u64 = 256;
pub const THREAD_COST: u64 = 64;
/// Who can go is looked for when this part of the limit has come since the last time, and a quarter of what was kept then.
const PART_BETWEEN_LOOKS: u64 = 16;

#[derive(Clone, Debug, Default)]
struct Process {
    start: Option<ProcessInfo>,
    end: Option<ProcessInfo>,
    /// How many chunks had been held when the end came. Later ones may be of its threads still.
    ended_at: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    stack: u64,
    /// Known once it has handed something over.
    process: Option<u32>,
    has_ended: bool,
}

/// What the held chunks need.
#[derive(Debug, Default)]
pub struct Needs {
    pub processes: HashSet<u32>,
    pub streams: HashSet<u32>,
    /// How many chunks had been held when the oldest of them came.
    pub oldest: u64,
}

#[derive(Clone, Default)]
pub struct Definitions {
    /// Start and modules. Any record to come may need them.
    chunks: Vec<(ChunkHeader, Arc<[u8]>)>,
    chunk_bytes: u64,
    processes: BTreeMap<u32, Process>,
    threads: BTreeMap<u32, Thread>,
    /// Bytes of processes and threads at which is looked who can go.
    next_look: u64,
}

impl Definitions {
    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.chunk_bytes + self.passing_bytes()
    }

    fn passing_bytes(&self) -> u64 {
        self.processes.len() as u64 * PROCESS_COST + self.threads.len() as u64 * THREAD_COST
    }

    /// `arrivals`: how many chunks have been held so far.
    pub fn add(&mut self, chunk: &Chunk, arrivals: u64) {
        let added = match chunk.header.kind {
            ChunkKind::Process => self.add_process(chunk, arrivals),
            ChunkKind::Stacks => self.add_stacks(chunk),
            _ => None,
        };
        if added.is_none() {
            self.chunks.push((chunk.header, chunk.stored.into()));
            self.chunk_bytes += CHUNK_COST + chunk.stored.len() as u64;
        }
    }

    fn add_process(&mut self, chunk: &Chunk, arrivals: u64) -> Option<()> {
        let info: ProcessInfo = serde_json::from_slice(&chunk.payload().ok()?).ok()?;
        let process = self.processes.entry(chunk.header.process).or_default();
        match info.event {
            ProcessEvent::Start => process.start = Some(info),
            ProcessEvent::Exit => {
                process.end = Some(info);
                process.ended_at = Some(arrivals);
            }
        }
        Some(())
    }

    fn add_stacks(&mut self, chunk: &Chunk) -> Option<()> {
        let mut stacks = HashMap::new();
        read_stacks(&chunk.payload().ok()?, &mut stacks);
        for (stream, stack) in stacks {
            self.threads.entry(stream).or_default().stack = stack;
        }
        Some(())
    }

    /// Records of a thread came.
    pub fn note(&mut self, header: &ChunkHeader) {
        if let Some(thread) = self.threads.get_mut(&header.stream) {
            thread.process = Some(header.process);
            thread.has_ended |= header.flags & FLAG_LAST != 0;
        }
    }

    pub fn is_to_be_looked_through(&self) -> bool {
        self.passing_bytes() > self.next_look
    }

    /// Lets go who has ended and left nothing in what is held. `limit`: of all memory, bytes.
    pub fn let_go(&mut self, needs: &Needs, limit: u64) {
        let has_left = |number: &u32, process: &Process| {
            let ended = process.ended_at.is_some_and(|at| at <= needs.oldest);
            ended && !needs.processes.contains(number)
        };
        let (gone, kept) = std::mem::take(&mut self.processes)
            .into_iter()
            .partition(|(number, process)| has_left(number, process));
        self.processes = kept;
        self.adopt_children(&gone);
        self.threads.retain(|stream, thread| {
            let is_over =
                thread.has_ended || thread.process.is_some_and(|process| gone.contains_key(&process));
            !is_over || needs.streams.contains(stream)
        });
        let kept = self.passing_bytes();
        self.next_look = kept + kept / 4 + limit / PART_BETWEEN_LOOKS;
    }

    /// Children of those that are gone are the grandparents' then, whose memory they have.
    fn adopt_children(&mut self, gone: &BTreeMap<u32, Process>) {
        let starts = self.processes.values_mut();
        for start in starts.filter_map(|process| process.start.as_mut()) {
            while let Some(parent) = start.parent.and_then(|parent| gone.get(&parent)) {
                start.parent = parent.start.as_ref().and_then(|start| start.parent);
            }
        }
    }

    pub fn write(&self, writer: &mut TraceWriter) -> Result<(), TraceError> {
        for (header, stored) in &self.chunks {
            let header = *header;
            writer.append(&Chunk { header, stored })?;
        }
        self.write_processes(writer)?;
        let stacks = self
            .threads
            .iter()
            .map(|(stream, thread)| (*stream, thread.stack));
        let stacks: Vec<(u32, u64)> = stacks.collect();
        match stacks.is_empty() {
            true => Ok(()),
            false => writer.write_chunk(&ChunkFields::new(ChunkKind::Stacks), &encode_stacks(&stacks)),
        }
    }

    fn write_processes(&self, writer: &mut TraceWriter) -> Result<(), TraceError> {
        let mut sequence = 0;
        for (number, process) in &self.processes {
            for info in process.start.iter().chain(&process.end) {
                let fields = ChunkFields {
                    process: *number,
                    sequence,
                    ..ChunkFields::new(ChunkKind::Process)
                };
                let info = ProcessInfo {
                    parent: info.parent.filter(|parent| self.processes.contains_key(parent)),
                    ..info.clone()
                };
                // It holds strings and numbers only, which JSON always can.
                writer.write_chunk(&fields, &serde_json::to_vec(&info).unwrap_or_default())?;
                sequence += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trackway_trace::{plain_chunk, Codec, Trace};

    fn process(number: u32, parent: Option<u32>, event: ProcessEvent) -> Chunk<'static> {
        let info = ProcessInfo {
            pid: 1000 + number,
            parent,
            event,
            exit_status: None,
            signal: None,
            monotonic_ns: 1,
        };
        let fields = ChunkFields {
            process: number,
            ..ChunkFields::new(ChunkKind::Process)
        };
        let payload: &'static [u8] = serde_json::to_vec(&info).unwrap().leak();
        plain_chunk(&fields, payload).unwrap()
    }

    fn stacks(stacks: &[(u32, u64)]) -> Chunk<'static> {
        plain_chunk(&ChunkFields::new(ChunkKind::Stacks), encode_stacks(stacks).leak()).unwrap()
    }

    fn records(process: u32, stream: u32, flags: u16) -> ChunkHeader {
        let fields = ChunkFields {
            process,
            stream,
            flags,
            ..ChunkFields::new(ChunkKind::Records)
        };
        plain_chunk(&fields, &[1]).unwrap().header
    }

    fn needs(processes: &[u32], streams: &[u32], oldest: u64) -> Needs {
        Needs {
            processes: processes.iter().copied().collect(),
            streams: streams.iter().copied().collect(),
            oldest,
        }
    }

    fn written(definitions: &Definitions) -> Trace {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let mut writer = TraceWriter::create(&path, false, Codec::None).unwrap();
        definitions.write(&mut writer).unwrap();
        writer.finish(&Default::default()).unwrap();
        Trace::open(&path).unwrap()
    }

    #[test]
    fn processes_go_when_they_have_ended_and_nothing_of_them_is_held() {
        let mut definitions = Definitions::default();
        for (number, parent) in [(0, None), (1, Some(0)), (2, Some(1)), (3, Some(2)), (4, Some(0))] {
            definitions.add(&process(number, parent, ProcessEvent::Start), 0);
        }
        for (number, arrivals) in [(1, 5), (2, 5), (4, 9)] {
            definitions.add(&process(number, None, ProcessEvent::Exit), arrivals);
        }
        let found = |definitions: &Definitions| {
            let trace = written(definitions);
            let starts = trace.processes().iter();
            let starts = starts.filter(|(_, info)| info.event == ProcessEvent::Start);
            let found: Vec<_> = starts.map(|(number, info)| (*number, info.parent)).collect();
            found
        };
        definitions.let_go(&needs(&[0, 1], &[], 5), 0);
        // 1 has records, and those of 4 may come yet. The child of 2 is its parent's.
        assert_eq!(
            found(&definitions),
            [(0, None), (1, Some(0)), (3, Some(1)), (4, Some(0))]
        );
        definitions.let_go(&needs(&[3], &[], 9), 0);
        assert_eq!(found(&definitions), [(0, None), (3, Some(0))]);
        assert_eq!(definitions.bytes(), 2 * PROCESS_COST);
        // Its parent is gone already when a child shows itself.
        definitions.add(&process(5, Some(4), ProcessEvent::Start), 9);
        assert_eq!(found(&definitions)[2], (5, None));
    }

    #[test]
    fn stacks_go_with_their_threads() {
        let mut definitions = Definitions::default();
        definitions.add(&process(0, None, ProcessEvent::Start), 0);
        definitions.add(&process(1, None, ProcessEvent::Start), 0);
        definitions.add(&stacks(&[(0, 10), (1, 11), (2, 12), (3, 13)]), 0);
        definitions.add(&stacks(&[(4, 14)]), 0);
        definitions.note(&records(0, 0, 0));
        definitions.note(&records(0, 1, FLAG_LAST));
        definitions.note(&records(0, 2, FLAG_LAST));
        definitions.note(&records(1, 3, 0));
        definitions.add(&process(1, None, ProcessEvent::Exit), 1);
        definitions.let_go(&needs(&[0], &[2], 7), 0);
        // Of the last one nothing is known yet.
        let expected = HashMap::from([(0, 10), (2, 12), (4, 14)]);
        assert_eq!(*written(&definitions).stacks(), expected);
        assert_eq!(definitions.bytes(), PROCESS_COST + 3 * THREAD_COST);
    }

    #[test]
    fn it_is_looked_for_now_and_then() {
        let (mut definitions, mut looks) = (Definitions::default(), 0);
        for number in 0..1000 {
            definitions.add(&process(number, None, ProcessEvent::Start), 0);
            definitions.add(&process(number, None, ProcessEvent::Exit), 0);
            if definitions.is_to_be_looked_through() {
                definitions.let_go(&needs(&[], &[], 1), 100 * 16 * PROCESS_COST);
                looks += 1;
            }
        }
        assert!((9..=11).contains(&looks), "{looks}");
        assert!(definitions.bytes() <= 101 * PROCESS_COST);
    }
}
