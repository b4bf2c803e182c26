//! The columns of what allocators did.

use std::sync::Arc;

use crate::cells::{Column, Columns};
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
    Columns::<AllocationRow>::new()
        .u32("process", "number of the process in the trace", |row| row.process)
        .u32("thread", "number of the thread's stream in the trace", |row| {
            row.thread
        })
        .maybe_u64(
            ("time_ns", "ns"),
            "CLOCK_MONOTONIC; of what was recorded among accesses estimated as theirs",
            |row| row.time_ns,
        )
        .text(
            "kind",
            "allocated, freed, reallocated, mapped, unmapped, ... as in `trackway dump --allocations`",
            |row| row.kind.into(),
        )
        .text("by", "the function that was called", |row| row.by.as_ref().into())
        .maybe_u64("address", "of the block or the pages", |row| row.address)
        .maybe_u64("old_address", "where they were before", |row| row.old_address)
        .maybe_u64(("size", "bytes"), "as it was asked for", |row| row.size)
        .maybe_u32(
            "allocation_site",
            "number of the call in the trace, if the program itself recorded it",
            |row| row.allocation_site,
        )
        .text("variable", "variable that receives or gives the pointer", |row| {
            row.place.variable.as_str().into()
        })
        .text("element_type", "type of what is allocated", |row| {
            row.place.element_type.as_str().into()
        })
        .text("function", "function that called the allocator", |row| {
            row.place.function.as_str().into()
        })
        .text("file", "source file", |row| row.place.file.as_str().into())
        .maybe_u32("line", "line of the source file, from 1", |row| row.place.line)
        .list()
}

impl AllocationRow {
    pub fn is_wanted(&self, selection: &Selection) -> bool {
        selection.keeps_thread(Some(self.thread))
            && selection.keeps_address(self.address)
            && selection.keeps_time(self.time_ns)
    }
}
