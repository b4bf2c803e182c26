//! The table of functions, and how much of each is recorded.

use trackway_analysis::Names;
use trackway_trace::{Function, Program, Trace};

use crate::cells::{Cells, Column};

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
    vec![
        Column::new(
            "function_id",
            "",
            "number of the function in the trace",
            Cells::U32(|row| row.id),
        ),
        Column::new(
            "function",
            "",
            "name as in the source; of C++ with scope and parameters",
            Cells::Text(|row| row.names.function(row.function.linkage_name).into()),
        ),
        Column::new(
            "linkage_name",
            "",
            "name in the object file",
            Cells::Text(|row| row.program.string(row.function.linkage_name).into()),
        ),
        Column::new(
            "source_file",
            "",
            "the translation unit's source file",
            Cells::Text(|row| row.program.string(row.function.source_file).into()),
        ),
        Column::new(
            "file",
            "",
            "file in which the function begins",
            Cells::Text(|row| {
                row.program
                    .string(row.program.location(row.function.location).file)
                    .into()
            }),
        ),
        Column::new(
            "line",
            "",
            "line in which the function begins",
            Cells::MaybeU32(|row| {
                Some(row.program.location(row.function.location).line).filter(|line| *line > 0)
            }),
        ),
        Column::new(
            "instructions",
            "count",
            "instructions of the function that access memory",
            Cells::U64(|row| row.function.coverage.accesses),
        ),
        Column::new(
            "recorded",
            "count",
            "those that are recorded",
            Cells::U64(|row| row.function.coverage.recorded),
        ),
        Column::new(
            "filtered",
            "count",
            "those that filters left out",
            Cells::U64(|row| row.function.coverage.filtered),
        ),
        Column::new(
            "not_recordable",
            "count",
            "those that can't be recorded: inline assembly, unmodelled intrinsics, other address spaces",
            Cells::U64(|row| row.function.coverage.not_recordable),
        ),
    ]
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
