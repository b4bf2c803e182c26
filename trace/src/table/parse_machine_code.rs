//! Instructions and blocks of a table that describes machine code.

use super::parse::Parser;
use super::*;
use crate::InstructionKind;

type Result<T> = std::result::Result<T, TableError>;

impl Parser<'_> {
    pub(super) fn machine_code(&mut self) -> Result<MachineCode> {
        if self.table.blocks.is_some() {
            return self.cursor.error("machine code that counts");
        }
        if self.table.segments.iter().any(|segment| segment.local_id != 0) {
            return self.cursor.error("a block of machine code has a local id");
        }
        let instructions = self.list(5, "instructions", Self::instruction)?;
        self.check_ordinals(instructions.len())?;
        let count = self.cursor.count(2, "blocks of machine code")?;
        if count != self.table.segments.len() {
            return self.cursor.error(format!(
                "{count} blocks of machine code, but {} segments",
                self.table.segments.len()
            ));
        }
        let blocks = (0..count).map(|segment| self.instruction_range(segment, &instructions));
        Ok(MachineCode {
            blocks: blocks.collect::<Result<_>>()?,
            instructions,
        })
    }

    fn instruction(&mut self) -> Result<TableInstruction> {
        let object = self.function_index()?;
        let offset = self.cursor.varint("offset of an instruction")?;
        let length = self.cursor.u8("length of an instruction")?;
        if length == 0 || offset.checked_add(u64::from(length) - 1).is_none() {
            return self
                .cursor
                .error(format!("an instruction of {length} bytes at offset {offset:#x}"));
        }
        let kind = self.kind("kind of instruction", InstructionKind::from_byte)?;
        let target = self.cursor.varint("target of an instruction")?;
        if target != 0 && !kind.is_direct() {
            return self.cursor.error(format!(
                "an instruction with a target that is no direct branch: {kind}"
            ));
        }
        Ok(TableInstruction {
            object,
            offset,
            length,
            kind,
            target,
        })
    }

    /// Sites are those of instructions.
    fn check_ordinals(&self, instructions: usize) -> Result<()> {
        match self
            .table
            .sites
            .iter()
            .find(|site| site.ordinal as usize >= instructions)
        {
            Some(site) => self.cursor.error(format!(
                "a site of instruction {}, where there are {instructions}",
                site.ordinal
            )),
            None => Ok(()),
        }
    }

    fn instruction_range(
        &mut self,
        segment: usize,
        instructions: &[TableInstruction],
    ) -> Result<TableInstructionRange> {
        let first = self.cursor.number("first instruction of a block")?;
        let word = self.cursor.varint("number of instructions of a block")?;
        let count = u32::try_from(word >> 1).unwrap_or(u32::MAX);
        let repeats = word & 1 != 0;
        let (start, length) = (first as usize, count as usize);
        if start > instructions.len() || length > instructions.len() - start {
            return self.cursor.error(format!(
                "a block of {count} instructions from instruction {first} of {}",
                instructions.len()
            ));
        }
        let segment_entry = &self.table.segments[segment];
        let accesses = |operation: &Operation| {
            !matches!(
                operation,
                Operation::Root { .. }
                    | Operation::Allocate { .. }
                    | Operation::Free { .. }
                    | Operation::Reallocate { .. }
            )
        };
        if length == 0 && segment_entry.operations.iter().any(accesses) {
            return self.cursor.error("a block of 0 instructions accesses memory");
        }
        let counts = matches!(segment_entry.operations.last(), Some(Operation::Loop { .. }));
        if repeats && !(counts && segment_entry.record_length >= 8) {
            return self
                .cursor
                .error(format!("block {segment} repeats, but nothing says how often"));
        }
        let function = segment_entry.function;
        let mut members = instructions[start..start + length].iter();
        if members.any(|instruction| instruction.object != function) {
            return self
                .cursor
                .error(format!("block {segment} has an instruction of another object"));
        }
        Ok(TableInstructionRange {
            first,
            count,
            repeats,
        })
    }
}
