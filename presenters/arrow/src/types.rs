//! The tables of structures and of their members.

use trackway_trace::{MemberLayout, Program, Trace, TypeLayout};

use crate::cells::{Column, Columns};

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
    Columns::<TypeRow<'t>>::new()
        .u32("type_id", "number of the structure in the trace", |row| row.id)
        .text(
            "type",
            "its name; unknown if it has none, or shares it with others that differ",
            |row| row.program.string(row.layout.name).into(),
        )
        .text("kind", "struct, class or union", |row| {
            row.layout.kind.name().into()
        })
        .u64(("size", "bytes"), "size of an object", |row| row.layout.size)
        .u64(("alignment", "bytes"), "alignment of an object", |row| {
            row.layout.alignment
        })
        .u64(("members", "count"), "number of its members", |row| {
            row.layout.members.len() as u64
        })
        .list()
}

/// The columns of the table of members.
pub fn field_columns<'t>() -> Vec<Column<FieldRow<'t>>> {
    Columns::<FieldRow<'t>>::new()
        .u32("type_id", "the structure: types.type_id", |row| row.structure.id)
        .text("type", "name of the structure", |row| {
            row.structure.program.string(row.structure.layout.name).into()
        })
        .text("field", "name of the member; unknown if it is anonymous", |row| {
            row.structure.program.string(row.member.name).into()
        })
        .text("value_type", "type of the member", |row| {
            row.structure.program.string(row.member.type_name).into()
        })
        .text("kind", "field, bit-field or base class", |row| {
            row.member.kind.name().into()
        })
        .u64(("offset_bits", "bits"), "where it begins in the object", |row| {
            row.member.offset_bits
        })
        .u64(("size_bits", "bits"), "how long it is", |row| {
            row.member.size_bits
        })
        .u64(("alignment", "bytes"), "its alignment", |row| {
            row.member.alignment
        })
        .list()
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
