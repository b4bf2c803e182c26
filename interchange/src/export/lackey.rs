//! What Valgrind's tool Lackey prints with --trace-mem=yes.

use std::io::{self, Write};

use super::{Access, Executed, Format};

/// `I  address,size` for a fetched instruction, ` L`, ` S` and ` M` for accesses that load, store, or do both.
pub struct Lackey<W: Write> {
    pub output: W,
}

impl<W: Write> Format for Lackey<W> {
    fn executed(&mut self, executed: &Executed) -> io::Result<()> {
        let code = &executed.code;
        if code.kind.is_fetched() && !code.made_up {
            writeln!(self.output, "I  {:08x},{}", code.address, code.length)?;
        }
        let mut accesses = executed.accesses.iter().peekable();
        while let Some(access) = accesses.next() {
            let modifies = accesses.next_if(|next| is_modification(access, next)).is_some();
            let mark = match (access.reads, access.writes || modifies) {
                (true, false) => 'L',
                (false, true) => 'S',
                _ => 'M',
            };
            writeln!(self.output, " {mark} {:08x},{}", access.address, access.size)?;
        }
        Ok(())
    }
}

/// Lackey, too, takes a load and a store of the same bytes by one instruction as one modification.
fn is_modification(load: &Access, store: &Access) -> bool {
    let only_loads = load.reads && !load.writes;
    let only_stores = store.writes && !store.reads;
    only_loads && only_stores && (load.address, load.size) == (store.address, store.size)
}
