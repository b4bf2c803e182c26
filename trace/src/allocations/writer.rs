//! Turns events into a payload.

use super::records::{Argument, Operation, Unit, ADDRESS_BITS, UNIT};
use super::{AllocationAction, Allocator, Stack};

/// Makes the payload of a chunk of allocations. Programs write their own payloads; this type serves tests and
/// converters.
#[derive(Debug)]
pub struct AllocationRecorder {
    bytes: Vec<u8>,
    ticks: u64,
}

impl AllocationRecorder {
    /// Begins a payload of `thread`, by its kernel's id, whose events don't come before `ticks` of the trace's clock.
    pub fn new(thread: u32, ticks: u64) -> Self {
        let mut recorder = AllocationRecorder {
            bytes: Vec::new(),
            ticks,
        };
        recorder.unit(Operation::Thread, 0, 0, thread, ticks);
        recorder
    }

    /// Defines a stack of at most 65,535 frames. The returned number names it in events of this payload.
    pub fn stack(&mut self, stack: &Stack) -> u64 {
        let index = (self.bytes.len() / UNIT) as u64;
        let count = stack.frames.len().min(usize::from(u16::MAX));
        let first = stack.frames.first().copied().unwrap_or(0);
        self.unit(Operation::Stack, stack.end.into(), count as u16, 0, first);
        for frame in stack.frames[..count].iter().skip(1) {
            self.bytes.extend_from_slice(&frame.to_le_bytes());
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(UNIT), 0);
        index
    }

    /// Adds an event of this time, not before the last one; `stack` is 0 or comes from [`AllocationRecorder::stack`]. A
    /// place where events are missing is a chunk of its own instead of an event, and so is left out.
    pub fn event(&mut self, ticks: u64, by: Allocator, what: AllocationAction, stack: u64) {
        let Some((operation, address, arguments)) = parts(what) else {
            return;
        };
        for (argument, value) in arguments {
            self.argument(argument, value);
        }
        self.argument(Argument::AddressTop, address >> ADDRESS_BITS);
        let short_stack = u16::try_from(stack).unwrap_or(0);
        if u64::from(short_stack) != stack {
            self.argument(Argument::Stack, stack);
        }
        let mut delta = ticks.saturating_sub(self.ticks);
        if delta > u64::from(u32::MAX) {
            let thread = Unit::at(&self.bytes).delta;
            self.unit(Operation::Thread, 0, 0, thread, ticks);
            delta = 0;
        }
        self.ticks = self.ticks.max(ticks);
        let word = address & ((1 << ADDRESS_BITS) - 1) | u64::from(short_stack) << ADDRESS_BITS;
        self.unit(operation, by.into(), 0, delta as u32, word);
    }

    pub fn into_payload(self) -> Vec<u8> {
        self.bytes
    }

    fn argument(&mut self, argument: Argument, value: u64) {
        if value != 0 {
            self.unit(Operation::Argument, 0, argument as u16, 0, value);
        }
    }

    fn unit(&mut self, operation: Operation, allocator: u8, small: u16, delta: u32, word: u64) {
        let unit = Unit {
            operation: operation as u8,
            allocator,
            small,
            delta,
            word,
        };
        self.bytes.extend_from_slice(&unit.to_bytes());
    }
}

type Parts = (Operation, u64, Vec<(Argument, u64)>);

fn parts(what: AllocationAction) -> Option<Parts> {
    use AllocationAction::*;
    let size = |size| vec![(Argument::Size, size)];
    Some(match what {
        Allocated {
            address,
            size,
            alignment,
        } => (
            Operation::Allocated,
            address,
            vec![(Argument::Size, size), (Argument::Old, alignment)],
        ),
        Freed { address } => (Operation::Freed, address, Vec::new()),
        Reallocating { address } => (Operation::Reallocating, address, Vec::new()),
        Reallocated { old, address, size } => (
            Operation::Reallocated,
            address,
            vec![(Argument::Size, size), (Argument::Old, old)],
        ),
        Kept { address } => (Operation::Kept, address, Vec::new()),
        Mapped {
            address,
            length,
            protection,
            flags,
            descriptor,
            offset,
        } => (
            Operation::Mapped,
            address,
            vec![
                (Argument::Size, length),
                (
                    Argument::Protection,
                    u64::from(protection) | u64::from(flags) << 32,
                ),
                (
                    Argument::Descriptor,
                    descriptor.map_or(0, |number| u64::from(number) + 1),
                ),
                (Argument::Offset, offset),
            ],
        ),
        Unmapped { address, length } => (Operation::Unmapped, address, size(length)),
        Remapping { address, length } => (Operation::Remapping, address, size(length)),
        Remapped {
            old,
            old_length,
            address,
            length,
        } => (
            Operation::Remapped,
            address,
            vec![
                (Argument::Size, length),
                (Argument::Old, old),
                (Argument::OldSize, old_length),
            ],
        ),
        BreakMoved { old, new } => (Operation::BreakMoved, new, vec![(Argument::Old, old)]),
        Forked { began_ns } => (Operation::Forked, 0, size(began_ns)),
        Missing { .. } => return None,
    })
}
