//! The table of functions, and how much of each is recorded.

use trackway_analysis::Names;
use trackway_trace::{Function, Program, Trace};

use crate::cells::{Column, Columns};

/// A function and what its names are looked up in.
#[derive(Clone, Copy)]
pub struct FunctionRow<'t> {
    id: u32,
    function: &'t Function,
    program: &'t Program,
    names: &'t Names<'t>,
}

/// The columns of the table.
pub fn columns<'t>() -> Vec<Column<FunctionRow<'t>>> {
    Columns::<FunctionRow<'t>>::new()
        .u32("function_id", "number of the function in the trace", |row| row.id)
        .text(
            "function",
            "name as in the source; of C++ with scope and parameters",
            |row| row.names.function(row.function.linkage_name).into(),
        )
        .text("linkage_name", "name in the object file", |row| {
            row.program.string(row.function.linkage_name).into()
        })
        .text("source_file", "the translation unit's source file", |row| {
            row.program.string(row.function.source_file).into()
        })
        .text("file", "file in which the function begins", |row| {
            row.program
                .string(row.program.location(row.function.location).file)
                .into()
        })
        .maybe_u32("line", "line in which the function begins", |row| {
            Some(row.program.location(row.function.location).line).filter(|line| *line > 0)
        })
        .u64(
            ("instructions", "count"),
            "instructions of the function that access memory",
            |row| row.function.coverage.accesses,
        )
        .u64(("recorded", "count"), "those that are recorded", |row| {
            row.function.coverage.recorded
        })
        .u64(("filtered", "count"), "those that filters left out", |row| {
            row.function.coverage.filtered
        })
        .u64(
            ("not_recordable", "count"),
            "those that can't be recorded: inline assembly, unmodelled intrinsics, other address spaces",
            |row| row.function.coverage.not_recordable,
        )
        .list()
}

/// Calls `read` with all rows.
pub fn with_rows<T>(trace: &Trace, read: impl FnOnce(&[FunctionRow]) -> T) -> T {
    let program = trace.program();
    let names = Names::new(program);
    let rows: Vec<FunctionRow> = (0..)
        .zip(&program.functions)
        .map(|(id, function)| FunctionRow {
            id,
            function,
            program,
            names: &names,
        })
        .collect();
    read(&rows)
}
