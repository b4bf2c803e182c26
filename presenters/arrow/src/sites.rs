//! The table of sites: instructions that access memory, with their names.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use trackway_analysis::Names;
use trackway_trace::{Location, Program, Site, SiteId, Trace};

use crate::cells::{Cells, Column};

/// A site and what its names are looked up in.
#[derive(Clone, Copy)]
pub struct SiteRow<'t> {
    id: SiteId,
    site: &'t Site,
    program: &'t Program,
    names: &'t Names<'t>,
}

impl SiteRow<'_> {
    pub fn number(&self) -> u32 {
        self.id.0
    }

    fn location(&self) -> &Location {
        self.program.location(self.site.location)
    }

    fn line(&self) -> Option<u32> {
        Some(self.location().line).filter(|line| *line > 0)
    }

    fn column(&self) -> Option<u32> {
        Some(self.location().column).filter(|column| *column > 0)
    }

    fn field(&self) -> Cow<'_, str> {
        match self.program.string(self.site.field) {
            "" => "".into(),
            _ => self.names.field(self.site.object_type, self.site.field).into(),
        }
    }

    fn instruction(&self) -> Cow<'_, str> {
        match self.program.instruction_of_site(self.id) {
            Some(instruction) => self.program.place_of(instruction).into(),
            None => "".into(),
        }
    }
}

/// The columns of the table. One list, an entry for each column in the table's order.
pub fn columns<'t>() -> Vec<Column<SiteRow<'t>>> {
    vec![
        Column::new(
            "site",
            "",
            "number of the site in the trace",
            Cells::U32(|row| row.id.0),
        ),
        Column::new(
            "function",
            "",
            "function in whose text the access stands, before inlining",
            Cells::Text(|row| row.names.function_of(row.site).into()),
        ),
        Column::new(
            "file",
            "",
            "source file",
            Cells::Text(|row| row.program.string(row.location().file).into()),
        ),
        Column::new(
            "line",
            "",
            "line of the source file, from 1",
            Cells::MaybeU32(SiteRow::line),
        ),
        Column::new(
            "column",
            "",
            "column of the line, from 1",
            Cells::MaybeU32(SiteRow::column),
        ),
        Column::new(
            "variable",
            "",
            "variable through which the access goes",
            Cells::Text(|row| row.program.string(row.site.variable).into()),
        ),
        Column::new(
            "variable_kind",
            "",
            "global, static, local, parameter, expression or compiler-made",
            Cells::Text(|row| row.site.variable_kind.name().into()),
        ),
        Column::new(
            "type",
            "",
            "type of the object whose field is accessed",
            Cells::Text(|row| row.program.string(row.site.object_type).into()),
        ),
        Column::new(
            "field",
            "",
            "field with its type, such as arc.ident",
            Cells::Text(SiteRow::field),
        ),
        Column::new(
            "value_type",
            "",
            "type of what is loaded or stored",
            Cells::Text(|row| row.program.string(row.site.value_type).into()),
        ),
        Column::new(
            "kind",
            "",
            "load, store, atomic load, copy read, fill, ...",
            Cells::Text(|row| row.site.kind.name().into()),
        ),
        Column::new(
            "reads",
            "",
            "whether memory is read",
            Cells::Flag(|row| row.site.kind.reads()),
        ),
        Column::new(
            "writes",
            "",
            "whether memory is written",
            Cells::Flag(|row| row.site.kind.writes()),
        ),
        Column::new(
            "instruction",
            "",
            "of machine code, where the instruction is: object+offset",
            Cells::Text(SiteRow::instruction),
        ),
        Column::new(
            "static_size",
            "bytes",
            "what each access takes; unknown if each has a length of its own",
            Cells::MaybeU32(|row| Some(row.site.size).filter(|size| *size > 0)),
        ),
        Column::new(
            "compiled_into",
            "",
            "function that holds the instruction, after inlining",
            Cells::Text(|row| {
                row.names
                    .function(row.program.function(row.site.function).linkage_name)
                    .into()
            }),
        ),
        Column::new(
            "ordinal",
            "",
            "position of the instruction in its function, before instrumentation",
            Cells::U32(|row| row.site.ordinal),
        ),
    ]
}

/// Columns up to this one are those of accesses, too.
pub const LAST_OF_ACCESSES: &str = "instruction";

/// Calls `read` with all rows.
pub fn with_rows<T>(trace: &Trace, read: impl FnOnce(&[SiteRow]) -> T) -> T {
    let program = trace.program();
    let names = Names::new(program);
    let rows: Vec<SiteRow> = (0..)
        .zip(&program.sites)
        .map(|(id, site)| SiteRow {
            id: SiteId(id),
            site,
            program,
            names: &names,
        })
        .collect();
    read(&rows)
}

/// The column of that index, with a cell for each site.
pub fn column(trace: &Trace, index: usize) -> ArrayRef {
    with_rows(trace, |rows| columns()[index].array(rows))
}
