//! Tables with loops.

use super::tables::record_length;
use trackway_trace::table::{
    Encoding, Expression, Operation, Segment, Table, TableFunction, TableLocation, TableSite,
};
use trackway_trace::{AccessKind, VariableKind};

pub const SITE_SIZES: [u32; 3] = [8, 4, 16];
const REGISTERS: u32 = 6;

/// A table of one segment with these operations, local id 1, sites of [`SITE_SIZES`] and six registers.
pub fn table_of(operations: Vec<Operation>) -> Table {
    Table {
        oracle: true,
        strings: vec![String::new()],
        locations: vec![TableLocation::default()],
        functions: vec![TableFunction {
            segment_count: 1,
            register_count: REGISTERS,
            window: 0,
            ..TableFunction::default()
        }],
        sites: (0..).zip(SITE_SIZES).map(site).collect(),
        segments: vec![Segment {
            function: 0,
            local_id: 1,
            record_length: record_length(&operations),
            operations,
        }],
        ..Table::default()
    }
}

fn site((ordinal, size): (u32, u32)) -> TableSite {
    TableSite {
        function: 0,
        ordinal,
        part: 0,
        kind: AccessKind::Load,
        size,
        location: 0,
        variable: 0,
        variable_kind: VariableKind::Unknown,
        object_type: 0,
        field: 0,
        value_type: 0,
    }
}

/// Base, rows and columns are roots. Row for row: two accesses of each column, then one of the row.
pub fn nest_table() -> Table {
    let start_of_row = Operation::Set {
        register: 3,
        value: Expression::register(0, 0),
    };
    let columns = repeat(2, vec![access(0, 3, 0), access(1, 3, 4), step(3, 8)]);
    let rows = repeat(1, vec![start_of_row, columns, access(2, 0, 0), step(0, 4096)]);
    table_of(vec![count_root(0), count_root(1), count_root(2), rows])
}

/// A root of 8 bytes.
pub fn count_root(register: u32) -> Operation {
    let encoding = Encoding {
        width: 8,
        signed: false,
    };
    Operation::Root { register, encoding }
}

/// Runs the body as often as the register says.
pub fn repeat(register: u32, body: Vec<Operation>) -> Operation {
    Operation::Loop {
        count: Expression::register(register, 0),
        body,
    }
}

pub fn access(site: u32, register: u32, offset: i64) -> Operation {
    Operation::Access {
        site,
        address: Expression::register(register, offset),
    }
}

/// register = register + increment
pub fn step(register: u32, increment: i64) -> Operation {
    Operation::Set {
        register,
        value: Expression::register(register, increment),
    }
}
