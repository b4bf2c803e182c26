//! The tables of structures and of their members.

use trackway_trace::{MemberLayout, Program, Trace, TypeLayout};

use crate::cells::{Cells, Column};

/// A structure.
#[derive(Clone, Copy)]
pub struct TypeRow<'t> {
    id: u32,
    layout: &'t TypeLayout,
    program: &'t Program,
}

/// A member of a structure.
#[derive(Clone, Copy)]
pub struct FieldRow<'t> {
    structure: TypeRow<'t>,
    member: &'t MemberLayout,
}

/// The columns of the table of structures.
pub fn columns<'t>() -> Vec<Column<TypeRow<'t>>> {
    vec![
        Column::new(
            "type_id",
            "",
            "number of the structure in the trace",
            Cells::U32(|row| row.id),
        ),
        Column::new(
            "type",
            "",
            "its name; unknown if it has none, or shares it with others that differ",
            Cells::Text(|row| row.program.string(row.layout.name).into()),
        ),
        Column::new(
            "kind",
            "",
            "struct, class or union",
            Cells::Text(|row| row.layout.kind.name().into()),
        ),
        Column::new(
            "size",
            "bytes",
            "size of an object",
            Cells::U64(|row| row.layout.size),
        ),
        Column::new(
            "alignment",
            "bytes",
            "alignment of an object",
            Cells::U64(|row| row.layout.alignment),
        ),
        Column::new(
            "members",
            "count",
            "number of its members",
            Cells::U64(|row| row.layout.members.len() as u64),
        ),
    ]
}

/// The columns of the table of members.
pub fn field_columns<'t>() -> Vec<Column<FieldRow<'t>>> {
    vec![
        Column::new(
            "type_id",
            "",
            "the structure: types.type_id",
            Cells::U32(|row| row.structure.id),
        ),
        Column::new(
            "type",
            "",
            "name of the structure",
            Cells::Text(|row| row.structure.program.string(row.structure.layout.name).into()),
        ),
        Column::new(
            "field",
            "",
            "name of the member; unknown if it is anonymous",
            Cells::Text(|row| row.structure.program.string(row.member.name).into()),
        ),
        Column::new(
            "value_type",
            "",
            "type of the member",
            Cells::Text(|row| row.structure.program.string(row.member.type_name).into()),
        ),
        Column::new(
            "kind",
            "",
            "field, bit-field or base class",
            Cells::Text(|row| row.member.kind.name().into()),
        ),
        Column::new(
            "offset_bits",
            "bits",
            "where it begins in the object",
            Cells::U64(|row| row.member.offset_bits),
        ),
        Column::new(
            "size_bits",
            "bits",
            "how long it is",
            Cells::U64(|row| row.member.size_bits),
        ),
        Column::new(
            "alignment",
            "bytes",
            "its alignment",
            Cells::U64(|row| row.member.alignment),
        ),
    ]
}

/// All structures, in the order of their numbers.
pub fn rows(trace: &Trace) -> Vec<TypeRow<'_>> {
    let program = trace.program();
    let types = (0..).zip(&program.types);
    types
        .map(|(id, layout)| TypeRow { id, layout, program })
        .collect()
}

/// All members, structure by structure.
pub fn field_rows(trace: &Trace) -> Vec<FieldRow<'_>> {
    let types = rows(trace).into_iter();
    let fields = types.flat_map(|structure| {
        let members = structure.layout.members.iter();
        members.map(move |member| FieldRow { structure, member })
    });
    fields.collect()
}
