//! Registers, flags and accesses of a window.

use iced_x86::{Instruction, OpKind, Register};
use trackway_trace::{WindowAccess, WindowAddress};

use super::directions::Directions;
use super::memory::{Memory, MemorySource, Value};
use super::vectors::Vectors;
use crate::code::{Operand, Step};
use crate::registers::{flag, index_of, Registers};

pub struct Machine<'m, S> {
    /// The general registers, followed by the base of FS.
    pub registers: [Value; 17],
    pub flags: u64,
    pub known_flags: u64,
    /// Whether flags rest on memory that was read late.
    pub late_flags: bool,
    /// Whether the way here rests on memory that was read late.
    pub late_path: bool,
    pub memory: &'m mut Memory<S>,
    pub directions: &'m mut Directions,
    pub vectors: Vectors,
    pub accesses: Vec<WindowAccess>,
}

/// Where an operand is.
#[derive(Clone, Copy)]
pub enum Place {
    Register(Register),
    /// None if the address is unknown.
    Memory(Option<u64>, u32),
    Immediate(u64),
    Other,
}

impl<'m, S: MemorySource> Machine<'m, S> {
    pub fn new(registers: &Registers, memory: &'m mut Memory<S>, directions: &'m mut Directions) -> Self {
        Machine {
            registers: std::array::from_fn(|register| {
                registers.value(register).map_or(Value::UNKNOWN, Value::known)
            }),
            flags: registers.flags,
            known_flags: flag::ARITHMETIC | flag::DIRECTION,
            late_flags: false,
            late_path: false,
            memory,
            directions,
            vectors: Vectors::default(),
            accesses: Vec::new(),
        }
    }

    /// Notes the accesses of an instruction's operands.
    pub fn note_accesses(&mut self, step: &Step) {
        for operand in &step.operands {
            self.note(step.address(), operand);
        }
    }

    fn note(&mut self, instruction: u64, operand: &Operand) {
        let mut is_late = self.late_path;
        let registers = &self.registers;
        let address = operand.address(|register| {
            is_late |= registers[register].is_late;
            registers[register].is_known.then_some(registers[register].bits)
        });
        for (is_store, happens) in [(false, operand.loads), (true, operand.stores)] {
            if happens {
                self.note_access(instruction, address, operand.size, is_store, is_late);
            }
        }
    }

    pub fn note_access(
        &mut self,
        instruction: u64,
        address: Option<u64>,
        size_bytes: u32,
        is_store: bool,
        is_late: bool,
    ) {
        self.accesses.push(WindowAccess {
            instruction,
            address: address.unwrap_or(0),
            size_bytes,
            is_store,
            known_by: match (address, is_late) {
                (None, _) => WindowAddress::Unknown,
                (Some(_), false) => WindowAddress::Registers,
                (Some(_), true) => WindowAddress::MemoryReadLater,
            },
        });
    }

    /// Where operand `index` of the instruction is.
    pub fn place(&self, step: &Step, index: u32) -> Place {
        let instruction = &step.instruction;
        match instruction.op_kind(index) {
            OpKind::Register => Place::Register(instruction.op_register(index)),
            OpKind::Memory => self.memory_place(step, instruction),
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Place::Immediate(instruction.immediate(index)),
            _ => Place::Other,
        }
    }

    fn memory_place(&self, step: &Step, instruction: &Instruction) -> Place {
        let size = instruction.memory_size().size() as u32;
        // The explicit operand has the size and the base of the instruction's memory operand. An instruction may have
        // other operands on the stack.
        let explicit = step.operands.iter().find(|operand| {
            operand.size == size
                && operand.base == index_of(instruction.memory_base()).map(|index| index as u8)
        });
        let known = |register: usize| {
            self.registers[register]
                .is_known
                .then_some(self.registers[register].bits)
        };
        Place::Memory(explicit.and_then(|operand| operand.address(known)), size)
    }

    /// The operand's value, in the lowest bits.
    pub fn read(&mut self, place: Place) -> Value {
        match place {
            Place::Register(register) => self.register(register),
            Place::Memory(Some(address), size) => self.memory.load(address, size),
            Place::Immediate(value) => Value::known(value),
            Place::Memory(None, _) | Place::Other => Value::UNKNOWN,
        }
    }

    pub fn write(&mut self, place: Place, value: Value) {
        match place {
            Place::Register(register) => self.set_register(register, value),
            Place::Memory(Some(address), size) => self.memory.store(address, size, value),
            Place::Memory(None, _) | Place::Immediate(_) | Place::Other => {}
        }
    }

    fn register(&self, register: Register) -> Value {
        let Some(index) = index_of(register) else {
            return Value::UNKNOWN;
        };
        let whole = self.registers[index];
        let bits = if is_high_byte(register) {
            whole.bits >> 8
        } else {
            whole.bits
        };
        Value {
            bits: bits & mask(register.size() as u32),
            ..whole
        }
    }

    fn set_register(&mut self, register: Register, value: Value) {
        let Some(index) = index_of(register) else {
            return;
        };
        let size = register.size() as u32;
        let whole = &mut self.registers[index];
        if size >= 4 {
            *whole = Value {
                bits: value.bits & mask(size),
                ..value
            };
            return;
        }
        let shift = if is_high_byte(register) { 8 } else { 0 };
        let part = mask(size) << shift;
        *whole = Value {
            bits: whole.bits & !part | value.bits << shift & part,
            is_known: whole.is_known && value.is_known,
            is_late: whole.is_late || value.is_late,
        };
    }

    /// Registers and memory that the instruction writes are unknown from now on.
    pub fn forget_effects(&mut self, step: &Step) {
        let known = |registers: &[Value; 17], register: usize| {
            registers[register].is_known.then_some(registers[register].bits)
        };
        for operand in step.operands.iter().filter(|operand| operand.stores) {
            if let Some(address) = operand.address(|register| known(&self.registers, register)) {
                self.memory.store(address, operand.size, Value::UNKNOWN);
            }
        }
        for register in 0..16 {
            if step.writes(register) {
                self.registers[register] = Value::UNKNOWN;
            }
        }
        self.vectors.forget(&step.instruction);
        self.known_flags &= !step.flags_written;
    }
}

/// A mask of so many bytes.
pub fn mask(size: u32) -> u64 {
    match size {
        0..8 => (1 << (size * 8)) - 1,
        _ => u64::MAX,
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}
