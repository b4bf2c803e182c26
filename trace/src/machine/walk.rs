//! Which blocks of machine code a stream executed, without the accesses.

use crate::bytes::{u32_at, u64_at};
use crate::table::find_local;
use crate::{ChunkRef, MachineBlockId, Trace, TraceError};

/// The decoder's limit.
const MOST_REPETITIONS: u64 = 1 << 40;

/// The blocks that one chunk of records holds, in the order of their execution. Records of modules without machine code
/// are skipped.
#[derive(Debug)]
pub struct ExecutedBlocks<'t> {
    trace: &'t Trace,
    chunk: ChunkRef,
    payload: Vec<u8>,
    position: usize,
    /// The latest block, and how often it was executed again.
    again: Option<(MachineBlockId, u64)>,
    /// Module and function of the latest record, for local ids.
    function: Option<(usize, u32)>,
}

impl<'t> ExecutedBlocks<'t> {
    /// Reads the chunk.
    pub fn of_chunk(trace: &'t Trace, chunk: &ChunkRef) -> Result<Self, TraceError> {
        let mut payload = Vec::new();
        trace.read_payload(chunk, &mut payload)?;
        Ok(ExecutedBlocks {
            trace,
            chunk: *chunk,
            payload,
            position: 0,
            again: None,
            function: None,
        })
    }

    /// The next block; none at the end of the chunk.
    pub fn next_block(&mut self) -> Result<Option<MachineBlockId>, TraceError> {
        if let Some((block, times)) = self.again.take() {
            self.again = (times > 1).then_some((block, times - 1));
            return Ok(Some(block));
        }
        loop {
            match self.next_record()? {
                None => return Ok(None),
                Some(Some(block)) => return Ok(Some(block)),
                Some(None) => {}
            }
        }
    }

    /// None at the end; else the record's block, if it has one.
    fn next_record(&mut self) -> Result<Option<Option<MachineBlockId>>, TraceError> {
        let rest = &self.payload[self.position..];
        let Some(local_id) = rest.first().copied() else {
            return Ok(None);
        };
        let (module, segment, id_length) = if local_id != 0 {
            self.local([local_id, rest.get(1).copied().unwrap_or(0)])?
        } else {
            let Some(bytes) = rest.get(..4) else {
                return self.end_within_record();
            };
            let id = u32_at(bytes, 0) >> 8;
            if id == 0 {
                return Ok(None);
            }
            let (module, segment) = self.global(id)?;
            (module, segment, 4)
        };
        let loaded = self.trace.loaded();
        let table = &loaded.tables[loaded.modules[module].table];
        let segment_entry = &table.segments[segment as usize];
        let length = id_length + segment_entry.record_length as usize;
        if length > rest.len() {
            return self.end_within_record();
        }
        self.position += length;
        self.function = Some((module, segment_entry.function));
        let is_code = !table.machine_blocks.is_empty();
        let block = is_code.then(|| MachineBlockId(table.machine_blocks.start + segment));
        let program = self.trace.program();
        let block = block.filter(|block| !program.machine_block(*block).instructions.is_empty());
        if let Some(block) = block.filter(|block| program.machine_block(*block).repeats) {
            let times = u64_at(&rest[..length], length - size_of::<u64>());
            if times > MOST_REPETITIONS {
                return Err(self.bad_record(format!("the block was executed {times} times again")));
            }
            self.again = (times > 0).then_some((block, times));
        }
        Ok(Some(block))
    }

    fn global(&self, id: u32) -> Result<(usize, u32), TraceError> {
        let loaded = self.trace.loaded();
        let module = loaded
            .module_of_segment
            .get(id as usize)
            .map(|module| *module as usize);
        match module.and_then(|module| Some((module, loaded.modules.get(module)?))) {
            Some((module, entry)) => Ok((module, id - entry.first_segment)),
            None => Err(self.bad_record(format!("id {id} belongs to no module"))),
        }
    }

    /// Module and segment of a local id, given the first two bytes of its record, and its length.
    fn local(&self, bytes: [u8; 2]) -> Result<(usize, u32, usize), TraceError> {
        let loaded = self.trace.loaded();
        let found = self.function.and_then(|(module, function)| {
            let table = &loaded.tables[loaded.modules[module].table];
            let range = table.segments_of_function[function as usize].clone();
            let segments = &table.segments[range.start as usize..range.end as usize];
            let found = find_local(segments, bytes)?;
            Some((
                module,
                range.start + found as u32,
                segments[found].local_id_length(),
            ))
        });
        found.ok_or_else(|| {
            self.bad_record(format!(
                "the local id that begins with {} is unknown in its function",
                bytes[0]
            ))
        })
    }

    /// The last record lacks bytes. That is valid if the thread was stopped within it.
    fn end_within_record<T>(&self) -> Result<Option<T>, TraceError> {
        match self.chunk.header.is_tail() {
            true => Ok(None),
            false => Err(self.bad_record("bytes of the last record are missing".into())),
        }
    }

    fn bad_record(&self, what: String) -> TraceError {
        TraceError::BadRecord {
            file: self.trace.path().to_path_buf(),
            offset: self.chunk.offset,
            position: self.position as u64,
            what,
        }
    }
}
