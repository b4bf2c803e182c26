//! Columns and their cells.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};

use super::{Unit, TITLE, UNIT};

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    pub(super) field: &'a Field,
    pub(super) values: &'a ArrayRef,
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Unknown or meaningless, such as a share of nothing.
    None,
    Text(&'a str),
    Integer(u64),
    /// Only changes can be negative.
    Signed(i64),
    Real(f64),
}

/// What the cells of a column are, where they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellType {
    Text,
    Integer,
    Signed,
    Real,
}

impl<'a> Value<'a> {
    pub fn text(self) -> Option<&'a str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn integer(self) -> Option<u64> {
        match self {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl<'a> Column<'a> {
    pub(crate) fn cell_type(&self) -> CellType {
        match self.values.data_type() {
            DataType::UInt64 => CellType::Integer,
            DataType::Int64 => CellType::Signed,
            DataType::Float64 => CellType::Real,
            _ => CellType::Text,
        }
    }

    /// Name for programs.
    pub fn name(&self) -> &'a str {
        self.field.name()
    }

    /// Title for people.
    pub fn title(&self) -> &'a str {
        self.field
            .metadata()
            .get(TITLE)
            .map_or(self.name(), |title| title)
    }

    pub fn unit(&self) -> Unit {
        self.field
            .metadata()
            .get(UNIT)
            .and_then(|name| Unit::from_name(name))
            .unwrap_or(Unit::Text)
    }

    pub fn row_count(&self) -> usize {
        self.values.len()
    }

    /// The cell of that row.
    pub fn value(&self, row: usize) -> Value<'a> {
        if self.values.is_null(row) {
            return Value::None;
        }
        match self.cell_type() {
            CellType::Integer => Value::Integer(self.values.as_primitive::<UInt64Type>().value(row)),
            CellType::Signed => Value::Signed(self.values.as_primitive::<Int64Type>().value(row)),
            CellType::Real => Value::Real(self.values.as_primitive::<Float64Type>().value(row)),
            CellType::Text => Value::Text(self.values.as_string::<i32>().value(row)),
        }
    }

    /// The text of that row, if it is one.
    pub fn text(&self, row: usize) -> Option<&'a str> {
        self.value(row).text()
    }

    /// The whole number of that row, if it is one.
    pub fn integer(&self, row: usize) -> Option<u64> {
        self.value(row).integer()
    }
}
