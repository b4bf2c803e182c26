//! The frames of a payload's stacks, without its events.

use super::records::{stack_units, Operation, Unit, UNIT};
use crate::bytes::u64_at;

/// The return addresses of all stacks that a payload of allocations defines, up to what can't be read of it.
pub fn frames_of(payload: &[u8]) -> Vec<u64> {
    let mut frames = Vec::new();
    let mut position = 0;
    while let Some(bytes) = payload.get(position..position + UNIT) {
        let unit = Unit::at(bytes);
        let units = match Operation::from_byte(unit.operation) {
            None => break,
            Some(Operation::Stack) => stack_units(unit.small.into()),
            Some(_) => 1,
        };
        let end = position + units * UNIT;
        if Operation::from_byte(unit.operation) == Some(Operation::Stack) && end <= payload.len() {
            let first = position + 8;
            frames.extend((0..usize::from(unit.small)).map(|frame| u64_at(payload, first + frame * 8)));
        }
        position = end;
    }
    frames
}
