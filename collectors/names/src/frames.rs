//! How far the stack pointer before a call is from a register, by the tables for unwinding.

use gimli::{BaseAddresses, CfaRule, CieOrFde, EhFrame, UnwindContext, UnwindSection};
use object::{Object, ObjectSection};

use crate::elf::{Bytes, ElfFile, Sections};
use crate::places::{Register, REGISTERS};

/// From `first` to `end` the stack pointer before the call was `register` + `distance`.
struct Row {
    first: u64,
    end: u64,
    register: Register,
    distance: i64,
}

/// Sorted by address.
pub struct CallFrames(Vec<Row>);

impl CallFrames {
    /// Reads the frames of the functions in which code was executed; `executed` is sorted.
    pub fn of<'d>(elf: &ElfFile<'d>, sections: &'d Sections, executed: &[u64]) -> Self {
        let frame = EhFrame::from(sections.load(&elf.object, ".eh_frame"));
        let address = |name| {
            elf.object
                .section_by_name(name)
                .map_or(0, |section| section.address())
        };
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut rows = Vec::new();
        // What is damaged ends the table.
        let _ = read(&frame, &bases, executed, &mut rows);
        rows.sort_by_key(|row| row.first);
        CallFrames(rows)
    }

    pub fn at(&self, address: u64) -> Option<(Register, i64)> {
        let next = self.0.partition_point(|row| row.first <= address);
        let row = self.0[..next].last().filter(|row| address < row.end)?;
        Some((row.register, row.distance))
    }
}

fn read(
    frame: &EhFrame<Bytes>,
    bases: &BaseAddresses,
    executed: &[u64],
    rows: &mut Vec<Row>,
) -> gimli::Result<()> {
    let mut entries = frame.entries(bases);
    let mut context = UnwindContext::new();
    while let Some(entry) = entries.next()? {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let function = partial.parse(|frame, bases, offset| frame.cie_from_offset(bases, offset))?;
        let first = executed.partition_point(|address| *address < function.initial_address());
        if executed
            .get(first)
            .is_none_or(|address| !function.contains(*address))
        {
            continue;
        }
        let mut table = function.rows(frame, bases, &mut context)?;
        while let Ok(Some(row)) = table.next_row() {
            if let CfaRule::RegisterAndOffset { register, offset } = row.cfa() {
                let number = Register::try_from(register.0).ok();
                if let Some(register) = number.filter(|number| usize::from(*number) < REGISTERS) {
                    rows.push(Row {
                        first: row.start_address(),
                        end: row.end_address(),
                        register,
                        distance: *offset,
                    });
                }
            }
        }
    }
    Ok(())
}
