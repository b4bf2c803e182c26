//! Products, quotients and counts of bits.

use iced_x86::{Mnemonic, Register};

use super::arithmetic::{self, Outcome};
use super::execute::{size_of, RAX, RDX};
use super::machine::{Machine, Place};
use super::memory::MemorySource;
use crate::code::Step;
use crate::registers::flag;

impl<S: MemorySource> Machine<'_, S> {
    /// Instructions that make one of these.
    pub(super) fn scales(&mut self, step: &Step) -> bool {
        use Mnemonic::*;
        let instruction = &step.instruction;
        match (instruction.mnemonic(), instruction.op_count()) {
            (Imul, 2 | 3) => {
                let count = instruction.op_count();
                let (left, right) = (self.operand(step, count - 2), self.operand(step, count - 1));
                let place = self.place(step, 0);
                let (low, _, outcome) = arithmetic::multiply(left.bits, right.bits, size_of(place), true);
                self.finish(step, &[left, right], outcome, &[(place, low)])
            }
            (Imul | Mul, 1) => {
                let place = self.place(step, 0);
                let size = size_of(place);
                let (left, right) = (self.registers[RAX], self.read(place));
                if size < 4 {
                    return false;
                }
                let is_signed = instruction.mnemonic() == Imul;
                let (low, high, outcome) = arithmetic::multiply(left.bits, right.bits, size, is_signed);
                let results = [(general(RAX), low), (general(RDX), high)];
                self.finish(step, &[left, right], outcome, &results)
            }
            (Div | Idiv, _) => {
                let place = self.place(step, 0);
                let size = size_of(place);
                let inputs = [self.registers[RDX], self.registers[RAX], self.read(place)];
                if size < 4 || inputs.iter().any(|value| !value.is_known) {
                    return false;
                }
                let [high, low, divisor] = inputs.map(|value| value.bits);
                let is_signed = instruction.mnemonic() == Idiv;
                let Some((quotient, remainder)) = arithmetic::divide(high, low, divisor, size, is_signed)
                else {
                    return false;
                };
                let outcome = Outcome {
                    sets: flag::ARITHMETIC,
                    ..Outcome::default()
                };
                let results = [(general(RAX), quotient), (general(RDX), remainder)];
                self.finish(step, &inputs, outcome, &results)
            }
            (Popcnt | Tzcnt | Lzcnt | Bsf | Bsr, _) => self.counts_bits(step),
            _ => false,
        }
    }

    fn counts_bits(&mut self, step: &Step) -> bool {
        use Mnemonic::*;
        let place = self.place(step, 0);
        let (value, bits) = (self.operand(step, 1), size_of(place) * 8);
        if value.bits == 0 && matches!(step.instruction.mnemonic(), Bsf | Bsr) {
            return false; // the destination is undefined
        }
        let leading = value.bits.leading_zeros() + bits - 64;
        let result = match step.instruction.mnemonic() {
            Popcnt => value.bits.count_ones(),
            Tzcnt | Bsf => value.bits.trailing_zeros().min(bits),
            Lzcnt => leading,
            _ => bits - 1 - leading,
        };
        let is_zero = match step.instruction.mnemonic() {
            Tzcnt | Lzcnt => result == 0,
            _ => value.bits == 0,
        };
        let outcome = Outcome {
            result: result.into(),
            flags: if is_zero { flag::ZERO } else { 0 },
            sets: flag::ARITHMETIC,
            defined: flag::ZERO,
        };
        self.finish(step, &[value], outcome, &[(place, result.into())])
    }
}

fn general(index: usize) -> Place {
    const REGISTERS: [Register; 3] = [Register::RAX, Register::RCX, Register::RDX];
    Place::Register(REGISTERS[index])
}
