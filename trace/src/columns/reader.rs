//! Turns split payloads back into records.

use std::sync::{Mutex, PoisonError};

use crate::table::Segment;

use super::join::{join, ColumnCursor, OpenColumns, Step, StoredColumns, MARGIN};
use super::packed::unpack;
use super::shapes::{Shapes, FORM_SIZE};

/// Joins split records of the trace's modules, on any number of threads.
#[derive(Debug)]
pub(crate) struct ColumnReader {
    shapes: Shapes,
    /// States that are not in use.
    states: Mutex<Vec<ColumnState>>,
}

/// What joining one chunk needs.
#[derive(Debug)]
pub(crate) struct ColumnState {
    shapes: Shapes,
    stored: StoredColumns,
    columns: OpenColumns,
    /// Bytes after the records that were split.
    rest: Vec<u8>,
}

impl Default for ColumnReader {
    fn default() -> Self {
        ColumnReader {
            shapes: Shapes::new(),
            states: Mutex::default(),
        }
    }
}

impl ColumnReader {
    /// Adds a module whose first segment has the id `first_id`.
    pub(crate) fn add(&mut self, first_id: u32, segments: &[Segment]) {
        self.shapes.add(first_id, segments);
        self.states = Mutex::default();
    }

    /// Replaces the content of `raw` by the payload of `length` bytes that is stored as `stored`, followed by
    /// `padding` zero bytes.
    pub(crate) fn read(
        &self,
        stored: &[u8],
        length: usize,
        padding: usize,
        raw: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut state = self.take_state();
        let result = state.read(stored, length, padding, raw);
        self.give_back(state);
        result
    }

    /// Takes a state, which is to be given back.
    pub(crate) fn take_state(&self) -> ColumnState {
        let unused = self.lock().pop();
        unused.unwrap_or_else(|| ColumnState {
            shapes: self.shapes.clone(),
            stored: StoredColumns::default(),
            columns: OpenColumns::default(),
            rest: Vec::new(),
        })
    }

    pub(crate) fn give_back(&self, state: ColumnState) {
        self.lock().push(state);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ColumnState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ColumnState {
    fn read(
        &mut self,
        stored: &[u8],
        length: usize,
        padding: usize,
        raw: &mut Vec<u8>,
    ) -> Result<(), String> {
        let split_length = self.open(stored, length, padding.max(MARGIN), raw)?;
        join(&mut self.shapes, &mut self.columns, split_length, raw)?;
        raw.truncate(length);
        raw[split_length..].copy_from_slice(&self.rest);
        raw.resize(length + padding, 0);
        Ok(())
    }

    /// Gets ready to join the payload of `length` bytes that is stored as `stored`. Sets the part of `raw` that was not
    /// split, and `padding` zero bytes after it. Returns how many bytes of records precede that part.
    pub(crate) fn open(
        &mut self,
        stored: &[u8],
        length: usize,
        padding: usize,
        raw: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let all = [
            &mut self.stored.steps,
            &mut self.stored.ids,
            &mut self.stored.lengths,
            &mut self.stored.residuals,
            &mut self.rest,
        ];
        unpack(stored, length, all)?;
        let Some(split_length) = length.checked_sub(self.rest.len()) else {
            return Err(format!("a rest of {} bytes in {length}", self.rest.len()));
        };
        self.columns.open(&mut self.stored, &mut self.shapes);
        raw.truncate(length);
        raw.resize(length + padding, 0);
        raw[split_length..length].copy_from_slice(&self.rest);
        raw[length..].fill(0);
        Ok(split_length)
    }

    /// The records that were not joined yet.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> ColumnCursor<'_> {
        ColumnCursor::resume(&mut self.shapes, &mut self.columns)
    }

    /// What is wrong with the record at which a cursor has stopped, which has at most `length` bytes.
    pub(crate) fn problem(&self, length: usize) -> &'static str {
        self.columns.problem(&self.shapes, length)
    }

    /// Whether the records so far took the columns up to their ends.
    pub(crate) fn finish(&self) -> Step<()> {
        self.columns.finish()
    }

    /// The global id of each form's segment.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.shapes.ids
    }

    /// The global id of the latest record's segment.
    pub(crate) fn latest_id(&self) -> u32 {
        self.shapes.ids[self.columns.previous() as usize / FORM_SIZE]
    }
}
