//! Checks a payload of allocations and turns it into events.

use std::collections::HashMap;

use super::records::{stack_units, Argument, Operation, Unit, ARGUMENTS, UNIT};
use super::{AllocationAction, Allocator, Stack, StackId, Stacks};
use crate::bytes::u64_at;
use crate::Clock;

/// What a payload says of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadEvent {
    pub ticks: u64,
    pub time_ns: u64,
    pub thread: u32,
    pub by: Allocator,
    pub what: AllocationAction,
    pub stack: StackId,
}

/// Where and why a payload is invalid.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Bytes from the start of the payload.
    pub position: usize,
    pub what: String,
}

/// Reads the events of one payload in their order.
#[derive(Debug, Default)]
pub struct PayloadReader {
    position: usize,
    thread: Option<u32>,
    is_in_nanoseconds: bool,
    ticks: u64,
    arguments: [u64; ARGUMENTS],
    /// Stacks, by the unit that begins each of them.
    stacks: HashMap<u64, StackId>,
}

impl PayloadReader {
    /// The next event of `payload`, the same in all calls; none at its end.
    pub fn next(
        &mut self,
        payload: &[u8],
        clock: &Clock,
        stacks: &mut Stacks,
    ) -> Result<Option<PayloadEvent>, Invalid> {
        while let Some(bytes) = payload.get(self.position..self.position + UNIT) {
            let unit = Unit::at(bytes);
            if bytes[..8] == [0; 8] {
                break; // the rest was never written
            }
            let event = self.unit(&unit, payload, clock, stacks)?;
            if event.is_some() {
                return Ok(event);
            }
        }
        let rest = payload.get(self.position..).unwrap_or_default();
        match rest.iter().all(|byte| *byte == 0) {
            true => Ok(None),
            // The second half of a unit is written before its first.
            false if rest.len() >= UNIT && rest[UNIT..].iter().all(|byte| *byte == 0) => Ok(None),
            false => Err(self.invalid("something follows the end")),
        }
    }

    fn unit(
        &mut self,
        unit: &Unit,
        payload: &[u8],
        clock: &Clock,
        stacks: &mut Stacks,
    ) -> Result<Option<PayloadEvent>, Invalid> {
        let Some(operation) = Operation::from_byte(unit.operation) else {
            return Err(self.invalid(format!("unknown operation {}", unit.operation)));
        };
        match operation {
            Operation::Thread => {
                self.thread = Some(unit.delta);
                self.is_in_nanoseconds = unit.small != 0;
                self.ticks = unit.word;
            }
            Operation::Stack => return self.define_stack(unit, payload, stacks).map(|()| None),
            Operation::Argument => match self.arguments.get_mut(usize::from(unit.small)) {
                Some(argument) => *argument = unit.word,
                None => return Err(self.invalid(format!("unknown argument {}", unit.small))),
            },
            _ => return self.event(operation, unit, clock).map(Some),
        }
        self.position += UNIT;
        Ok(None)
    }

    fn define_stack(&mut self, unit: &Unit, payload: &[u8], stacks: &mut Stacks) -> Result<(), Invalid> {
        let (count, units) = (usize::from(unit.small), stack_units(unit.small.into()));
        let first = self.position + 8;
        let end = self.position + units * UNIT;
        if end > payload.len() {
            return Err(self.invalid(format!("a stack of {count} frames goes beyond the end")));
        }
        let frames = (0..count).map(|frame| u64_at(payload, first + frame * 8));
        let stack = Stack {
            frames: frames.collect(),
            end: unit.allocator.into(),
        };
        self.stacks
            .insert((self.position / UNIT) as u64, stacks.intern(stack));
        self.position = end;
        Ok(())
    }

    fn event(&mut self, operation: Operation, unit: &Unit, clock: &Clock) -> Result<PayloadEvent, Invalid> {
        let Some(thread) = self.thread else {
            return Err(self.invalid("an event before its thread"));
        };
        self.ticks = self.ticks.wrapping_add(unit.delta.into());
        let stack = self.stack(unit)?;
        let what = self.action(operation, unit);
        self.arguments = [0; ARGUMENTS];
        self.position += UNIT;
        Ok(PayloadEvent {
            ticks: self.ticks,
            time_ns: self.ns(self.ticks, clock),
            thread,
            by: unit.allocator.into(),
            what: match what {
                AllocationAction::Forked { began_ns } => AllocationAction::Forked {
                    began_ns: self.ns(began_ns, clock),
                },
                what => what,
            },
            stack,
        })
    }

    fn ns(&self, ticks: u64, clock: &Clock) -> u64 {
        match self.is_in_nanoseconds {
            true => ticks,
            false => clock.ns(ticks),
        }
    }

    fn argument(&self, argument: Argument) -> u64 {
        self.arguments[argument as usize]
    }

    fn stack(&self, unit: &Unit) -> Result<StackId, Invalid> {
        let index = match unit.stack() {
            0 => self.argument(Argument::Stack),
            index => index,
        };
        match (index, self.stacks.get(&index)) {
            (0, _) => Ok(StackId::default()),
            (_, Some(stack)) => Ok(*stack),
            (_, None) => Err(self.invalid(format!("unit {index} is no stack"))),
        }
    }

    fn action(&self, operation: Operation, unit: &Unit) -> AllocationAction {
        let address = unit.address() | self.argument(Argument::AddressTop) << super::records::ADDRESS_BITS;
        let old = self.argument(Argument::Old);
        let size = match unit.small {
            0 => self.argument(Argument::Size),
            small => small.into(),
        };
        let protection = self.argument(Argument::Protection);
        match operation {
            Operation::Freed => AllocationAction::Freed { address },
            Operation::Reallocating => AllocationAction::Reallocating { address },
            Operation::Reallocated => AllocationAction::Reallocated { old, address, size },
            Operation::Kept => AllocationAction::Kept { address },
            Operation::Mapped => AllocationAction::Mapped {
                address,
                length: size,
                protection: protection as u32,
                flags: (protection >> 32) as u32,
                descriptor: self
                    .argument(Argument::Descriptor)
                    .checked_sub(1)
                    .map(|number| number as u32),
                offset: self.argument(Argument::Offset),
            },
            Operation::Unmapped => AllocationAction::Unmapped {
                address,
                length: size,
            },
            Operation::Remapping => AllocationAction::Remapping {
                address,
                length: size,
            },
            Operation::Remapped => AllocationAction::Remapped {
                old,
                old_length: self.argument(Argument::OldSize),
                address,
                length: size,
            },
            Operation::BreakMoved => AllocationAction::BreakMoved { old, new: address },
            Operation::Forked => AllocationAction::Forked { began_ns: size },
            _ => AllocationAction::Allocated {
                address,
                size,
                alignment: old,
            },
        }
    }

    fn invalid(&self, what: impl Into<String>) -> Invalid {
        Invalid {
            position: self.position,
            what: what.into(),
        }
    }
}
