//! Reads from a trace what its records rest on: start and end, processes, modules and names.

use serde::de::DeserializeOwned;

use super::Trace;
use crate::machine;
use crate::marks::MarkLimits;
use crate::merge::Merger;
use crate::module::ModulePayload;
use crate::stacks::read_stacks;
use crate::table::{CodeNames, TableError};
use crate::{ChunkKind, ChunkRef, TraceError};

impl Trace {
    /// Reads start, end, processes and modules.
    pub(super) fn read_definitions(&mut self) {
        let mut merger = Merger::new();
        let mut payload = Vec::new();
        for index in 0..self.chunks.len() {
            let chunk = self.chunks[index];
            if let Err(error) = self.read_definition(&chunk, &mut merger, &mut payload) {
                self.report(error);
            }
        }
        self.marks.sort();
        self.program = merger.program;
        self.loaded = merger.loaded;
    }

    pub(super) fn read_definition(
        &mut self,
        chunk: &ChunkRef,
        merger: &mut Merger,
        payload: &mut Vec<u8>,
    ) -> Result<(), TraceError> {
        match chunk.header.kind {
            ChunkKind::Start => self.start = self.read_json(chunk, payload)?,
            ChunkKind::End => self.end = Some(self.read_json(chunk, payload)?),
            ChunkKind::Process => {
                let process = self.read_json(chunk, payload)?;
                self.processes.push((chunk.header.process, process));
            }
            ChunkKind::Marks => self.read_marks(chunk, payload)?,
            ChunkKind::Stacks => {
                self.read_payload(chunk, payload)?;
                read_stacks(payload, &mut self.stacks);
            }
            ChunkKind::Module => {
                self.read_payload(chunk, payload)?;
                ModulePayload::parse(payload)
                    .and_then(|module| merger.load(module, chunk.header.process))
                    .map_err(|error| self.bad_module(chunk, error))?;
                if let Some((first_id, segments)) = merger.loaded.latest_segments() {
                    self.columns.add(first_id, segments);
                }
            }
            ChunkKind::Names => {
                self.read_payload(chunk, payload)?;
                let names = CodeNames::parse(payload).map_err(|error| self.bad_names(chunk, error))?;
                machine::apply(&names, &mut merger.program, &mut merger.loaded);
            }
            _ => {}
        }
        Ok(())
    }

    fn read_marks(&mut self, chunk: &ChunkRef, payload: &mut Vec<u8>) -> Result<(), TraceError> {
        let limits = MarkLimits::OF_A_TRACE;
        if !self.marks.admits(chunk.header.raw_length.into(), limits) {
            let what = "the trace's marks are too long";
            return Err(self.bad_info(chunk, serde::de::Error::custom(what)));
        }
        self.read_payload(chunk, payload)?;
        let added = self.marks.add(payload, limits);
        added.map_err(|source| self.bad_info(chunk, source))
    }

    fn bad_info(&self, chunk: &ChunkRef, source: serde_json::Error) -> TraceError {
        TraceError::BadInfo {
            file: self.path.clone(),
            offset: chunk.offset,
            source,
        }
    }

    fn read_json<T: DeserializeOwned>(
        &self,
        chunk: &ChunkRef,
        payload: &mut Vec<u8>,
    ) -> Result<T, TraceError> {
        self.read_payload(chunk, payload)?;
        serde_json::from_slice(payload).map_err(|source| self.bad_info(chunk, source))
    }

    /// The names of machine code, from the chunks that hold them. What can't be read of them is among
    /// [`Trace::damage`].
    pub fn code_names(&self) -> Vec<CodeNames> {
        let mut payload = Vec::new();
        self.chunks_of(ChunkKind::Names)
            .filter_map(|chunk| {
                self.read_payload(chunk, &mut payload).ok()?;
                CodeNames::parse(&payload).ok()
            })
            .collect()
    }

    fn bad_names(&self, chunk: &ChunkRef, error: TableError) -> TraceError {
        TraceError::BadNames {
            file: self.path.clone(),
            offset: chunk.offset,
            position: error.position,
            what: error.what,
        }
    }

    fn bad_module(&self, chunk: &ChunkRef, error: TableError) -> TraceError {
        TraceError::BadModule {
            file: self.path.clone(),
            offset: chunk.offset,
            position: error.position,
            what: error.what,
        }
    }
}
