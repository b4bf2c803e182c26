//! ChampSim's instructions: 64 bytes each, little-endian, without a header.

use std::io::{self, Write};

use trackway_trace::InstructionKind;

use super::{Code, Executed, Format};

const RECORD_LENGTH: usize = 64;
/// Addresses that an instruction stores to and loads from, at most.
const STORES: usize = 2;
const LOADS: usize = 4;
/// Registers by which ChampSim knows what sort of branch an instruction is.
const STACK_POINTER: u8 = 6;
const FLAGS: u8 = 25;
const INSTRUCTION_POINTER: u8 = 26;
/// Stands for the register or the memory that an indirect branch takes its target from.
const SOME_REGISTER: u8 = 1;

/// Instruction pointer, whether it is a branch, whether that was taken, 2 registers written, 4 read, 2 addresses stored
/// to, 4 loaded from.
///
/// The registers that an instruction uses are known only for branches, as far as the kind of branch implies them. An
/// instruction with more accesses becomes several.
pub struct ChampSim<W: Write> {
    pub output: W,
}

impl<W: Write> Format for ChampSim<W> {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        let of = |wanted: fn(&super::Access) -> bool| -> Vec<u64> {
            let accesses = executed.accesses.iter().filter(|access| wanted(access));
            accesses.map(|access| access.address).collect()
        };
        let (loads, stores) = (of(|access| access.reads), of(|access| access.writes));
        let mut loads = loads.chunks(LOADS);
        let mut stores = stores.chunks(STORES);
        let mut next = (loads.next(), stores.next());
        loop {
            let (loaded, stored) = (next.0.unwrap_or_default(), next.1.unwrap_or_default());
            next = (loads.next(), stores.next());
            // The branch comes last, since it ends what the instruction does.
            let is_last = next == (None, None);
            let record = record(
                &executed.code,
                executed.next.filter(|_| is_last),
                is_last,
                loaded,
                stored,
            );
            self.output.write_all(&record)?;
            if is_last {
                return Ok(());
            }
        }
    }
}

fn record(
    code: &Code,
    next: Option<u64>,
    branches: bool,
    loaded: &[u64],
    stored: &[u64],
) -> [u8; RECORD_LENGTH] {
    let mut record = [0; RECORD_LENGTH];
    record[..8].copy_from_slice(&code.address.to_le_bytes());
    if let Some((written, read)) = registers(code.kind).filter(|_| branches) {
        let taken = match code.kind {
            InstructionKind::ConditionalBranch => next.is_some_and(|next| next != code.end()),
            _ => true,
        };
        record[8] = 1;
        record[9] = u8::from(taken);
        record[10..12].copy_from_slice(&written);
        record[12..16].copy_from_slice(&read);
    }
    let mut place = 16;
    let mut put = |addresses: &[u64], room: usize| {
        for (index, address) in addresses.iter().take(room).enumerate() {
            let start = place + 8 * index;
            record[start..start + 8].copy_from_slice(&address.to_le_bytes());
        }
        place += 8 * room;
    };
    put(stored, STORES);
    put(loaded, LOADS);
    record
}

/// What a branch writes and reads; none for other instructions.
fn registers(kind: InstructionKind) -> Option<([u8; STORES], [u8; LOADS])> {
    let (ip, sp) = (INSTRUCTION_POINTER, STACK_POINTER);
    Some(match kind {
        InstructionKind::ConditionalBranch => ([ip, 0], [ip, FLAGS, 0, 0]),
        InstructionKind::DirectJump => ([ip, 0], [0; LOADS]),
        InstructionKind::IndirectJump => ([ip, 0], [SOME_REGISTER, 0, 0, 0]),
        InstructionKind::DirectCall => ([ip, sp], [ip, sp, 0, 0]),
        InstructionKind::IndirectCall => ([ip, sp], [ip, sp, SOME_REGISTER, 0]),
        InstructionKind::Return => ([ip, sp], [sp, 0, 0, 0]),
        InstructionKind::Other | InstructionKind::SystemCall | InstructionKind::Repetition => return None,
    })
}
