//! Executing one instruction.

use iced_x86::{Mnemonic, Register};
use trackway_trace::WindowEnd;

use super::arithmetic::{self, Outcome, Shift};
use super::machine::{mask, Machine, Place};
use super::memory::{MemorySource, Value};
use super::Next;
use crate::code::Step;
use crate::registers::flag;

pub(super) const RAX: usize = 0;
pub(super) const RDX: usize = 2;

impl<S: MemorySource> Machine<'_, S> {
    pub(super) fn execute(&mut self, step: &Step) -> Next {
        if let Some(next) = self.transfer(step) {
            return next;
        }
        if let Some(next) = self.string_operation(step) {
            return next;
        }
        self.note_accesses(step);
        if self.compares_with_guard(step) {
            return Next::Following;
        }
        let is_followed = self.moves(step)
            || self.computes(step)
            || self.scales(step)
            || self.exchanges(step)
            || self.copies_vectors(step);
        if !is_followed {
            self.forget_effects(step);
        }
        Next::Following
    }

    /// Executes a comparison of a copy of the stack's guard with the guard, which is relative to a segment. They are
    /// taken to be equal, since otherwise the program is about to abort. False for other instructions.
    fn compares_with_guard(&mut self, step: &Step) -> bool {
        const GUARD: u64 = 0x28;
        let instruction = &step.instruction;
        let is_guard = instruction.segment_prefix() == Register::FS
            && instruction.memory_base() == Register::None
            && instruction.memory_displacement64() == GUARD;
        let compares = matches!(
            instruction.mnemonic(),
            Mnemonic::Sub | Mnemonic::Xor | Mnemonic::Cmp
        );
        if !is_guard || !compares {
            return false;
        }
        self.forget_effects(step);
        self.set_flags(arithmetic::subtract(0, 0, 0, 8), false);
        true
    }

    /// Instructions that set no flags.
    fn moves(&mut self, step: &Step) -> bool {
        use Mnemonic::*;
        let instruction = &step.instruction;
        let value = match instruction.mnemonic() {
            Mov | Movzx | Movnti => self.operand(step, 1),
            Movsx | Movsxd => self.sign_extended(step),
            Lea => self.address_of(step),
            Cdqe => return self.widen_accumulator(4, 8),
            Cwde => return self.widen_accumulator(2, 4),
            Cdq => return self.sign_into_rdx(4),
            Cqo => return self.sign_into_rdx(8),
            Bswap => {
                let (value, size) = (
                    self.operand(step, 0),
                    step.instruction.op0_register().size() as u32,
                );
                let swapped = value.bits.swap_bytes() >> (64 - size * 8);
                Value {
                    bits: swapped,
                    ..value
                }
            }
            Not => {
                let value = self.operand(step, 0);
                Value {
                    bits: !value.bits,
                    ..value
                }
            }
            Nop | Endbr64 | Endbr32 | Pause | Lfence | Mfence | Sfence => return true,
            mnemonic if is_conditional_set(mnemonic) => match self.condition(instruction.condition_code()) {
                Some(holds) => Value {
                    is_late: self.late_flags,
                    ..Value::known(holds.into())
                },
                None => Value::UNKNOWN,
            },
            mnemonic if is_conditional_move(mnemonic) => return self.move_if(step),
            _ => return false,
        };
        let general = instruction.op0_register() == Register::None || instruction.op0_register().is_gpr();
        if !general {
            return false;
        }
        let place = self.place(step, 0);
        self.write(place, value);
        true
    }

    fn move_if(&mut self, step: &Step) -> bool {
        let place = self.place(step, 0);
        let (old, new) = (self.read(place), self.operand(step, 1));
        let mut value = match self.condition(step.instruction.condition_code()) {
            Some(true) => new,
            Some(false) => old, // a move of 32 bits clears the upper half all the same
            None => Value::UNKNOWN,
        };
        value.is_late |= self.late_flags;
        self.write(place, value);
        true
    }

    fn sign_extended(&mut self, step: &Step) -> Value {
        let place = self.place(step, 1);
        let size = match place {
            Place::Register(register) => register.size() as u32,
            Place::Memory(_, size) => size,
            _ => return Value::UNKNOWN,
        };
        let value = self.read(place);
        Value {
            bits: extended(value.bits, size),
            ..value
        }
    }

    fn address_of(&mut self, step: &Step) -> Value {
        let Some(place) = crate::code::place_of_lea(step) else {
            return Value::UNKNOWN;
        };
        let mut is_late = false;
        let address = place.address(|register| {
            is_late |= self.registers[register].is_late;
            let value = self.registers[register];
            value.is_known.then_some(value.bits)
        });
        match address {
            Some(bits) => Value {
                bits,
                is_known: true,
                is_late,
            },
            None => Value::UNKNOWN,
        }
    }

    fn widen_accumulator(&mut self, from: u32, to: u32) -> bool {
        let value = self.registers[RAX];
        self.registers[RAX] = Value {
            bits: extended(value.bits & mask(from), from) & mask(to),
            ..value
        };
        true
    }

    fn sign_into_rdx(&mut self, size: u32) -> bool {
        let value = self.registers[RAX];
        let negative = value.bits >> (size * 8 - 1) & 1 != 0;
        self.registers[RDX] = Value {
            bits: if negative { mask(size) } else { 0 },
            ..value
        };
        true
    }

    /// Instructions of one or two operands that set flags.
    fn computes(&mut self, step: &Step) -> bool {
        use Mnemonic::*;
        let instruction = &step.instruction;
        let mnemonic = instruction.mnemonic();
        if !sets_flags(mnemonic) {
            return false;
        }
        let place = self.place(step, 0);
        let size = size_of(place);
        let left = self.read(place);
        let right = match mnemonic {
            Inc | Dec | Neg => Value::known(1),
            _ => self.operand(step, 1),
        };
        let clears = instruction.op0_register() == instruction.op1_register()
            && instruction.op0_register() != Register::None
            && matches!(mnemonic, Xor | Sub);
        let carry = match mnemonic {
            Adc | Sbb if self.known_flags & flag::CARRY == 0 => Value::UNKNOWN,
            Adc | Sbb => Value {
                is_late: self.late_flags,
                ..Value::known(self.flags & flag::CARRY)
            },
            _ => Value::known(0),
        };
        let inputs = [left, right, carry];
        if !clears && !inputs.iter().all(|value| value.is_known) || size == 0 {
            self.forget_effects(step);
            return true;
        }
        let is_late = !clears && inputs.iter().any(|value| value.is_late);
        let (left, right, carry) = if clears {
            (0, 0, 0)
        } else {
            (left.bits, right.bits, carry.bits)
        };
        let outcome = match mnemonic {
            Add | Adc => arithmetic::add(left, right, carry, size),
            Sub | Sbb | Cmp => arithmetic::subtract(left, right, carry, size),
            And | Test => arithmetic::logic(left & right, size),
            Or => arithmetic::logic(left | right, size),
            Xor => arithmetic::logic(left ^ right, size),
            Inc => arithmetic::without_carry(arithmetic::add(left, 1, 0, size)),
            Dec => arithmetic::without_carry(arithmetic::subtract(left, 1, 0, size)),
            Neg => arithmetic::subtract(0, left, 0, size),
            Shl | Sal => arithmetic::shift(Shift::Left, left, right, size),
            Shr => arithmetic::shift(Shift::Right, left, right, size),
            Sar => arithmetic::shift(Shift::RightSigned, left, right, size),
            Rol => arithmetic::shift(Shift::RotateLeft, left, right, size),
            _ => arithmetic::shift(Shift::RotateRight, left, right, size),
        };
        self.set_flags(outcome, is_late);
        if !matches!(mnemonic, Cmp | Test) {
            let result = Value {
                bits: outcome.result,
                is_known: true,
                is_late,
            };
            self.write(place, result);
        }
        true
    }

    /// Writes results, or forgets them if an input is unknown.
    pub(super) fn finish(
        &mut self,
        step: &Step,
        inputs: &[Value],
        outcome: Outcome,
        results: &[(Place, u64)],
    ) -> bool {
        if inputs.iter().any(|value| !value.is_known) {
            self.forget_effects(step);
            return true;
        }
        let is_late = inputs.iter().any(|value| value.is_late);
        self.set_flags(outcome, is_late);
        for (place, bits) in results {
            let value = Value {
                bits: *bits,
                is_known: true,
                is_late,
            };
            self.write(*place, value);
        }
        true
    }

    pub(super) fn operand(&mut self, step: &Step, index: u32) -> Value {
        let place = self.place(step, index);
        self.read(place)
    }

    pub(super) fn set_flags(&mut self, outcome: Outcome, is_late: bool) {
        self.flags = self.flags & !outcome.sets | outcome.flags & outcome.defined;
        self.known_flags = self.known_flags & !outcome.sets | outcome.defined;
        if outcome.sets != 0 {
            self.late_flags = is_late;
        }
    }
}

