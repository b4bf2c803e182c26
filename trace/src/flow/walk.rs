//! Which records a chunk holds, without their accesses.

use std::collections::HashMap;
use std::rc::Rc;

use crate::bytes::u32_at;
use crate::merge::{LoadedModule, MergedTable, NO_SEGMENT};
use crate::table::{Expression, Operation, Segment, MAX_ITERATIONS, STREAM_REGISTERS};
use crate::{AllocationSiteId, ChunkRef, FunctionId, Trace, TraceError};

/// The records of one chunk in their order.
#[derive(Debug)]
pub struct ExecutedRecords<'t> {
    trace: &'t Trace,
    chunk: ChunkRef,
    payload: Vec<u8>,
    position: usize,
    /// Where the latest record belongs; it resolves local ids.
    current: Option<Current>,
    registers: Vec<u64>,
    /// Segments by local id, for each module and function that was met.
    local_ids: HashMap<(usize, u32), Rc<LocalIds>>,
}

/// Where the latest record belongs.
#[derive(Debug)]
struct Current {
    module: usize,
    function: u32,
    local_ids: Rc<LocalIds>,
}

/// A record without its accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutedRecord {
    pub function: FunctionId,
    /// Counted from the function's first one.
    pub segment: u32,
    pub enters: bool,
    pub exits: bool,
    /// How often each loop of the record ran, in the order in which they were entered.
    pub loops: Vec<u64>,
    /// The sites of its allocations and reallocations in their order, failed ones among them.
    pub allocations: Vec<AllocationSiteId>,
    /// It is the last one of a thread that was stopped, and may not have been completed.
    pub is_uncertain: bool,
}

/// The place of a record, and where its roots begin.
type Found<'t> = (usize, u32, &'t MergedTable, usize);

/// Segments of a function by their local ids.
#[derive(Debug)]
struct LocalIds {
    of_one_byte: [u32; 1 << u8::BITS],
    of_two_bytes: HashMap<u16, u32>,
}

impl LocalIds {
    fn new(table: &MergedTable, function: u32) -> Self {
        let mut ids = LocalIds {
            of_one_byte: [NO_SEGMENT; 1 << u8::BITS],
            of_two_bytes: HashMap::new(),
        };
        for number in table.segments_of_function[function as usize].clone() {
            let segment = &table.segments[number as usize];
            match segment.local_id_length() {
                1 => ids.of_one_byte[usize::from(segment.local_id)] = number,
                2 => drop(ids.of_two_bytes.insert(segment.local_id, number)),
                _ => {}
            }
        }
        ids
    }

    /// The segment of a record that begins with these two bytes.
    fn find(&self, bytes: [u8; 2]) -> Option<u32> {
        match self.of_one_byte[usize::from(bytes[0])] {
            NO_SEGMENT => self.of_two_bytes.get(&u16::from_le_bytes(bytes)).copied(),
            segment => Some(segment),
        }
    }
}

impl<'t> ExecutedRecords<'t> {
    /// Reads the chunk.
    pub fn of_chunk(trace: &'t Trace, chunk: &ChunkRef) -> Result<Self, TraceError> {
        let mut payload = Vec::new();
        trace.read_payload(chunk, &mut payload)?;
        Ok(ExecutedRecords {
            trace,
            chunk: *chunk,
            payload,
            position: 0,
            current: None,
            registers: vec![0; trace.loaded().register_count.max(STREAM_REGISTERS) as usize],
            local_ids: HashMap::new(),
        })
    }

    /// Replaces `record` by the next one; false at the end of the chunk.
    pub fn next_record(&mut self, record: &mut ExecutedRecord) -> Result<bool, TraceError> {
        let Some((module, segment, table, start)) = self.find()? else {
            return Ok(false);
        };
        let entry = &table.segments[segment as usize];
        let end = start + entry.record_length as usize;
        let is_tail = self.chunk.header.is_tail();
        if end > self.payload.len() && !is_tail {
            return Err(self.bad_record("bytes of the last record are missing".into()));
        }
        record.function = table.function(entry.function);
        record.segment = segment - table.segments_of_function[entry.function as usize].start;
        (record.enters, record.exits) = (false, false);
        record.loops.clear();
        record.allocations.clear();
        let loaded = &self.trace.loaded().modules[module];
        self.take(loaded, entry, start, record)?;
        self.pass(module, entry.function, table, end);
        record.is_uncertain = is_tail && self.rest_is_zero();
        Ok(true)
    }

    /// The function of the next record and whether it enters it, without looking at more of it; none at the end of the chunk.
    pub fn next_function(&mut self) -> Result<Option<(FunctionId, bool)>, TraceError> {
        let Some((module, segment, table, start)) = self.find()? else {
            return Ok(None);
        };
        let entry = &table.segments[segment as usize];
        let enters = entry.operations.contains(&Operation::Enter);
        self.pass(
            module,
            entry.function,
            table,
            start + entry.record_length as usize,
        );
        Ok(Some((table.function(entry.function), enters)))
    }

