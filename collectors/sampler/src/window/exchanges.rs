//! Instructions that exchange values between registers and memory.

use iced_x86::Mnemonic;

use super::arithmetic;
use super::execute::{size_of, RAX};
use super::machine::{mask, Machine, Place};
use super::memory::{MemorySource, Value};
use crate::code::Step;

impl<S: MemorySource> Machine<'_, S> {
    /// Instructions that move two values.
    pub(super) fn exchanges(&mut self, step: &Step) -> bool {
        let (first, second) = (self.place(step, 0), self.place(step, 1));
        match step.instruction.mnemonic() {
            Mnemonic::Xchg => {
                let (left, right) = (self.read(first), self.read(second));
                self.write(first, right);
                self.write(second, left);
                true
            }
            Mnemonic::Xadd => {
                let (left, right) = (self.read(first), self.read(second));
                let outcome = arithmetic::add(left.bits, right.bits, 0, size_of(first));
                let is_followed = self.finish(step, &[left, right], outcome, &[]);
                if left.is_known && right.is_known {
                    self.write(second, left);
                    let is_late = left.is_late || right.is_late;
                    let sum = Value {
                        bits: outcome.result,
                        is_known: true,
                        is_late,
                    };
                    self.write(first, sum);
                }
                is_followed
            }
            Mnemonic::Cmpxchg => {
                self.compares_and_exchanges(step, first, second);
                true
            }
            _ => false,
        }
    }

    /// If the value is unknown, or rests on memory that was read late, the exchange is taken to succeed. The program
    /// made it long ago, so memory now says otherwise, and few exchanges are contended.
    fn compares_and_exchanges(&mut self, step: &Step, destination: Place, source: Place) {
        let size = size_of(destination);
        let (old, new) = (self.read(destination), self.read(source));
        let expected = self.registers[RAX];
        let is_sure = old.is_known && !old.is_late && expected.is_known;
        let (left, right) = match is_sure {
            true => (expected.bits & mask(size), old.bits & mask(size)),
            false => (0, 0),
        };
        let outcome = arithmetic::subtract(left, right, 0, size.max(1));
        self.set_flags(outcome, !is_sure || expected.is_late);
        if left == right {
            self.write(destination, new);
        } else if size < 4 {
            self.forget_effects(step);
        } else {
            self.registers[RAX] = old;
        }
    }
}
