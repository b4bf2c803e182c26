//! What is known of vector registers.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::memory::Value;

/// Vector registers that are followed: the first sixteen, 256 bits of each.
pub(super) const REGISTERS: usize = 16;
pub(super) const WORDS: usize = 4;
/// Words that the forms of before AVX write; they leave the rest alone.
pub(super) const NARROW_WORDS: usize = 2;

pub(super) type Words = [Value; WORDS];

/// Samples don't hold vector registers, so a window knows only what it loaded into them itself.
pub struct Vectors(pub(super) [Words; REGISTERS]);

impl Default for Vectors {
    fn default() -> Self {
        Vectors([[Value::UNKNOWN; WORDS]; REGISTERS])
    }
}

impl Vectors {
    /// What an instruction computes there isn't known.
    pub fn forget(&mut self, instruction: &Instruction) {
        use Mnemonic::*;
        match instruction.mnemonic() {
            Vzeroupper => self
                .0
                .iter_mut()
                .for_each(|words| words[NARROW_WORDS..].fill(Value::known(0))),
            Vzeroall | Xrstor | Xrstor64 | Xrstors | Xrstors64 | Fxrstor | Fxrstor64 => {
                *self = Vectors::default()
            }
            // The result is in the first register, which isn't named.
            Pcmpestrm | Pcmpistrm | Vpcmpestrm | Vpcmpistrm => self.0[0] = [Value::UNKNOWN; WORDS],
            _ => self.forget_destination(instruction),
        }
    }

    fn forget_destination(&mut self, instruction: &Instruction) {
        if instruction.op_count() == 0 || instruction.op0_kind() != OpKind::Register {
            return;
        }
        let register = instruction.op0_register();
        if register.is_vector_register() && register.number() < REGISTERS {
            self.0[register.number()] = [Value::UNKNOWN; WORDS];
        }
    }
}
