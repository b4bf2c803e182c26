//! The table of sites: instructions that access memory, with their names.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use trackway_analysis::Names;
use trackway_trace::{Location, Program, Site, SiteId, Trace};

use crate::cells::{Column, Columns};

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
    Columns::<SiteRow<'t>>::new()
        .u32("site", "number of the site in the trace", |row| row.id.0)
        .text(
            "function",
            "function in whose text the access stands, before inlining",
            |row| row.names.function_of(row.site).into(),
        )
        .text("file", "source file", |row| {
            row.program.string(row.location().file).into()
        })
        .maybe_u32("line", "line of the source file, from 1", SiteRow::line)
        .maybe_u32("column", "column of the line, from 1", SiteRow::column)
        .text("variable", "variable through which the access goes", |row| {
            row.program.string(row.site.variable).into()
        })
        .text(
            "variable_kind",
            "global, static, local, parameter, expression or compiler-made",
            |row| row.site.variable_kind.name().into(),
        )
        .text("type", "type of the object whose field is accessed", |row| {
            row.program.string(row.site.object_type).into()
        })
        .text("field", "field with its type, such as arc.ident", SiteRow::field)
        .text("value_type", "type of what is loaded or stored", |row| {
            row.program.string(row.site.value_type).into()
        })
        .text("kind", "load, store, atomic load, copy read, fill, ...", |row| {
            row.site.kind.name().into()
        })
        .flag("reads", "whether memory is read", |row| row.site.kind.reads())
        .flag("writes", "whether memory is written", |row| {
            row.site.kind.writes()
        })
        .text(
            "instruction",
            "of machine code, where the instruction is: object+offset",
            SiteRow::instruction,
        )
        .maybe_u32(
            ("static_size", "bytes"),
            "what each access takes; unknown if each has a length of its own",
            |row| Some(row.site.size).filter(|size| *size > 0),
        )
        .text(
            "compiled_into",
            "function that holds the instruction, after inlining",
            |row| {
                row.names
                    .function(row.program.function(row.site.function).linkage_name)
                    .into()
            },
        )
        .u32(
            "ordinal",
            "position of the instruction in its function, before instrumentation",
            |row| row.site.ordinal,
        )
        .list()
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
