//! Dinero's traditional input, "din": a label and an address in each line.

use std::io::{self, Write};

use super::{Executed, Format, Lines};

/// Labels: 0 is a read, 1 a write, 2 an instruction fetch. Addresses are hexadecimal, and there are no sizes.
pub struct Din<W: Write> {
    pub output: W,
    pub lines: Lines,
}

impl<W: Write> Format for Din<W> {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        let code = &executed.code;
        if code.kind.is_fetched() && !code.made_up {
            for address in self.lines.addresses(code.address, code.length.into()) {
                writeln!(self.output, "2 {address:x}")?;
            }
        }
        for access in executed.accesses {
            for address in self.lines.addresses(access.address, access.size) {
                if access.reads {
                    writeln!(self.output, "0 {address:x}")?;
                }
                if access.writes {
                    writeln!(self.output, "1 {address:x}")?;
                }
            }
        }
        Ok(())
    }
}
