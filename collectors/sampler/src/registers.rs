//! The general registers of a thread of x86-64.

use iced_x86::Register;
use trackway_perf_records::SampledRegisters;

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

    /// The registers of a sample, which don't include the base of FS.
    pub fn from_sample(sampled: &SampledRegisters, thread_pointer: Option<u64>) -> Self {
        Registers {
            general: sampled.general,
            instruction: sampled.instruction,
            flags: sampled.flags,
            thread_pointer,
        }
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
    fn parts_have_the_index_of_their_register() {
        assert_eq!(index_of(Register::EDX), Some(2));
        assert_eq!(index_of(Register::SIL), Some(6));
        assert_eq!(index_of(Register::DI), Some(7));
        assert_eq!(index_of(Register::R15), Some(15));
        assert_eq!(index_of(Register::XMM0), None);
        assert_eq!(index_of(Register::RIP), None);
        assert_eq!(index_of(Register::RSP), Some(STACK_POINTER));
    }
}
