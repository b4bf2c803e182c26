//! What registers held before instructions whose outcome is known.
//!
//! After a block the registers are known. If an instruction of the block leaves a register alone or can be inverted
//! (`add rax, 8`), the value before it follows from the value after it. Else the value follows from the instruction
//! that last set the register, if that computed it from known values (`lea rax, [rbx+rcx*8]`).

use iced_x86::{Mnemonic, OpKind, Register};

use super::step::{Operand, Step};
use crate::registers::{index_of, Registers, THREAD_POINTER};

/// Values are traced through so many instructions at most.
const DEEPEST: u32 = 12;

/// A value and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub value: u64,
    /// The effect of an instruction was undone or repeated for it.
    pub is_rolled_back: bool,
}

/// Instructions that were executed one after the other, and the registers after the last one.
pub struct Rollback<'s> {
    steps: &'s [Step],
    after: &'s Registers,
}

impl<'s> Rollback<'s> {
    pub fn new(steps: &'s [Step], after: &'s Registers) -> Self {
        Rollback { steps, after }
    }

    /// Address of an operand of the last instruction, when that was executed.
    pub fn operand_of_last(&self, operand: &Operand) -> Option<Known> {
        let last = self.steps.len().checked_sub(1)?;
        self.operand(operand, last, DEEPEST)
    }

    fn operand(&self, operand: &Operand, index: usize, depth: u32) -> Option<Known> {
        let mut is_rolled_back = false;
        let address = operand.address(|register| {
            let known = self.before(index, register, depth)?;
            is_rolled_back |= known.is_rolled_back;
            Some(known.value)
        })?;
        Some(Known {
            value: address,
            is_rolled_back,
        })
    }

    /// The register's value before the instruction of that index.
    fn before(&self, index: usize, register: usize, depth: u32) -> Option<Known> {
        if register == THREAD_POINTER {
            return Some(Known {
                value: self.after.thread_pointer?,
                is_rolled_back: false,
            });
        }
        let depth = depth.checked_sub(1)?;
        self.by_what_follows(index, register, depth)
            .or_else(|| self.by_what_precedes(index, register, depth))
    }

    fn by_what_follows(&self, index: usize, register: usize, depth: u32) -> Option<Known> {
        let writer = (index..self.steps.len()).find(|&later| self.steps[later].writes(register));
        let Some(writer) = writer else {
            return Some(Known {
                value: self.after.general[register],
                is_rolled_back: false,
            });
        };
        let change = added(&self.steps[writer], register)?;
        let after = self.by_what_follows(writer + 1, register, depth.checked_sub(1)?)?;
        Some(Known {
            value: after.value.wrapping_sub(change),
            is_rolled_back: true,
        })
    }

    fn by_what_precedes(&self, index: usize, register: usize, depth: u32) -> Option<Known> {
        let writer = (0..index)
            .rev()
            .find(|&earlier| self.steps[earlier].writes(register))?;
        let step = &self.steps[writer];
        if let Some(change) = added(step, register) {
            let before = self.before(writer, register, depth)?;
            return Some(rolled_back(before.value.wrapping_add(change)));
        }
        self.computed(step, writer, register, depth).map(rolled_back)
    }

    /// What the instruction set the register to.
    fn computed(&self, step: &Step, index: usize, register: usize, depth: u32) -> Option<u64> {
        let instruction = &step.instruction;
        let destination = instruction.op0_register();
        if instruction.op0_kind() != OpKind::Register || index_of(destination) != Some(register) {
            return None;
        }
        let is_32_bit = destination.is_gpr32();
        if !destination.is_gpr64() && !is_32_bit {
            return None;
        }
        let narrowed = |value: u64| if is_32_bit { value & 0xffff_ffff } else { value };
        match (instruction.mnemonic(), instruction.op1_kind()) {
            (Mnemonic::Mov, OpKind::Register) => self
                .source(instruction.op1_register(), index, depth)
                .map(narrowed),
            (Mnemonic::Movsxd, OpKind::Register) => {
                let value = self.source(instruction.op1_register(), index, depth)?;
                Some(narrowed(value as i32 as u64))
            }
            (Mnemonic::Xor, OpKind::Register) if instruction.op1_register() == destination => Some(0),
            (Mnemonic::Mov, kind) if is_immediate(kind) => Some(narrowed(instruction.immediate(1))),
            (Mnemonic::Lea, OpKind::Memory) => {
                let place = place_of_lea(step)?;
                self.operand(&place, index, depth)
                    .map(|known| narrowed(known.value))
            }
            _ => None,
        }
    }

    fn source(&self, register: Register, index: usize, depth: u32) -> Option<u64> {
        let value = self.before(index, index_of(register)?, depth)?.value;
        Some(if register.is_gpr32() {
            value & 0xffff_ffff
        } else {
            value
        })
    }
}

fn rolled_back(value: u64) -> Known {
    Known {
        value,
        is_rolled_back: true,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64 | OpKind::Immediate8to64
    )
}

/// The constant that the instruction adds to the whole register, if it does just that.
fn added(step: &Step, register: usize) -> Option<u64> {
    const WORD: u64 = 8;
    let instruction = &step.instruction;
    let stack = register == crate::registers::STACK_POINTER;
    match instruction.mnemonic() {
        Mnemonic::Push if stack => return Some(WORD.wrapping_neg()),
        Mnemonic::Pop if stack && instruction.op0_register() != Register::RSP => return Some(WORD),
        _ => {}
    }
    let destination = instruction.op0_register();
    if !destination.is_gpr64() || index_of(destination) != Some(register) {
        return None;
    }
    match instruction.mnemonic() {
        Mnemonic::Inc => Some(1),
        Mnemonic::Dec => Some(u64::MAX),
        Mnemonic::Add if is_immediate(instruction.op1_kind()) => Some(instruction.immediate(1)),
        Mnemonic::Sub if is_immediate(instruction.op1_kind()) => {
            Some(instruction.immediate(1).wrapping_neg())
        }
        Mnemonic::Lea => {
            let place = place_of_lea(step)?;
            let is_shift = place.base == Some(register as u8) && place.index.is_none() && !place.is_32_bit;
            is_shift.then_some(place.displacement)
        }
        _ => None,
    }
}

/// The operand of `lea`, which is no access.
pub fn place_of_lea(step: &Step) -> Option<Operand> {
    let instruction = &step.instruction;
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    let number = |register: Register| index_of(register).map(|index| index as u8);
    let follows_instruction = instruction.is_ip_rel_memory_operand();
    Some(Operand {
        base: number(base),
        index: number(index),
        scale: instruction.memory_index_scale() as u8,
        displacement: instruction.memory_displacement64(),
        size: 0,
        loads: false,
        stores: false,
        is_thread_local: false,
        is_plain: follows_instruction || number(base).is_some() || base == Register::None,
        is_32_bit: base.is_gpr32() || index.is_gpr32(),
    })
}