    fn pass(&mut self, module: usize, function: u32, table: &MergedTable, end: usize) {
        self.position = end;
        let current = self.current.as_ref();
        if current.is_some_and(|current| (current.module, current.function) == (module, function)) {
            return;
        }
        let known = self.local_ids.entry((module, function));
        let local_ids = Rc::clone(known.or_insert_with(|| Rc::new(LocalIds::new(table, function))));
        self.current = Some(Current {
            module,
            function,
            local_ids,
        });
    }

    fn byte(&self, position: usize) -> u8 {
        self.payload.get(position).copied().unwrap_or(0)
    }

    fn rest_is_zero(&self) -> bool {
        (self.position..self.position + 4).all(|position| self.byte(position) == 0)
    }

    /// None at the end.
    fn find(&mut self) -> Result<Option<Found<'t>>, TraceError> {
        if self.position >= self.payload.len() {
            return Ok(None);
        }
        let trace: &'t Trace = self.trace;
        let loaded = trace.loaded();
        let local_id = self.byte(self.position);
        if local_id != 0 {
            let bytes = [local_id, self.byte(self.position + 1)];
            let found = self.current.as_ref().and_then(|current| {
                let table = &loaded.tables[loaded.modules[current.module].table];
                let segment = current.local_ids.find(bytes)?;
                let start = self.position + table.segments[segment as usize].local_id_length();
                Some((current.module, segment, table, start))
            });
            return match found {
                Some(_) => Ok(found),
                None => Err(self.bad_record(format!(
                    "the local id that begins with {local_id} is unknown in its function"
                ))),
            };
        }
        let bytes: [u8; 4] = std::array::from_fn(|offset| self.byte(self.position + offset));
        let id = u32_at(&bytes, 0) >> 8;
        if id == 0 {
            return Ok(None);
        }
        let module = loaded.module_of_segment.get(id as usize).copied();
        match module.filter(|module| *module != NO_SEGMENT) {
            Some(module) => {
                let entry = &loaded.modules[module as usize];
                let table = &loaded.tables[entry.table];
                let segment = id - entry.first_segment;
                Ok(Some((module as usize, segment, table, self.position + 4)))
            }
            None => Err(self.bad_record(format!("id {id} belongs to no module"))),
        }
    }

    fn take(
        &mut self,
        module: &LoadedModule,
        segment: &Segment,
        start: usize,
        record: &mut ExecutedRecord,
    ) -> Result<(), TraceError> {
        let table = &self.trace.loaded().tables[module.table];
        let mut position = start;
        let mut iterations = 0;
        for operation in &segment.operations {
            match operation {
                Operation::Root { register, encoding } => {
                    self.registers[module.register(segment.function, *register) as usize] =
                        self.root(position, usize::from(encoding.width), encoding.signed);
                    position += usize::from(encoding.width);
                }
                Operation::Enter => record.enters = true,
                Operation::Exit => record.exits = true,
                Operation::Allocate { site, .. } | Operation::Reallocate { site, .. } => {
                    record.allocations.push(table.allocation_site(*site));
                }
                _ => self.run(module, segment.function, operation, &mut iterations, record)?,
            }
        }
        Ok(())
    }

    fn root(&self, position: usize, width: usize, signed: bool) -> u64 {
        let mut bytes = [0; 8];
        for (offset, byte) in bytes[..width].iter_mut().enumerate() {
            *byte = self.byte(position + offset);
        }
        if signed && bytes[width - 1] & 0x80 != 0 {
            bytes[width..].fill(0xff);
        }
        u64::from_le_bytes(bytes)
    }

    /// What may stand in a loop.
    fn run(
        &mut self,
        module: &LoadedModule,
        function: u32,
        operation: &Operation,
        iterations: &mut u64,
        record: &mut ExecutedRecord,
    ) -> Result<(), TraceError> {
        match operation {
            Operation::Set { register, value } => {
                let value = self.value(module, function, value);
                self.registers[module.register(function, *register) as usize] = value;
            }
            Operation::Loop { count, body } => {
                let count = self.value(module, function, count);
                *iterations = iterations.saturating_add(count);
                if *iterations > MAX_ITERATIONS {
                    return Err(self.bad_record("its loops run too often".into()));
                }
                record.loops.push(count);
                let matters: Vec<&Operation> = body
                    .iter()
                    .filter(|inner| matches!(inner, Operation::Set { .. } | Operation::Loop { .. }))
                    .collect();
                if matters.is_empty() {
                    return Ok(());
                }
                for _ in 0..count {
                    for inner in &matters {
                        self.run(module, function, inner, iterations, record)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn value(&self, module: &LoadedModule, function: u32, expression: &Expression) -> u64 {
        let symbol = expression
            .symbol
            .map_or(0, |symbol| module.symbol_addresses[symbol as usize]);
        let start = symbol.wrapping_add(expression.constant as u64);
        expression.terms.iter().fold(start, |sum, term| {
            let register = self.registers[module.register(function, term.register) as usize];
            sum.wrapping_add(register.wrapping_mul(term.scale as u64))
        })
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
