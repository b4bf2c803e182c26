//! A number to compare.

use crate::Value;

/// A cell of a compared column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Integer(u64),
    Real(f64),
}

impl Number {
    pub fn of(value: Value) -> Option<Number> {
        match value {
            Value::Integer(number) => Some(Number::Integer(number)),
            Value::Signed(number) => Some(Number::Real(number as f64)),
            Value::Real(number) => Some(Number::Real(number)),
            Value::None | Value::Text(_) => None,
        }
    }

    pub fn as_real(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    pub fn as_integer(self) -> Option<u64> {
        match self {
            Number::Integer(number) => Some(number),
            Number::Real(_) => None,
        }
    }

    /// The ratio; none if it would divide by zero.
    pub fn ratio_to(self, before: Number) -> Option<f64> {
        let ratio = self.as_real() / before.as_real();
        ratio.is_finite().then_some(ratio)
    }
}
