//! An instruction, and what it does to memory and registers.

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, Register, UsedMemory,
};

use crate::registers::{index_of, THREAD_POINTER};

/// An access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub base: Option<u8>,
    pub index: Option<u8>,
    pub scale: u8,
    /// For operands relative to the instruction pointer, their address.
    pub displacement: u64,
    /// Bytes; 0 if the instruction doesn't say.
    pub size: u32,
    pub loads: bool,
    pub stores: bool,
    /// Relative to FS, which holds the thread's own variables.
    pub is_thread_local: bool,
    /// The address is the sum of these and of nothing else: no other segment's base, no vector of indices.
    pub is_plain: bool,
    pub is_32_bit: bool,
}

/// An instruction of the program at its address.
#[derive(Clone, Debug)]
pub struct Step {
    pub instruction: Instruction,
    pub operands: Box<[Operand]>,
    /// General registers that it writes, at least in part: a bit for each.
    pub written: u16,
    pub flags_written: u64,
}

impl Step {
    pub fn new(instruction: Instruction, factory: &mut InstructionInfoFactory) -> Self {
        let info = factory.info(&instruction);
        let mut operands: Vec<Operand> = Vec::new();
        for memory in info.used_memory() {
            add_operand(&mut operands, memory);
        }
        let mut written = 0;
        for used in info.used_registers() {
            let writes = !matches!(
                used.access(),
                OpAccess::Read | OpAccess::CondRead | OpAccess::None
            );
            if let Some(index) = index_of(used.register()).filter(|_| writes) {
                written |= 1 << index;
            }
        }
        Step {
            operands: operands.into(),
            written,
            flags_written: processor_flags(instruction.rflags_modified()),
            instruction,
        }
    }

    pub fn address(&self) -> u64 {
        self.instruction.ip()
    }

    pub fn next(&self) -> u64 {
        self.instruction.next_ip()
    }

    /// General registers that may differ after it: those that it writes, and those that a called function may use
    /// (System V ABI for x86-64, 3.2.1).
    pub fn may_write(&self) -> u16 {
        const OF_CALLED: u16 = 0b1111_1100_0111; // rax, rcx, rdx, rsi, rdi, r8 to r11
        let calls = matches!(
            self.instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        );
        self.written | if calls { OF_CALLED } else { 0 }
    }

    pub fn writes(&self, register: usize) -> bool {
        self.written >> register & 1 != 0
    }

    /// A comparison that processors join with the conditional jump after it.
    pub fn joins_jump(&self) -> bool {
        use Mnemonic::*;
        matches!(
            self.instruction.mnemonic(),
            Cmp | Test | Add | Sub | And | Inc | Dec
        )
    }
}

impl Operand {
    /// Its address; `value` gives those of general registers and of [`THREAD_POINTER`], none if unknown.
    pub fn address(&self, mut value: impl FnMut(usize) -> Option<u64>) -> Option<u64> {
        if !self.is_plain {
            return None;
        }
        let mut address = self.displacement;
        if let Some(base) = self.base {
            address = address.wrapping_add(value(base.into())?);
        }
        if let Some(index) = self.index {
            let scaled = value(index.into())?.wrapping_mul(self.scale.into());
            address = address.wrapping_add(scaled);
        }
        let address = match self.is_32_bit {
            true => address & 0xffff_ffff,
            false => address,
        };
        match self.is_thread_local {
            true => Some(address.wrapping_add(value(THREAD_POINTER)?)),
            false => Some(address),
        }
    }
}

/// Joins a load and a store of the same place, which come as two uses, into one operand.
fn add_operand(operands: &mut Vec<Operand>, memory: &UsedMemory) {
    let (loads, stores) = match memory.access() {
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
        _ => return,
    };
    let operand = operand(memory, loads, stores);
    let same = |other: &&mut Operand| {
        Operand {
            loads,
            stores,
            ..**other
        } == operand
    };
    match operands.iter_mut().find(same) {
        Some(other) => {
            other.loads |= loads;
            other.stores |= stores;
        }
        None => operands.push(operand),
    }
}

fn operand(memory: &UsedMemory, loads: bool, stores: bool) -> Operand {
    let is_general = |register: Register| register == Register::None || register.is_gpr();
    let (base, index) = (memory.base(), memory.index());
    let follows_instruction = matches!(base, Register::RIP | Register::EIP);
    let is_thread_local = memory.segment() == Register::FS;
    let is_based = memory.segment() == Register::GS;
    let number = |register: Register| index_of(register).map(|index| index as u8);
    Operand {
        base: number(base),
        index: number(index),
        scale: memory.scale() as u8,
        displacement: memory.displacement(),
        size: size_of(memory.memory_size()),
        loads,
        stores,
        is_thread_local,
        is_plain: !is_based && (follows_instruction || is_general(base)) && is_general(index),
        is_32_bit: base.is_gpr32() || index.is_gpr32(),
    }
}

fn size_of(size: MemorySize) -> u32 {
    size.size() as u32
}

/// Converts iced's bits of flags to the processor's.
fn processor_flags(bits: u32) -> u64 {
    use crate::registers::flag;
    use iced_x86::RflagsBits as Bits;
    [
        (Bits::OF, flag::OVERFLOW),
        (Bits::SF, flag::SIGN),
        (Bits::ZF, flag::ZERO),
        (Bits::AF, flag::ADJUST),
        (Bits::CF, flag::CARRY),
        (Bits::PF, flag::PARITY),
        (Bits::DF, flag::DIRECTION),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & bit != 0)
    .fold(0, |flags, (_, flag)| flags | flag)
}
