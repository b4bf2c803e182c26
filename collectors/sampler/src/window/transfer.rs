//! Jumps, calls and returns, the stack, and repeated string instructions.

use iced_x86::{ConditionCode, FlowControl, Mnemonic, Register};
use trackway_trace::WindowEnd;

use super::execute::UNKNOWN;
use super::machine::{Machine, Place};
use super::memory::{MemorySource, Value};
use super::Next;
use crate::code::Step;
use crate::registers::{flag, STACK_POINTER};

const WORD: u64 = 8;
const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;

impl<S: MemorySource> Machine<'_, S> {
    /// Executes an instruction that isn't followed by the next one, or that uses the stack. None for others.
    pub(super) fn transfer(&mut self, step: &Step) -> Option<Next> {
        let instruction = &step.instruction;
        match (instruction.flow_control(), instruction.mnemonic()) {
            (_, Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int) => {
                Some(Next::End(WindowEnd::SystemCall))
            }
            (FlowControl::Next, Mnemonic::Push) => Some(self.push(step)),
            (FlowControl::Next, Mnemonic::Pop) => Some(self.pop(step)),
            (FlowControl::Next, Mnemonic::Leave) => Some(self.leave(step)),
            (FlowControl::Next, _) => None,
            (FlowControl::UnconditionalBranch, _) => Some(Next::At(instruction.near_branch_target())),
            (FlowControl::ConditionalBranch, _) => Some(self.branch(step)),
            (FlowControl::Call, _) => Some(self.call(step, Some(instruction.near_branch_target()))),
            (FlowControl::IndirectCall, _) => {
                let target = self.target(step);
                Some(self.call(step, target))
            }
            (FlowControl::IndirectBranch, _) => {
                self.note_accesses(step);
                Some(self.target(step).map_or(UNKNOWN, Next::At))
            }
            (FlowControl::Return, Mnemonic::Ret) => Some(self.ret(step)),
            _ => Some(UNKNOWN),
        }
    }

    /// What an indirect jump or call leads to.
    fn target(&mut self, step: &Step) -> Option<u64> {
        let place = self.place(step, 0);
        let value = self.read(place);
        self.late_path |= value.is_late;
        value.is_known.then_some(value.bits)
    }

    fn branch(&mut self, step: &Step) -> Next {
        let mut holds = self.condition(step.instruction.condition_code());
        self.late_path |= self.late_flags || holds.is_none();
        match holds {
            Some(is_taken) if !self.late_path => self.directions.note(step.address(), is_taken),
            Some(_) => {}
            None => holds = self.directions.draw(step.address()),
        }
        match holds {
            Some(true) => Next::At(step.instruction.near_branch_target()),
            Some(false) => Next::Following,
            None => UNKNOWN,
        }
    }

    fn call(&mut self, step: &Step, target: Option<u64>) -> Next {
        self.note_accesses(step);
        if let Some(stack) = self.move_stack(WORD.wrapping_neg()) {
            self.memory.store(stack, WORD as u32, Value::known(step.next()));
        }
        target.map_or(UNKNOWN, Next::At)
    }

    fn ret(&mut self, step: &Step) -> Next {
        self.note_accesses(step);
        let stack = self.registers[STACK_POINTER];
        if !stack.is_known {
            return UNKNOWN;
        }
        let address = self.memory.load(stack.bits, WORD as u32);
        let popped = match step.instruction.op_count() {
            0 => 0,
            _ => step.instruction.immediate(0),
        };
        self.move_stack(WORD.wrapping_add(popped));
        // A frame's return address stays as long as the frame, so reading it late makes no difference.
        match address.is_known {
            true => Next::At(address.bits),
            false => UNKNOWN,
        }
    }

    fn push(&mut self, step: &Step) -> Next {
        self.note_accesses(step);
        let size = step.instruction.stack_pointer_increment().unsigned_abs();
        let place = self.place(step, 0);
        let value = self.read(place);
        if let Some(stack) = self.move_stack(u64::from(size).wrapping_neg()) {
            self.memory.store(stack, size, value);
        }
        Next::Following
    }

    fn pop(&mut self, step: &Step) -> Next {
        self.note_accesses(step);
        let size = step.instruction.stack_pointer_increment().unsigned_abs();
        let stack = self.registers[STACK_POINTER];
        let value = match stack.is_known {
            true => self.memory.load(stack.bits, size),
            false => Value::UNKNOWN,
        };
        self.move_stack(size.into());
        let place = self.place(step, 0);
        self.write(place, value);
        Next::Following
    }

    fn leave(&mut self, step: &Step) -> Next {
        const RBP: usize = 5;
        self.note_accesses(step);
        let frame = self.registers[RBP];
        self.registers[STACK_POINTER] = frame;
        self.registers[RBP] = match frame.is_known {
            true => self.memory.load(frame.bits, WORD as u32),
            false => Value::UNKNOWN,
        };
        self.move_stack(WORD);
        Next::Following
    }

    /// Moves the stack pointer and returns where it is then, if that is known.
    fn move_stack(&mut self, by: u64) -> Option<u64> {
        let stack = &mut self.registers[STACK_POINTER];
        stack.bits = stack.bits.wrapping_add(by);
        stack.is_known.then_some(stack.bits)
    }

    /// Whether a condition holds; none if it rests on unknown flags.
    pub(super) fn condition(&self, condition: ConditionCode) -> Option<bool> {
        use ConditionCode::*;
        let is_set = |bit: u64| (self.known_flags & bit != 0).then_some(self.flags & bit != 0);
        let less = || Some(is_set(flag::SIGN)? != is_set(flag::OVERFLOW)?);
        let not = |holds: Option<bool>| holds.map(|holds| !holds);
        let either = |left: Option<bool>, right: Option<bool>| Some(left? | right?);
        match condition {
            o => is_set(flag::OVERFLOW),
            no => not(is_set(flag::OVERFLOW)),
            b => is_set(flag::CARRY),
            ae => not(is_set(flag::CARRY)),
            e => is_set(flag::ZERO),
            ne => not(is_set(flag::ZERO)),
            be => either(is_set(flag::CARRY), is_set(flag::ZERO)),
            a => not(either(is_set(flag::CARRY), is_set(flag::ZERO))),
            s => is_set(flag::SIGN),
            ns => not(is_set(flag::SIGN)),
            p => is_set(flag::PARITY),
            np => not(is_set(flag::PARITY)),
            l => less(),
            ge => not(less()),
            le => either(is_set(flag::ZERO), less()),
            g => not(either(is_set(flag::ZERO), less())),
            None => Option::None,
        }
    }

    /// `rep movs` and `rep stos`: all iterations are one access of each kind. None for other instructions.
    pub(super) fn string_operation(&mut self, step: &Step) -> Option<Next> {
        let instruction = &step.instruction;
        let (element, copies) = match instruction.mnemonic() {
            Mnemonic::Movsb => (1, true),
            Mnemonic::Movsw => (2, true),
            Mnemonic::Movsq => (8, true),
            Mnemonic::Movsd if instruction.is_string_instruction() => (4, true),
            Mnemonic::Stosb => (1, false),
            Mnemonic::Stosw => (2, false),
            Mnemonic::Stosd => (4, false),
            Mnemonic::Stosq => (8, false),
            _ => return None,
        };
        let count = match instruction.has_rep_prefix() {
            true => self.registers[RCX],
            false => Value::known(1),
        };
        let (source, destination) = (self.registers[RSI], self.registers[RDI]);
        if !count.is_known || !destination.is_known || (copies && !source.is_known) {
            return Some(UNKNOWN);
        }
        let length = count.bits.saturating_mul(element);
        let size = u32::try_from(length).unwrap_or(u32::MAX);
        if length > 0 {
            let is_late = |value: Value| self.late_path || value.is_late || count.is_late;
            let (source_late, destination_late) = (is_late(source), is_late(destination));
            if copies {
                self.note_access(step.address(), Some(source.bits), size, false, source_late);
                self.registers[RSI].bits = source.bits.wrapping_add(length);
            }
            self.note_access(
                step.address(),
                Some(destination.bits),
                size,
                true,
                destination_late,
            );
            self.memory.forget(destination.bits, length);
            self.registers[RDI].bits = destination.bits.wrapping_add(length);
        }
        if instruction.has_rep_prefix() {
            self.write(
                Place::Register(Register::RCX),
                Value {
                    is_late: count.is_late,
                    ..Value::known(0)
                },
            );
        }
        Some(Next::Following)
    }
}
