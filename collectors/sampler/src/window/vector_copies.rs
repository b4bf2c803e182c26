//! Copies through vector registers, which move structures. Computations in them aren't followed.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::machine::{Machine, Place};
use super::memory::{MemorySource, Value};
use super::vectors::{Words, NARROW_WORDS, REGISTERS, WORDS};
use crate::code::Step;

const WORD_BYTES: u32 = 8;

impl<S: MemorySource> Machine<'_, S> {
    /// Loads, stores and copies of whole vectors or of their first word, and clearing them. False for everything else.
    pub(super) fn copies_vectors(&mut self, step: &Step) -> bool {
        let instruction = &step.instruction;
        if clears(instruction) {
            return self.fill(instruction, [Value::known(0); WORDS]);
        }
        if !copies(instruction) {
            return false;
        }
        let (to, from) = (self.place(step, 0), self.place(step, 1));
        let size = copied_bytes(instruction);
        if size == 0 || size > WORD_BYTES * WORDS as u32 {
            return false;
        }
        let mut words = [Value::known(0); WORDS];
        for (index, (offset, size)) in pieces(size).enumerate() {
            words[index] = self.piece(from, index, offset, size);
        }
        match to {
            Place::Memory(Some(address), _) => {
                for (index, (offset, size)) in pieces(size).enumerate() {
                    self.memory
                        .store(address.wrapping_add(offset), size, words[index]);
                }
                true
            }
            Place::Register(register) if register.is_gpr() => {
                self.write(to, words[0]);
                true
            }
            Place::Register(_) => self.fill(instruction, words),
            _ => false,
        }
    }

    fn piece(&mut self, from: Place, index: usize, offset: u64, size: u32) -> Value {
        match from {
            Place::Memory(Some(address), _) => self.memory.load(address.wrapping_add(offset), size),
            Place::Register(register) => match index_of(register) {
                Some(number) => first_bytes(self.vectors.0[number][index], size),
                None => self.read(from),
            },
            _ => Value::UNKNOWN,
        }
    }

    /// Sets the destination, but the words that the instruction can't reach.
    fn fill(&mut self, instruction: &Instruction, words: Words) -> bool {
        let Some(index) = index_of(instruction.op0_register()) else {
            return false;
        };
        let reaches = match is_narrow(instruction) {
            true => NARROW_WORDS,
            false => WORDS,
        };
        self.vectors.0[index][..reaches].copy_from_slice(&words[..reaches]);
        true
    }
}

/// Offsets and sizes of the words that so many bytes are moved by.
fn pieces(size: u32) -> impl Iterator<Item = (u64, u32)> {
    let offsets = (0..size).step_by(WORD_BYTES as usize);
    offsets.map(move |offset| (offset.into(), WORD_BYTES.min(size - offset)))
}

fn first_bytes(value: Value, size: u32) -> Value {
    Value {
        bits: value.bits & super::machine::mask(size),
        ..value
    }
}

/// Number of a vector register that is followed.
fn index_of(register: Register) -> Option<usize> {
    let is_followed = register.is_xmm() || register.is_ymm();
    Some(register.number()).filter(|number| is_followed && *number < REGISTERS)
}

fn is_narrow(instruction: &Instruction) -> bool {
    instruction.encoding() == iced_x86::EncodingKind::Legacy
}

/// A register against itself.
fn clears(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let count = instruction.op_count();
    let is_exclusive_or = matches!(
        instruction.mnemonic(),
        Pxor | Xorps | Xorpd | Vpxor | Vxorps | Vxorpd | Vpxord | Vpxorq
    );
    is_exclusive_or
        && !instruction.has_op_mask()
        && count >= 2
        && instruction.op_kind(count - 1) == OpKind::Register
        && instruction.op_kind(count - 2) == OpKind::Register
        && instruction.op_register(count - 1) == instruction.op_register(count - 2)
}

/// Two operands, of which the first becomes what the second is.
fn copies(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    let is_whole = matches!(
        instruction.mnemonic(),
        Movaps
            | Movups
            | Movapd
            | Movupd
            | Movdqa
            | Movdqu
            | Lddqu
            | Movntdq
            | Movntps
            | Movntpd
            | Movd
            | Movq
            | Vmovaps
            | Vmovups
            | Vmovapd
            | Vmovupd
            | Vmovdqa
            | Vmovdqu
            | Vlddqu
            | Vmovntdq
            | Vmovntps
            | Vmovntpd
            | Vmovd
            | Vmovq
            | Vmovdqa32
            | Vmovdqa64
            | Vmovdqu8
            | Vmovdqu16
            | Vmovdqu32
            | Vmovdqu64
    );
    // These leave a part of the destination alone if both operands are registers.
    let is_scalar = matches!(instruction.mnemonic(), Movss | Movsd | Vmovss | Vmovsd)
        && [0, 1]
            .iter()
            .any(|&operand| instruction.op_kind(operand) == OpKind::Memory);
    let is_of_vectors = (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register
            && instruction.op_register(operand).is_vector_register()
    });
    (is_whole || is_scalar) && is_of_vectors && instruction.op_count() == 2 && !instruction.has_op_mask()
}

fn copied_bytes(instruction: &Instruction) -> u32 {
    let is_one_word = matches!(instruction.mnemonic(), Mnemonic::Movq | Mnemonic::Vmovq);
    let sizes = [0, 1].map(|operand| match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand).size() as u32,
        _ => instruction.memory_size().size() as u32,
    });
    let size = sizes[0].min(sizes[1]);
    if is_one_word {
        size.min(WORD_BYTES)
    } else {
        size
    }
}
