//! Split payloads back to records.

use std::sync::{Mutex, PoisonError};

use crate::table::Segment;

use super::join::{join, StoredColumns, MARGIN};
use super::packed::unpack;
use super::shapes::Shapes;

/// Joins split records of the trace's modules, on any number of threads.
#[derive(Debug)]
pub(crate) struct ColumnReader {
    shapes: Shapes,
    /// What is not in use.
    joiners: Mutex<Vec<Joiner>>,
}

/// What joining one chunk needs.
#[derive(Debug)]
struct Joiner {
    shapes: Shapes,
    columns: StoredColumns,
    rest: Vec<u8>,
}

impl Default for ColumnReader {
    fn default() -> Self {
        ColumnReader {
            shapes: Shapes::new(),
            joiners: Mutex::default(),
        }
    }
}

impl ColumnReader {
    /// Adds a module, of which the first segment has the id `first_id`.
    pub(crate) fn add(&mut self, first_id: u32, segments: &[Segment]) {
        self.shapes.add(first_id, segments);
        self.joiners = Mutex::default();
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
        let mut joiner = self.take_joiner();
        let result = joiner.read(stored, length, padding, raw);
        self.lock().push(joiner);
        result
    }

    fn take_joiner(&self) -> Joiner {
        let unused = self.lock().pop();
        unused.unwrap_or_else(|| Joiner {
            shapes: self.shapes.clone(),
            columns: StoredColumns::default(),
            rest: Vec::new(),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Joiner>> {
        self.joiners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Joiner {
    fn read(
        &mut self,
        stored: &[u8],
        length: usize,
        padding: usize,
        raw: &mut Vec<u8>,
    ) -> Result<(), String> {
        let columns = &mut self.columns;
        let all = [
            &mut columns.steps,
            &mut columns.ids,
            &mut columns.lengths,
            &mut columns.residuals,
            &mut self.rest,
        ];
        unpack(stored, length, all)?;
        let Some(split_length) = length.checked_sub(self.rest.len()) else {
            return Err(format!("a rest of {} bytes in {length}", self.rest.len()));
        };
        raw.clear();
        raw.resize(length + padding.max(MARGIN), 0);
        join(&mut self.shapes, columns, split_length, raw)?;
        raw[split_length..length].copy_from_slice(&self.rest);
        raw.truncate(length);
        raw.resize(length + padding, 0);
        Ok(())
    }
}
