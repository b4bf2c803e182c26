//! Where variables are, as their location expressions say.

use gimli::{Expression, Operation};

use crate::debug_info::UnitOf;
use crate::elf::Bytes;

/// A general register by its number in debugging information: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15.
pub type Register = u8;
pub const REGISTERS: usize = 16;
pub const RAX: Register = 0;
pub const RSP: Register = 7;

/// The base from which the address of a variable is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Register(Register),
    /// The stack pointer before the call of the function.
    Call,
    /// What the function says its frame's base is.
    Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Memory(Origin, i64),
    /// The value is what the register holds and a distance.
    Value(Register, i64),
}

/// A place of a part of a variable, from this byte of it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    pub first: u64,
    pub place: Place,
}

/// The pieces whose places are given by registers and the stack.
pub fn pieces<'d>(unit: &UnitOf<'_, 'd>, expression: Expression<Bytes<'d>>) -> Vec<Piece> {
    let mut operations = expression.operations(unit.unit.encoding());
    let mut pieces = Vec::new();
    let mut first = 0;
    let mut steps = Vec::new();
    while let Ok(Some(operation)) = operations.next() {
        match operation {
            Operation::Piece { size_in_bits, .. } => {
                pieces.extend(place(&steps).map(|place| Piece { first, place }));
                steps.clear();
                first += size_in_bits / 8;
            }
            operation => steps.push(operation),
        }
    }
    pieces.extend(place(&steps).map(|place| Piece { first, place }));
    pieces
}

fn place(steps: &[Operation<Bytes>]) -> Option<Place> {
    match *steps {
        [Operation::Register { register }] => Some(Place::Value(general(register)?, 0)),
        [Operation::FrameOffset { offset }] => Some(Place::Memory(Origin::Frame, offset)),
        [Operation::RegisterOffset { register, offset, .. }] => {
            Some(Place::Memory(Origin::Register(general(register)?), offset))
        }
        [Operation::RegisterOffset { register, offset, .. }, Operation::StackValue] => {
            Some(Place::Value(general(register)?, offset))
        }
        [Operation::CallFrameCFA] => Some(Place::Memory(Origin::Call, 0)),
        [Operation::CallFrameCFA, Operation::PlusConstant { value }] => {
            Some(Place::Memory(Origin::Call, value as i64))
        }
        _ => None,
    }
}

fn general(register: gimli::Register) -> Option<Register> {
    let number = Register::try_from(register.0).ok()?;
    (usize::from(number) < REGISTERS).then_some(number)
}
