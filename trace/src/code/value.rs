//! Values of expressions, and the shapes that are cheap to compute.

use super::{Linear, Near, WideTerm, ZERO_REGISTER};

/// An expression whose symbol has become part of the constant.
pub(super) struct Value {
    pub(super) constant: u64,
    pub(super) terms: Vec<WideTerm>,
}

impl Value {
    pub(super) fn linear(&self) -> Option<Linear> {
        let mut linear = Linear {
            constant: self.constant,
            ..Linear::ZERO
        };
        if self.terms.len() > linear.scales.len() {
            return None;
        }
        for (index, term) in self.terms.iter().enumerate() {
            linear.scales[index] = i32::try_from(term.scale).ok()?;
            linear.registers[index] = term.register;
        }
        Some(linear)
    }
}

impl Linear {
    pub(super) fn near(&self) -> Option<Near> {
        let [first, second] = self.scales;
        let near = second == 0 && (first == 1 || self.registers[0] == ZERO_REGISTER);
        near.then_some(Near {
            constant: self.constant,
            register: self.registers[0],
        })
    }
}
