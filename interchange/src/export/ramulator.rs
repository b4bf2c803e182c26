//! Requests for Ramulator's simulations of memory.

use std::io::{self, Write};

use super::{Executed, Format, Lines};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RamulatorForm {
    /// Ramulator's memory trace: `0xADDRESS R`, `0xADDRESS W`.
    Memory,
    /// Ramulator 2's LoadStoreTrace: `LD 0xADDRESS`, `ST 0xADDRESS`.
    LoadStore,
    /// The trace of a core, for both: how many instructions precede the request, and the address that it reads. For a
    /// store, the same address follows as what is written back. Numbers are decimal.
    Core,
}

pub struct Ramulator<W: Write> {
    output: W,
    form: RamulatorForm,
    lines: Lines,
    /// Instructions without accesses since the last request.
    bubbles: u64,
}

impl<W: Write> Ramulator<W> {
    pub fn new(output: W, form: RamulatorForm, lines: Lines) -> Self {
        Ramulator {
            output,
            form,
            lines,
            bubbles: 0,
        }
    }

    fn request(&mut self, address: u64, writes: bool) -> io::Result<()> {
        let bubbles = std::mem::take(&mut self.bubbles);
        match (self.form, writes) {
            (RamulatorForm::Memory, false) => writeln!(self.output, "{address:#x} R"),
            (RamulatorForm::Memory, true) => writeln!(self.output, "{address:#x} W"),
            (RamulatorForm::LoadStore, false) => writeln!(self.output, "LD {address:#x}"),
            (RamulatorForm::LoadStore, true) => writeln!(self.output, "ST {address:#x}"),
            (RamulatorForm::Core, false) => writeln!(self.output, "{bubbles} {address}"),
            (RamulatorForm::Core, true) => writeln!(self.output, "{bubbles} {address} {address}"),
        }
    }
}

impl<W: Write> Format for Ramulator<W> {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        if executed.accesses.is_empty() {
            self.bubbles += 1;
        }
        for access in executed.accesses {
            for address in self.lines.addresses(access.address, access.size) {
                // A core's line with a store reads, too.
                let reads = access.reads && !(access.writes && self.form == RamulatorForm::Core);
                if reads {
                    self.request(address, false)?;
                }
                if access.writes {
                    self.request(address, true)?;
                }
            }
        }
        Ok(())
    }
}
