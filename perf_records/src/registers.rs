//! The general registers of x86-64 in samples.

/// General registers in the processor's order (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15), the instruction
/// pointer and the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledRegisters {
    pub general: [u64; 16],
    pub instruction: u64,
    pub flags: u64,
}

/// Where perf's numbers of x86 registers (asm/perf_regs.h) go.
const PERF_ORDER: [usize; 8] = [0, 3, 1, 2, 6, 7, 5, 4]; // AX, BX, CX, DX, SI, DI, BP, SP
const PERF_INSTRUCTION: u32 = 8;
const PERF_FLAGS: u32 = 9;
const PERF_R8: u32 = 16;

/// All that [`SampledRegisters`] holds, as `sample_regs_user` asks for it.
pub const PERF_MASK: u64 = 0xff << PERF_R8 | 1 << PERF_FLAGS | 1 << PERF_INSTRUCTION | 0xff;

impl SampledRegisters {
    /// The registers of a sample, whose values are in the order of the bits of `mask`.
    pub(crate) fn parse(values: &[u8], mask: u64) -> Self {
        let mut registers = SampledRegisters::default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_processors_order() {
        let values: Vec<u8> = (0..18u64).flat_map(|value| (100 + value).to_le_bytes()).collect();
        let registers = SampledRegisters::parse(&values, PERF_MASK);
        // RAX, RCX, RDX, RBX; RSP, RBP, RSI, RDI.
        assert_eq!(registers.general[..4], [100, 102, 103, 101]);
        assert_eq!(registers.general[4..8], [107, 106, 104, 105]);
        assert_eq!((registers.general[8], registers.general[15]), (110, 117));
        assert_eq!((registers.instruction, registers.flags), (108, 109));
    }
}
