//! What counting costs: how often code that counts was executed, for each kind of it.

use serde::{Deserialize, Serialize};

/// A kind of code that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// An addition to a counter in memory.
    InMemory,
    /// An addition to a counter that a loop keeps in a register.
    InRegister,
}

impl StepKind {
    /// All kinds, in the order of their numbers in the table.
    pub const ALL: [StepKind; 2] = [StepKind::InMemory, StepKind::InRegister];

    pub(crate) fn from_number(number: u8) -> Option<StepKind> {
        StepKind::ALL.get(usize::from(number)).copied()
    }
}

/// What a step of each kind costs on a machine, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepCosts {
    pub in_memory_ns: f64,
    pub in_register_ns: f64,
}

impl StepCosts {
    pub fn of(&self, kind: StepKind) -> f64 {
        match kind {
            StepKind::InMemory => self.in_memory_ns,
            StepKind::InRegister => self.in_register_ns,
        }
    }
}