pub(super) fn size_of(place: Place) -> u32 {
    match place {
        Place::Register(register) if register.is_gpr() => register.size() as u32,
        Place::Memory(_, size) if size <= 8 => size,
        _ => 0,
    }
}

/// So many of the lowest bytes as a signed number.
fn extended(bits: u64, size: u32) -> u64 {
    let unused = 64 - size.clamp(1, 8) * 8;
    ((bits << unused) as i64 >> unused) as u64
}

fn is_conditional_set(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Seta | Setae
            | Setb
            | Setbe
            | Sete
            | Setg
            | Setge
            | Setl
            | Setle
            | Setne
            | Setno
            | Setnp
            | Setns
            | Seto
            | Setp
            | Sets
    )
}

fn is_conditional_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovnp
            | Cmovns
            | Cmovo
            | Cmovp
            | Cmovs
    )
}

/// What ends a window.
pub(super) const UNKNOWN: Next = Next::End(WindowEnd::Unknown);

/// Whether [`Machine::computes`] handles it.
fn sets_flags(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Add | Sub
            | Cmp
            | And
            | Test
            | Or
            | Xor
            | Adc
            | Sbb
            | Inc
            | Dec
            | Neg
            | Shl
            | Sal
            | Shr
            | Sar
            | Rol
            | Ror
    )
}
