//! Why a change can't be made by a machine.

use std::fmt;

use crate::uses::Use;

/// A reason, and where the source gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub place: Option<String>,
    pub why: String,
}

impl Refusal {
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal {
            place: None,
            why: why.into(),
        }
    }

    pub fn at(found: &Use, why: impl Into<String>) -> Refusal {
        Refusal {
            place: Some(found.place()),
            why: why.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match &self.place {
            Some(place) => write!(out, "{place}: {}", self.why),
            None => out.write_str(&self.why),
        }
    }
}

/// What can be done, or all reasons against it.
pub type Possibly<T> = Result<T, Vec<Refusal>>;
