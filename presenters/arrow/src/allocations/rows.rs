//! The columns of what allocators did.

use std::sync::Arc;

use crate::cells::{Cells, Column};
use crate::Selection;

/// An allocation, a release, or a change of mappings. What is unknown is none or empty.
#[derive(Clone, Default)]
pub struct AllocationRow {
    pub process: u32,
    pub thread: u32,
    pub time_ns: Option<u64>,
    pub kind: &'static str,
    /// The function that was called.
    pub by: Arc<str>,
    pub address: Option<u64>,
    pub old_address: Option<u64>,
    pub size: Option<u64>,
    pub allocation_site: Option<u32>,
    pub place: Arc<CallPlace>,
}

/// Where an allocator was called.
#[derive(Default)]
pub struct CallPlace {
    pub function: String,
    pub file: String,
    pub line: Option<u32>,
    /// The variable that receives or gives the pointer.
    pub variable: String,
    pub element_type: String,
}

/// The columns of the table. One list, an entry for each column in the table's order.
pub fn columns() -> Vec<Column<AllocationRow>> {
    vec![
        Column::new(
            "process",
            "",
            "number of the process in the trace",
            Cells::U32(|row| row.process),
        ),
        Column::new(
            "thread",
            "",
            "number of the thread's stream in the trace",
            Cells::U32(|row| row.thread),
        ),
        Column::new(
            "time_ns",
            "ns",
            "CLOCK_MONOTONIC; of what was recorded among accesses estimated as theirs",
            Cells::MaybeU64(|row| row.time_ns),
        ),
        Column::new(
            "kind",
            "",
            "allocated, freed, reallocated, mapped, unmapped, ... as in `trackway dump --allocations`",
            Cells::Text(|row| row.kind.into()),
        ),
        Column::new(
            "by",
            "",
            "the function that was called",
            Cells::Text(|row| row.by.as_ref().into()),
        ),
        Column::new(
            "address",
            "",
            "of the block or the pages",
            Cells::MaybeU64(|row| row.address),
        ),
        Column::new(
            "old_address",
            "",
            "where they were before",
            Cells::MaybeU64(|row| row.old_address),
        ),
        Column::new(
            "size",
            "bytes",
            "as it was asked for",
            Cells::MaybeU64(|row| row.size),
        ),
        Column::new(
            "allocation_site",
            "",
            "number of the call in the trace, if the program itself recorded it",
            Cells::MaybeU32(|row| row.allocation_site),
        ),
        Column::new(
            "variable",
            "",
            "variable that receives or gives the pointer",
            Cells::Text(|row| row.place.variable.as_str().into()),
        ),
        Column::new(
            "element_type",
            "",
            "type of what is allocated",
            Cells::Text(|row| row.place.element_type.as_str().into()),
        ),
        Column::new(
            "function",
            "",
            "function that called the allocator",
            Cells::Text(|row| row.place.function.as_str().into()),
        ),
        Column::new(
            "file",
            "",
            "source file",
            Cells::Text(|row| row.place.file.as_str().into()),
        ),
        Column::new(
            "line",
            "",
            "line of the source file, from 1",
            Cells::MaybeU32(|row| row.place.line),
        ),
    ]
}

impl AllocationRow {
    pub fn is_wanted(&self, selection: &Selection) -> bool {
        selection.keeps_thread(Some(self.thread))
            && selection.keeps_address(self.address)
            && selection.keeps_time(self.time_ns)
    }
}
