//! The general registers of a thread of x86-64.

use iced_x86::Register;

/// Flags of interest, at their bits in RFLAGS.
pub mod flag {
    pub const CARRY: u64 = 1;
    pub const PARITY: u64 = 1 << 2;
    pub const ADJUST: u64 = 1 << 4;
    pub const ZERO: u64 = 1 << 6;
    pub const SIGN: u64 = 1 << 7;
    pub const DIRECTION: u64 = 1 << 10;
    pub const OVERFLOW: u64 = 1 << 11;
    /// The flags that arithmetic sets.
    pub const ARITHMETIC: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;
}

/// Index of RSP.
pub const STACK_POINTER: usize = 4;

/// The number by which operands name the base of FS; it follows those of the general registers.
pub const THREAD_POINTER: usize = 16;

/// General registers in the processor's order (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15), the instruction
/// pointer and the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    pub general: [u64; 16],
    pub instruction: u64,
    pub flags: u64,
    /// The base of FS, if it was found.
    pub thread_pointer: Option<u64>,
}

/// Where perf's numbers of x86 registers (asm/perf_regs.h) go.
const PERF_ORDER: [usize; 8] = [0, 3, 1, 2, 6, 7, 5, 4]; // AX, BX, CX, DX, SI, DI, BP, SP
const PERF_INSTRUCTION: u32 = 8;
const PERF_FLAGS: u32 = 9;
const PERF_R8: u32 = 16;

/// The registers that samples hold, as `sample_regs_user`: all that [`Registers`] holds.
pub const PERF_MASK: u64 = 0xff << PERF_R8 | 1 << PERF_FLAGS | 1 << PERF_INSTRUCTION | 0xff;

impl Registers {
    /// The value of a general register, or of [`THREAD_POINTER`].
    pub fn value(&self, register: usize) -> Option<u64> {
        match register {
            THREAD_POINTER => self.thread_pointer,
            _ => self.general.get(register).copied(),
        }
    }

    /// The registers of a stopped thread.
    #[cfg(target_arch = "x86_64")]
    pub fn from_user(user: &libc::user_regs_struct) -> Self {
        Registers {
            general: [
                user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp, user.rsi, user.rdi, user.r8,
                user.r9, user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
            ],
            instruction: user.rip,
            flags: user.eflags,
            thread_pointer: Some(user.fs_base),
        }
    }

    /// The registers of a sample, whose values are in the order of the bits of `mask`.
    pub fn from_perf(values: &[u8], mask: u64) -> Self {
        let mut registers = Registers::default();
        let numbers = (0..u64::BITS).filter(|number| mask >> number & 1 != 0);
        for (number, value) in numbers.zip(values.chunks_exact(8)) {
            let value = u64::from_le_bytes(value.try_into().unwrap_or_default());
            match number {
                0..=7 => registers.general[PERF_ORDER[number as usize]] = value,
                PERF_INSTRUCTION => registers.instruction = value,
                PERF_FLAGS => registers.flags = value,
                PERF_R8..24 => registers.general[(number - PERF_R8) as usize + 8] = value,
                _ => {}
            }
        }
        registers
    }
}

/// Index of the general register of which this is a part.
pub fn index_of(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr64().then(|| full as usize - Register::RAX as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_processors_order() {
        let values: Vec<u8> = (0..18u64).flat_map(|value| (100 + value).to_le_bytes()).collect();
        let registers = Registers::from_perf(&values, PERF_MASK);
        let of = |register| registers.general[index_of(register).unwrap()];
        assert_eq!((of(Register::RAX), of(Register::RBX)), (100, 101));
        assert_eq!((of(Register::RCX), of(Register::EDX)), (102, 103));
        assert_eq!((of(Register::SIL), of(Register::DI)), (104, 105));
        assert_eq!((of(Register::RBP), of(Register::RSP)), (106, 107));
        assert_eq!((registers.instruction, registers.flags), (108, 109));
        assert_eq!((of(Register::R8), of(Register::R15)), (110, 117));
        assert_eq!(index_of(Register::XMM0), None);
        assert_eq!(index_of(Register::RIP), None);
        assert_eq!(index_of(Register::RSP), Some(STACK_POINTER));
    }
}
